from __future__ import annotations

import datetime
import time
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.dimension import Dimension, DimensionKind
from kb.document import Document, decode
from kb.errors import MappingRejected
from kb.knowledge_base import KnowledgeBase
from kb.quantity import parse_date, parse_quantity
from kb.statement import (
    Entity,
    Evidence,
    Statement,
    TaxonClass,
    Text,
    Validity,
    Value,
)
from kb.table_mapping import TableMapping, read_mapping
from kb.tables import RejectedRow, import_table, read_table

Read = list[tuple[str, str, Value]]


def table(text: str, name: str = "t.csv") -> Document:
    return decode(text.encode(), name=name)


def read(
    text: str, mapping: str = "", *, name: str = "t.csv", dimensions: list[Dimension] | None = None
) -> tuple[Read, list[RejectedRow]]:
    document = table(text, name)
    rows: Read = []
    rejected = []
    items = read_table(
        document, mapping=read_mapping(mapping, name="m.yaml"), dimensions=dimensions or []
    )
    for item in items:
        if isinstance(item, RejectedRow):
            rejected.append(item)
        else:
            statement, evidence = item
            assert document.text[evidence.start : evidence.end] == evidence.quote
            rows.append((statement.subject, statement.dimension, statement.value))
    return rows, rejected


def test_the_header_names_dimensions_and_the_row_is_the_quote() -> None:
    document = table("supplier,Seat,size\nAcme,Bonn,12\n\nBeta,,0.5\n")
    items = list(read_table(document, mapping=TableMapping()))
    expected: list[tuple[str, str, Value, str]] = [
        ("Acme", "seat", Text("Bonn"), "Acme,Bonn,12"),
        ("Acme", "size", Fraction(12), "Acme,Bonn,12"),
        ("Beta", "size", Fraction(1, 2), "Beta,,0.5"),
    ]
    assert len(items) == len(expected)
    for item, (subject, dimension, value, quote) in zip(items, expected, strict=True):
        assert not isinstance(item, RejectedRow)
        statement, evidence = item
        assert statement == Statement(subject, dimension, value)
        start = document.text.index(quote)
        assert evidence == Evidence(
            statement.id,
            document.source_sha256,
            document.text_sha256,
            start,
            start + len(quote),
            quote,
            "table/1",
        )


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("12", Fraction(12)),
        ("-0.50", Fraction(-1, 2)),
        ("2026-01-31", parse_date("2026-01-31")),
        ("5000000 EUR", parse_quantity("5000000 EUR")),
        ("2026-02-31", Text("2026-02-31")),
        ("1.2.3", Text("1.2.3")),
        ("12 boxes", Text("12 boxes")),
        ("+49 421", Text("+49 421")),
        ("0", Fraction(0)),
    ],
)
def test_without_a_definition_the_form_of_a_value_decides(cell: str, value: Value) -> None:
    assert read(f"s,d\na,{cell}\n") == ([("a", "d", value)], [])


def test_definitions_decide_kinds_and_units() -> None:
    dimensions = [
        Dimension("seat", DimensionKind.ENTITY),
        Dimension("cover", DimensionKind.QUANTITY, unit="EUR"),
        Dimension("since", DimensionKind.TIME),
        Dimension("code", DimensionKind.TEXT),
    ]
    text = "s;seat;cover;since;code\na;Bonn;5;1952;007\nb;;6 USD;;\nc;;EUR 7;;\nd;;many;52;\n"
    rows, rejected = read(text, dimensions=dimensions)
    assert rows == [
        ("a", "seat", Entity("Bonn")),
        ("a", "cover", parse_quantity("5 EUR")),
        ("a", "since", parse_date("1952")),
        ("a", "code", Text("007")),
        ("b", "cover", parse_quantity("6 USD")),
        ("c", "cover", parse_quantity("7 EUR")),
    ]
    assert [(row.line, row.reason.partition(":")[0], row.text) for row in rejected] == [
        (5, "cover", "d;;many;52;"),
        (5, "since", "d;;many;52;"),
    ]


def test_a_mapping_says_what_columns_mean() -> None:
    mapping = """
        subject: Firm
        dimensions:
          Liability cover: {name: liability_cover, kind: quantity, unit: EUR}
          Certificates: {name: certified_for, kind: class, split: "/"}
          Country: entity
          Remarks: null
        valid_from: From
        valid_until: Until
    """
    text = (
        "Remarks,Firm,Liability cover,Certificates,Country,From,Until\n"
        "x,Acme,5,ISO 9001 / ISO 14001,DE,2026-01-01,2026-12-31\n"
    )
    document = table(text)
    statements = []
    for item in read_table(document, mapping=read_mapping(mapping, name="m.yaml")):
        assert not isinstance(item, RejectedRow)
        statements.append(item[0])
    assert [(s.dimension, s.value) for s in statements] == [
        ("liability_cover", parse_quantity("5 EUR")),
        ("certified_for", TaxonClass("ISO 9001")),
        ("certified_for", TaxonClass("ISO 14001")),
        ("country", Entity("DE")),
    ]
    year = Validity(datetime.date(2026, 1, 1), datetime.date(2027, 1, 1))
    assert {s.validity for s in statements} == {year}


