"""The layout of a document: sections with headings, `Label: value` lines, tables and paragraphs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from kb.document import Document


@dataclass(frozen=True, slots=True)
class LabelLine:
    """A line `Label: value`; spans are half-open, of the value and of the whole line."""

    label: str
    value: str
    value_start: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table and its half-open span in the document."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table and its half-open span, the quote of what it states."""

    cells: tuple[Cell, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a header row."""

    header: tuple[Cell, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text, a half-open span of the document."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Quoted:
    """Lines behind `>`, half-open: what somebody else wrote, no statement of this document."""

    start: int
    end: int


Block = LabelLine | Table | Paragraph | Quoted


@dataclass(slots=True)
class Section:
    """A heading (None before the first) with what stands under it, in text order.

    `titled` sections are passages of a corpus: their heading is the name of what they are about.
    """

    heading: Cell | None
    level: int
    titled: bool = False
    blocks: list[Block] = field(default_factory=list)


_HEADING = re.compile(r"(?P<marks>#{1,6})\s+(?P<text>.*?)\s*#*\s*$")
_UNDERLINE = re.compile(r"(?:={3,}|-{3,})\s*$")
_LABEL = re.compile(
    r"\s*(?:[-*•+]\s+|\d{1,2}[.)]\s+)?(?:\*\*|__)?(?P<label>[^\W\d_][^:|\n]{0,70}?)(?:\*\*|__)?\s?:"
    r"(?:\*\*|__)?\s+(?P<value>\S.*?)\s*$"
)
_LABEL_ALONE = re.compile(
    r"\s*(?:\*\*|__)?(?P<label>[^\W\d_][^:|\n]{0,70}?)(?:\*\*|__)?\s?:(?:\*\*|__)?\s*$"
)
_DOTTED = re.compile(
    r"\s*(?P<label>[^\W\d_][^:|\n]{0,70}?)\s?(?:\.{4,}|\t+)\s*(?P<value>\S.*?)\s*$"
)
_RULE = re.compile(r"\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_QUOTED = re.compile(r"\s{0,3}(?:[A-Z][A-Za-z]{0,3})?>")
_MANY_WORDS = 9


IsLabel = Callable[[str], bool]


def any_label(label: str) -> bool:  # noqa: ARG001 - the widest test of labels
    """Take every label for one."""
    return True


def read_layout(document: Document, *, is_label: IsLabel = any_label) -> tuple[Section, ...]:
    """Give the sections of a document in text order.

    Only lines whose label passes `is_label` are label lines; the others are running text.
    """
    if document.media_type in ("text/csv", "text/tab-separated-values"):
        return (_table_section(document),)
    if document.media_type == "application/json":
        return tuple(_titled_passages(document))
    return tuple(_sections(document, is_label))


def _titled_passages(document: Document) -> Iterator[Section]:
    for passage in document.passages:
        heading = Cell(passage.title, passage.start, passage.start + len(passage.title))
        start = (
            heading.end if document.text.startswith(passage.title, passage.start) else passage.start
        )
        yield Section(heading, 1, titled=True, blocks=[Paragraph(start, passage.end)])


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


def _sections(document: Document, is_label: IsLabel) -> Iterator[Section]:
    text = document.text
    lines = list(_lines(text))
    markdown = document.media_type == "text/markdown"
    heads = {} if markdown else _plain_headings(document, lines, is_label)
    section = Section(None, 0)
    paragraph: list[tuple[int, int]] = []
    rows: list[tuple[int, str]] = []
    quoted: list[tuple[int, int]] = []
    skip_to = 0

    def flush() -> None:
        if quoted:
            section.blocks.append(Quoted(quoted[0][0], quoted[-1][1]))
            quoted.clear()
        if rows:
            section.blocks.extend(_pipe_table(rows))
            rows.clear()
        if paragraph:
            section.blocks.append(Paragraph(paragraph[0][0], paragraph[-1][1]))
            paragraph.clear()

    for index, (start, line) in enumerate(lines):
        if _QUOTED.match(line):
            if not quoted:
                flush()
            quoted.append((start, start + len(line)))
            continue
        if quoted:
            flush()
        heading = _HEADING.match(line) if markdown else None
        underlined = (
            markdown
            and line.strip()
            and not paragraph
            and index + 1 < len(lines)
            and _UNDERLINE.match(lines[index + 1][1])
        )
        if heading is not None or underlined or start in heads:
            flush()
            if section.blocks or section.heading is not None:
                yield section
            content = heading["text"] if heading is not None else line.strip()
            at = start + line.find(content)
            level = len(heading["marks"]) if heading is not None else heads.get(start, 1)
            section = Section(Cell(content, at, at + len(content)), level)
        elif not line.strip() or (markdown and _UNDERLINE.match(line)):
            flush()
        elif line.lstrip().startswith("|") and line.count("|") > 1:
            if paragraph:
                flush()
            rows.append((start, line))
        elif start < skip_to:
            continue
        elif (label := _label_line(lines, index, is_label)) is not None:
            flush()
            section.blocks.append(label)
            skip_to = label.end
        else:
            if rows:
                flush()
            content = line.strip()
            at = start + line.find(content)
            if paragraph and re.match(r"(?:[-*•+]|\d{1,2}[.)])\s", content):
                flush()
            paragraph.append((at, at + len(content)))
    flush()
    if section.blocks or section.heading is not None:
        yield section


def _plain_headings(
    document: Document, lines: list[tuple[int, str]], is_label: IsLabel
) -> dict[int, int]:
    """Find headings of plain text: a first line in capitals or alone, and titles of passages."""
    heads: dict[int, int] = {}
    titles = {passage.title for passage in document.passages}
    first = True
    for index, (start, line) in enumerate(lines):
        content = line.strip()
        if not content:
            continue
        alone = (index == 0 or not lines[index - 1][1].strip()) and (
            index + 1 == len(lines) or not lines[index + 1][1].strip()
        )
        short = len(content.split()) <= _MANY_WORDS and content[-1] not in ".:;,"
        if alone and short and _label_line(lines, index, is_label) is None:
            shouting = content.upper() == content and content.lower() != content
            if first or shouting or (len(titles) > 1 and content in titles):
                heads[start] = 1 if first else 2
        first = False
    return heads


def _label_line(
    lines: Sequence[tuple[int, str]], index: int, is_label: IsLabel
) -> LabelLine | None:
    """Read a label line; the value may stand alone on the line after a label."""
    start, line = lines[index]
    match = _LABEL.match(line) or _DOTTED.match(line)
    if match is None:
        return _label_above(lines, index, is_label)
    label = match["label"].strip()
    if len(label.split()) > _MANY_WORDS or not is_label(label):
        return None
    stripped = line.strip()
    begin = start + line.find(stripped)
    return LabelLine(
        label=label,
        value=match["value"].strip("*_ "),
        value_start=start + match.start("value"),
        start=begin,
        end=begin + len(stripped),
    )


def _label_above(
    lines: Sequence[tuple[int, str]], index: int, is_label: IsLabel
) -> LabelLine | None:
    start, line = lines[index]
    match = _LABEL_ALONE.match(line)
    if match is None or index + 1 >= len(lines) or not is_label(match["label"].strip()):
        return None
    next_start, following = lines[index + 1]
    value = following.strip()
    if not value or _LABEL.match(following) or _LABEL_ALONE.match(following):
        return None
    at = next_start + following.find(value)
    begin = start + line.find(line.strip())
    return LabelLine(match["label"].strip(), value, at, begin, at + len(value))


def _pipe_table(lines: list[tuple[int, str]]) -> list[Block]:
    """Read a table with pipes; one of two columns without a header rule is a list of labels."""
    rows = [(start, line) for start, line in lines if not _RULE.match(line)]
    ruled = len(rows) < len(lines)
    read = [_pipe_row(start, line) for start, line in rows]
    if not read:
        return []
    two_columns = all(len(row.cells) == 2 for row in read)
    header_is_empty = ruled and not any(cell.text for cell in read[0].cells)
    if two_columns and (not ruled or header_is_empty or _names_label_and_value(read[0])):
        return [
            LabelLine(
                row.cells[0].text.strip("*_ "),
                row.cells[1].text,
                row.cells[1].start,
                row.start,
                row.end,
            )
            for row in (read[1:] if ruled else read)
            if row.cells[1].text
        ]
    return [Table(read[0].cells, tuple(read[1:]))]


def _names_label_and_value(row: Row) -> bool:
    return row.cells[1].text.casefold() in {
        "value",
        "details",
        "detail",
        "entry",
        "content",
        "data",
    }


def _pipe_row(start: int, line: str) -> Row:
    stripped = line.strip()
    begin = start + line.find(stripped)
    cells = []
    position = begin + 1
    for piece in (
        stripped.strip("|").split("|") if stripped.endswith("|") else stripped[1:].split("|")
    ):
        content = piece.strip()
        at = position + (piece.find(content) if content else 0)
        cells.append(Cell(content, at, at + len(content)))
        position += len(piece) + 1
    return Row(tuple(cells), begin, begin + len(stripped))


def _table_section(document: Document) -> Section:
    text = document.text
    tab = document.media_type == "text/tab-separated-values"
    first_line = text.split("\n", 1)[0]
    delimiter = "\t" if tab else max(",;\t", key=lambda mark: (first_line.count(mark), mark == ","))
    rows = [row for row in _delimited_rows(text, delimiter) if any(cell.text for cell in row.cells)]
    section = Section(None, 0)
    if rows:
        section.blocks.append(Table(rows[0].cells, tuple(rows[1:])))
    return section


def _delimited_rows(text: str, delimiter: str) -> Iterator[Row]:
    """Read rows of a delimited table; quoted cells may hold delimiters and line ends."""
    position, size = 0, len(text)
    stops = re.compile(f"[{re.escape(delimiter)}\n]")

    def stop_after(start: int) -> int:
        found = stops.search(text, start)
        return found.start() if found is not None else size

    while position < size:
        row_start, cells = position, []
        while True:
            if text.startswith('"', position):
                close = position + 1
                while (close := text.find('"', close)) >= 0 and text.startswith('""', close):
                    close += 2
                close = size if close < 0 else close
                content = text[position + 1 : close].replace('""', '"').strip()
                cells.append(Cell(content, position + 1, close))
                position = stop_after(min(close + 1, size))
            else:
                stop = stop_after(position)
                raw = text[position:stop]
                content = raw.strip()
                at = position + (raw.find(content) if content else 0)
                cells.append(Cell(content, at, at + len(content)))
                position = stop
            if position >= size or text[position] == "\n":
                break
            position += 1
        yield Row(tuple(cells), row_start, position)
        position += 1
