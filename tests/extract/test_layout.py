"""Layout: headings, label lines, tables and paragraphs, each at its span."""

from __future__ import annotations

import pytest

from extract.layout import Block, LabelLine, Paragraph, Section, Table, read_layout
from kb.document import Document, decode


def layout(text: str, name: str = "a.md") -> tuple[Document, tuple[Section, ...]]:
    document = decode(text.encode(), name=name)
    return document, read_layout(document)


def labels(sections: tuple[Section, ...]) -> list[tuple[str, str]]:
    blocks: list[Block] = [block for section in sections for block in section.blocks]
    return [(block.label, block.value) for block in blocks if isinstance(block, LabelLine)]


def test_sections_follow_headings() -> None:
    _, sections = layout(
        "# Report\n\nDate: 3 May 2025\n\n## Elm Ltd\n\nRating: Good\n\nIt is fine.\n"
    )
    assert [section.heading and section.heading.text for section in sections] == [
        "Report",
        "Elm Ltd",
    ]
    assert labels(sections) == [("Date", "3 May 2025"), ("Rating", "Good")]
    assert isinstance(sections[1].blocks[-1], Paragraph)


@pytest.mark.parametrize(
    "line",
    [
        "Rating: Good",
        "**Rating:** Good",
        "- Rating: Good",
        "3. Rating: Good",
        "  Rating :  Good  ",
        "Rating ........ Good",
        "Rating\tGood",
        "| Rating | Good |",
    ],
)
def test_forms_of_label_lines(line: str) -> None:
    document, sections = layout(f"# Elm Ltd\n\n{line}\n")
    assert labels(sections) == [("Rating", "Good")]
    (block,) = sections[0].blocks
    assert isinstance(block, LabelLine)
    assert document.text[block.start : block.end] == line.strip()
    assert document.text[block.value_start :].startswith("Good")


def test_a_sentence_with_a_colon_is_no_label() -> None:
    text = (
        "The following companies that we have visited in the year of the report passed: Elm Ltd\n"
    )
    _, sections = layout(text)
    assert labels(sections) == []


def test_tables_of_two_columns_are_labels_and_wider_ones_are_tables() -> None:
    _, sections = layout(
        "# X\n\n| Field | Value |\n|---|---|\n| Insured | Elm Ltd |\n| Rating | |\n"
    )
    assert labels(sections) == [("Insured", "Elm Ltd")]
    document, sections = layout(
        "| Company | Rating | Date |\n|---|---|---|\n| Elm | Good | 2025 |\n"
    )
    (table,) = sections[0].blocks
    assert isinstance(table, Table)
    assert [cell.text for cell in table.header] == ["Company", "Rating", "Date"]
    (row,) = table.rows
    assert document.text[row.start : row.end] == "| Elm | Good | 2025 |"
    assert [document.text[cell.start : cell.end] for cell in row.cells] == ["Elm", "Good", "2025"]


def test_quoted_cells_of_delimited_tables() -> None:
    text = 'name;note\n"Elm; Sons ""Ltd""";"two\nlines"\nOak;\n'
    document, sections = layout(text, "a.csv")
    (table,) = sections[0].blocks
    assert isinstance(table, Table)
    first, second = table.rows
    assert [cell.text for cell in first.cells] == ['Elm; Sons "Ltd"', "two\nlines"]
    assert document.text[first.start : first.end] == '"Elm; Sons ""Ltd""";"two\nlines"'
    assert [cell.text for cell in second.cells] == ["Oak", ""]


def test_capitals_alone_on_a_line_are_a_heading_of_plain_text() -> None:
    _, sections = layout(
        "CERTIFICATE\n\nInsured: Elm Ltd\n\nNOTES\n\nNone of it matters.\n", "a.txt"
    )
    assert [section.heading and section.heading.text for section in sections] == [
        "CERTIFICATE",
        "NOTES",
    ]


def test_passages_of_a_corpus_are_titled_sections() -> None:
    corpus = '[{"title": "Elm", "text": "Elm is a tree."}, {"title": "Oak", "text": "Oak too."}]'
    document, sections = layout(corpus, "a.json")
    assert [section.titled for section in sections] == [True, True]
    (block,) = sections[0].blocks
    assert isinstance(block, Paragraph)
    assert document.text[block.start : block.end].strip() == "Elm is a tree."