@pytest.mark.parametrize(
    ("first", "last", "validity"),
    [
        ("", "", Validity()),
        ("2026", "", Validity(datetime.date(2026, 1, 1))),
        ("", "2026-02", Validity(None, datetime.date(2026, 3, 1))),
        ("2026-01-01", "9999-12-31", Validity(datetime.date(2026, 1, 1))),
    ],
)
def test_the_last_day_of_validity_is_included(first: str, last: str, validity: Validity) -> None:
    mapping = TableMapping(valid_from="f", valid_until="u")
    (item,) = read_table(table(f"s,d,f,u\na,b,{first},{last}\n"), mapping=mapping)
    assert not isinstance(item, RejectedRow)
    assert item[0].validity == validity


def test_triples_name_their_dimension_in_a_column() -> None:
    mapping = """
        delimiter: "|"
        header: [subject, relation, object]
        dimension: relation
        value: object
        kind: entity
        dimensions: {release_year: date, Has Tag: {name: tag, kind: text}, dropped: null}
    """
    text = (
        '"Crocodile" Dundee II|directed_by|John Cornell\n'
        "Kismet|release_year|1955\n"
        "Kismet|Has Tag|musical, romance\n"
        "Kismet|dropped|x\n"
        "Kismet|\n"
        "|directed_by|Nobody\n"
        "Kismet|2nd|x\n"
        "Kismet|release_year|soon\n"
        "Kismet|directed_by|"
    )
    rows, rejected = read(text, mapping, name="kb.txt")
    assert rows == [
        ('"Crocodile" Dundee II', "directed_by", Entity("John Cornell")),
        ("Kismet", "release_year", parse_date("1955")),
        ("Kismet", "tag", Text("musical, romance")),
    ]
    assert [(row.line, row.reason) for row in rejected] == [
        (5, "it has 2 cells; the header has 3"),
        (6, "it names no subject"),
        (7, "'2nd' names no dimension; map it to one"),
        (8, "release_year: 'soon' is no date; expected YYYY, YYYY-MM or YYYY-MM-DD"),
    ]


def test_quoted_cells_may_hold_delimiters_marks_and_line_ends() -> None:
    text = 's,d,e\r\n"A, ""B""","one\r\ntwo",3\r\nC,x,4\r\n'
    document = table(text)
    items = list(read_table(document, mapping=TableMapping()))
    read_items = [item for item in items if not isinstance(item, RejectedRow)]
    assert [(s.subject, s.dimension, s.value) for s, _ in read_items] == [
        ('A, "B"', "d", Text("one\ntwo")),
        ('A, "B"', "e", Fraction(3)),
        ("C", "d", Text("x")),
        ("C", "e", Fraction(4)),
    ]
    assert read_items[0][1].quote == '"A, ""B""","one\ntwo",3'
    assert read_items[2][1].quote == "C,x,4"


def test_a_broken_row_is_rejected_and_reading_goes_on() -> None:
    text = 's,d\na,1\nb,"2" x\nc,3\nd,"never closed\ne,5\nf,6,7\ng,8\n'
    rows, rejected = read(text)
    assert rows == [
        (name, "d", Fraction(n)) for name, n in (("a", 1), ("c", 3), ("e", 5), ("g", 8))
    ]
    assert [(row.line, row.text) for row in rejected] == [
        (3, 'b,"2" x'),
        (5, 'd,"never closed'),
        (7, "f,6,7"),
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("s\td\na\t1\n", "t.tsv"),
        ("s;d\na;1\n", "t.csv"),
        ("s|d\na|1\n", "t.csv"),
        ("s\td\na\t1", "t.csv"),
    ],
)
def test_the_delimiter_is_seen_in_the_header(text: str, name: str) -> None:
    assert read(text, name=name) == ([("a", "d", Fraction(1))], [])


