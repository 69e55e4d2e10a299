"""Tables: the header names dimensions, the row is the quote, an empty cell is a gap."""

from __future__ import annotations

from extract.extractor import Extraction
from extract.ingest import ingest_document
from extract.pack import Pack
from kb.dimension import Dimension, DimensionKind
from kb.document import decode
from kb.statement import value_to_json


def read(pack: Pack, text: str, *dimensions: Dimension, name: str = "a.csv") -> Extraction:
    return ingest_document(dimensions, [pack], decode(text.encode(), name=name))


def facts(extraction: Extraction) -> set[tuple[str, str, str]]:
    return {
        (statement.subject, statement.dimension, value_to_json(statement.value)["value"])
        for statement, _ in extraction.grounded
    }


def test_headers_name_dimensions_by_name_label_and_map(supplier: Pack) -> None:
    text = "company;country;Sum insured (EUR);audit_date\nElm Ltd;Ireland;5,000,000;3 May 2025\n"
    extraction = read(supplier, text)
    assert facts(extraction) == {
        ("Elm Ltd", "registered_country", "Ireland"),
        ("Elm Ltd", "liability_cover", "5000000 EUR"),
        ("Elm Ltd", "audit_date", "2025-05-03"),
    }
    assert {evidence.quote for _, evidence in extraction.grounded} == {
        "Elm Ltd;Ireland;5,000,000;3 May 2025"
    }


def test_an_empty_cell_is_a_gap_and_no_rejection(supplier: Pack) -> None:
    extraction = read(supplier, "company,iban,account_verified_on\nElm Ltd,DE12,\nOak Ltd,n/a,-\n")
    assert facts(extraction) == {("Elm Ltd", "iban", "DE12")}
    assert extraction.rejected == ()


def test_columns_of_validity_bound_the_row(supplier: Pack) -> None:
    text = "company,standard,valid_from,valid_until\nElm Ltd,ISO 9001,2024-01-01,2026-12-31\n"
    ((statement, _),) = read(supplier, text).grounded
    assert str(statement.validity.start) == "2024-01-01"
    assert str(statement.validity.end) == "2027-01-01"


def test_what_cannot_be_read_is_rejected_with_its_row(supplier: Pack) -> None:
    text = "company,country,colour\nElm Ltd,Irland,red\nOak Ltd,Spain\n,Spain,blue\n"
    extraction = read(supplier, text)
    assert facts(extraction) == set()
    assert [(r.reason, r.text) for r in extraction.rejected] == [
        ("the column 'colour' names no dimension", "colour"),
        ("'Irland' is no class of registered_country; nearest is 'ireland'", "Elm Ltd,Irland,red"),
        ("the row has 2 cells; the header has 3", "Oak Ltd,Spain"),
        ("the row names no entity in its first cell", ",Spain,blue"),
    ]


def test_columns_may_name_dimensions_of_the_knowledge_base(supplier: Pack) -> None:
    score = Dimension("credit_score", DimensionKind.NUMBER)
    extraction = read(supplier, "company,credit score\nElm Ltd,87.5\n", score)
    assert facts(extraction) == {("Elm Ltd", "credit_score", "87.5")}


def test_tables_inside_documents_are_read_alike(supplier: Pack) -> None:
    text = "# Audits\n\n| Company | Rating | Activity |\n|---|---|---|\n| Elm Ltd | Good | |\n"
    extraction = read(supplier, text, name="a.md")
    assert ("Elm Ltd", "audit_rating", "Good") in facts(extraction)
    assert any(evidence.quote == "| Elm Ltd | Good | |" for _, evidence in extraction.grounded)
