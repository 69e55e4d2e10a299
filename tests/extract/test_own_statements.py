"""What a document quotes, restricts, or says under another heading is not stated of the whole."""

from __future__ import annotations

import json

import pytest

from extract.extractor import Extraction
from extract.ingest import ingest_document
from extract.pack import Pack
from kb.document import decode
from kb.statement import Entity, Modality, TaxonClass, Value

REPLY = """Dear all,

Nordwind Logistik GmbH has a liability cover of EUR 5 million.

On 3 May 2026 Ostwind wrote:
{mark} Nordwind Logistik GmbH has a liability cover of EUR 9 million.
{mark} Liability cover: EUR 7 million

Regards
"""


def read(pack: Pack, text: str, name: str = "a.txt") -> Extraction:
    return ingest_document([], [pack], decode(text.encode(), name=name))


def shown(value: Value) -> str:
    match value:
        case TaxonClass(label):
            return label
        case Entity(name):
            return name
        case _:
            return str(value)


def stated(extraction: Extraction, dimension: str) -> list[tuple[str, str]]:
    return [
        (each.subject, shown(each.value))
        for each, _ in extraction.grounded
        if each.dimension == dimension and each.modality is Modality.ASSERTED
    ]


@pytest.mark.parametrize("mark", [">", ">>", " >", "> >", "AB>"])
@pytest.mark.parametrize("name", ["mail.txt", "mail.md"])
def test_quoted_lines_are_no_statements_of_the_document(
    supplier: Pack, mark: str, name: str
) -> None:
    extraction = read(supplier, REPLY.format(mark=mark), name)
    assert stated(extraction, "liability_cover") == [("Nordwind Logistik GmbH", "5000000 EUR")]
    (quoted,) = [each for each in extraction.rejected if "quoted" in each.reason]
    assert "9 million" in quoted.text
    assert "7 million" in quoted.text


WHOLE = "Nordwind Logistik GmbH is certified to ISO 9001:2015{}."


@pytest.mark.parametrize(
    "restriction",
    [
        " only in respect of its branch in Bremen",
        " solely with regard to the Bremen branch",
        " only for its warehouse",
        ", excluding the Bremen branch",
        ", with the exception of its warehouse",
        ", limited to the Bremen branch",
        " in respect of the Bremen branch only",
        " insofar as the Bremen branch is concerned, only insofar as that is open",
    ],
)
def test_what_holds_of_a_part_is_not_asserted_of_the_whole(
    supplier: Pack, restriction: str
) -> None:
    assert stated(read(supplier, WHOLE.format("")), "certified_under")
    assert stated(read(supplier, WHOLE.format(restriction)), "certified_under") == []


@pytest.mark.parametrize("bracket", ["(Bremen branch only)", "(excluding transport)"])
def test_a_bracket_that_restricts_a_value_is_heard(supplier: Pack, bracket: str) -> None:
    line = "Company: Nordwind Logistik GmbH\nLiability cover: EUR 5 million"
    assert stated(read(supplier, line), "liability_cover")
    assert stated(read(supplier, f"{line} {bracket}"), "liability_cover") == []


def test_a_limit_of_an_amount_is_no_restriction(supplier: Pack) -> None:
    text = (
        "Nordwind Logistik GmbH has a liability cover of EUR 5 million, "
        "limited to the amount of EUR 1 million per claim."
    )
    assert ("Nordwind Logistik GmbH", "5000000 EUR") in stated(
        read(supplier, text), "liability_cover"
    )


LABELS = "\n\nLiability cover: EUR 5 million\n"


@pytest.mark.parametrize("heading", ["Timeline", "Sprinklers", "Quality Management", "Coverage"])
def test_a_heading_of_a_part_is_no_entity(supplier: Pack, heading: str) -> None:
    extraction = read(supplier, f"# {heading}{LABELS}", "a.md")
    assert stated(extraction, "liability_cover") == []
    assert any("does not say what it is about" in each.reason for each in extraction.rejected)


def test_one_word_is_a_name_where_the_document_uses_it_as_one(supplier: Pack) -> None:
    text = f"# Nordwind{LABELS}\nThis letter confirms the cover of Nordwind."
    assert stated(read(supplier, text, "a.md"), "liability_cover") == [("Nordwind", "5000000 EUR")]


FIRM = "# Nordwind Logistik GmbH\n\nCompany: Nordwind Logistik GmbH\n\n"


@pytest.mark.parametrize("heading", ["Our branch in Bremen", "Ostwind", "Cover of Ostwind"])
def test_a_section_about_something_else_does_not_take_the_only_subject(
    supplier: Pack, heading: str
) -> None:
    extraction = read(supplier, f"{FIRM}## {heading}{LABELS}", "a.md")
    assert stated(extraction, "liability_cover") == []
    assert any("5 million" in each.text for each in extraction.rejected)


@pytest.mark.parametrize("heading", ["Insurance", "Details", "Cover", "Cover of Nordwind"])
def test_a_part_of_the_document_has_its_only_subject(supplier: Pack, heading: str) -> None:
    extraction = read(supplier, f"{FIRM}## {heading}{LABELS}", "a.md")
    assert stated(extraction, "liability_cover") == [("Nordwind Logistik GmbH", "5000000 EUR")]


def passage(pack: Pack, title: str, text: str, dimension: str) -> list[str]:
    data = json.dumps([{"title": title, "text": text}])
    return sorted(value for _, value in stated(read(pack, data, "a.json"), dimension))


@pytest.mark.parametrize("mark", ["/", "-", " and ", ", "])
def test_both_of_two_nationalities_are_kept(wiki: Pack, mark: str) -> None:
    text = f"Ann Lee (born 1950) is a French{mark}Argentine film director."
    assert passage(wiki, "Ann Lee", text, "country_of_citizenship") == ["Argentina", "France"]


@pytest.mark.parametrize(
    ("text", "fathers"),
    [
        ("She is the daughter of the Pre-Raphaelite artist William Lee.", ["William Lee"]),
        ("She is a daughter of Trinity College.", []),
        ("She is a daughter of Argentina.", []),
        ("She is the daughter of Tom Bridge.", ["Tom Bridge"]),
        ("She is the daughter of King Tom Bridge of the Ulm Empire.", ["Tom Bridge"]),
    ],
)
def test_a_parent_is_a_person(wiki: Pack, text: str, fathers: list[str]) -> None:
    opening = "Ann Lee (born 1950) is an Irish painter. "
    assert passage(wiki, "Ann Lee", opening + text, "father") == fathers
    assert passage(wiki, "Ann Lee", opening + text, "mother") == []


def test_a_form_of_address_is_no_part_of_a_name_wherever_it_stands(wiki: Pack) -> None:
    text = (
        "Ann Lee (1099 – 1115) was a queen. She was the daughter of King Tom Hale and Jane Roe. "
        "Her father Tom Hale died in 1103. President Tom Hale was married to Jane Roe."
    )
    assert set(passage(wiki, "Ann Lee", text, "father")) == {"Tom Hale"}
    data = json.dumps([{"title": "Ann Lee", "text": text}])
    subjects = {subject for subject, _ in stated(read(wiki, data, "a.json"), "spouse")}
    assert subjects == {"Tom Hale"}


@pytest.mark.parametrize("name", ["Queen Mary", "King Wu of Zhou", "Prince Tom Hale"])
def test_what_would_leave_no_whole_name_stays(wiki: Pack, name: str) -> None:
    text = f"Ann Lee (1099 – 1115) was a queen. She was the sister of {name}."
    assert passage(wiki, "Ann Lee", text, "sibling") == [name]