@pytest.mark.parametrize(
    ("text", "mapping", "messages"),
    [
        ("s\na\n", "", ["no column but the subject's"]),
        ("s,,d\n", "", ["column 2 has no name"]),
        ("s,d,d\n", "", ["'d' stands twice"]),
        ("s,Größe\n", "", ["'Größe' names no dimension"]),
        ("s,d\n", "subject: t", ["no column 't'"]),
        ("seat,size\n", "dimensions: {sise: number}\nsubject: saet", ["size", "seat"]),
        ("s,d\n", "valid_from: x", ["no column 'x'"]),
        ("s,d\n", "dimension: d", ["names both"]),
        ("s,d\n", "delimiter: ',,'", ["expected one character"]),
        ("s,d\n", "colums: {}", ["'colums' is no key"]),
        ("s,d\n", "dimensions: {d: numbr}", ["d: 'numbr' is no kind; the nearest is number"]),
        (
            "s,d\n",
            "dimensions: {d: {nam: x}, s: [x]}",
            ["'nam' is no key; the nearest is name", "s is"],
        ),
        ("s,d\n", "dimensions: {d: {name: 1x}}", ["'1x' is no name"]),
        ("s,d\n", "header: x\nsubject: [y]", ["header is", "subject is"]),
        ("s,d\n", "[1]", ["no object"]),
        ("s,d\n", "{", ["no YAML"]),
    ],
)
def test_what_is_wrong_with_header_and_mapping_is_said_at_once(
    text: str, mapping: str, messages: list[str]
) -> None:
    with pytest.raises(MappingRejected) as caught:
        read_table(table(text), mapping=read_mapping(mapping, name="m.yaml"))
    for message in messages:
        assert message in str(caught.value)


def test_a_mapping_may_not_contradict_a_definition() -> None:
    with pytest.raises(MappingRejected, match="seat is defined as entity"):
        read(
            "s,seat\na,b\n",
            "dimensions: {seat: text}",
            dimensions=[Dimension("seat", DimensionKind.ENTITY)],
        )


def test_importing_reports_and_records_rejections_once(base: KnowledgeBase) -> None:
    text = "s,size\na,1\nb\nc,3\n"
    document = table(text)
    base.define_dimension(Dimension("size", DimensionKind.NUMBER))
    report = import_table(base, document, text.encode(), run="r1")
    assert report.admission.inserted == 2
    assert report.rejected == (RejectedRow(3, "it has 1 cells; the header has 2", "b"),)
    assert base.rejections(document.source_sha256) == (
        ("line 3: it has 1 cells; the header has 2", "b"),
    )
    head = base.head
    again = import_table(base, document, text.encode(), run="r2")
    assert (again.admission.inserted, again.admission.already) == (0, 2)
    assert base.head == head
    base.verify_log()


def test_a_table_without_rows_is_a_whole_document(base: KnowledgeBase) -> None:
    text = "s,size\n"
    document = table(text)
    report = import_table(base, document, text.encode(), run="r1")
    assert report.admission.document_is_new
    assert base.record(document.source_sha256).complete


def test_a_bad_mapping_stores_nothing(base: KnowledgeBase) -> None:
    text = "s,,\n"
    with pytest.raises(MappingRejected):
        import_table(base, table(text), text.encode(), run="r1")
    assert base.documents() == ()


CELL = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1).filter(
    lambda cell: bool(cell.strip())
)


@given(st.lists(st.tuples(CELL, CELL), min_size=1), st.sampled_from([",", ";"]))
def test_any_quoted_cell_is_read_back(rows: list[tuple[str, str]], delimiter: str) -> None:
    def quoted(cell: str) -> str:
        return '"' + cell.replace('"', '""') + '"'

    lines = [delimiter.join(["s", "d"]), *(delimiter.join(map(quoted, row)) for row in rows)]
    text = "\n".join(lines) + "\n"
    document = table(text)
    mapping = TableMapping(delimiter=delimiter, kind=DimensionKind.TEXT)
    items = list(read_table(document, mapping=mapping))
    for item, (subject, cell), line in zip(items, rows, lines[1:], strict=True):
        assert not isinstance(item, RejectedRow)
        assert item[0] == Statement(subject.strip(), "d", Text(cell.strip()))
        assert item[1].quote == line


@pytest.mark.shared
def test_a_table_of_133582_triples_is_imported_in_seconds(
    base: KnowledgeBase, shared: Path
) -> None:
    data = (shared / "metaqa" / "kb.txt.gz").read_bytes()
    mapping = read_mapping(
        "{delimiter: '|', header: [s, r, o], dimension: r, value: o, kind: entity,"
        " dimensions: {release_year: date}}",
        name="m.yaml",
    )
    start = time.process_time()
    document = decode(data, name="kb.txt.gz")
    report = import_table(base, document, data, run="r1", mapping=mapping)
    assert time.process_time() - start < 20
    assert report.admission.inserted == 133_582
    assert report.rejected == ()
    assert base.record(document.source_sha256).complete
    start = time.process_time()
    assert sum(1 for _ in base.every_statement()) == 133_582
    assert time.process_time() - start < 5
    assert len(base.entity_names()) > 40_000
    assert len(base.statements(subject="Kismet", dimension="directed_by")) == 1


@pytest.mark.shared
def test_a_corpus_of_6119_passages_is_decoded_quickly(shared: Path) -> None:
    data = (shared / "2wikimultihopqa" / "corpus.json.gz").read_bytes()
    start = time.process_time()
    document = decode(data, name="corpus.json.gz")
    assert time.process_time() - start < 2
    assert len(document.passages) == 6_119
