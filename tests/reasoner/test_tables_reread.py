"""Lookups over a closed table are read again from the table itself."""

from __future__ import annotations

import datetime
import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.document import Document, decode
from kb.statement import Evidence, Statement
from kb.table_mapping import TableMapping
from kb.tables import read_table
from reasoner.certificate import canonical_bytes
from reasoner.checker.sources import is_row_start, table_rows
from reasoner.decide import Decision, Request, decide
from reasoner.facts import Fact, FactBase, facts_of
from reasoner.policy import parse_atom, parse_policy
from reasoner.retraction import Retraction
from reasoner.sources import Candidates, SourceRecord, StatementRecord
from reasoner.verdict import Verdict
from reasoner.verify import Texts, table_spans, verify_bytes

POLICY = """
closed(sanctioned_by/2, "sanctions-list.csv").

clear(S) :- supplier_since(S, _), not sanctioned_by(S, _).
"""
LIST = 'name,sanctioned by,listed on\nEvil Corp,EU,2021-01-01\n"Worse, Ltd",UK,\nBlank Inc,,2020\n'
SUPPLIERS = "supplier,supplier_since\nNordwind,2019\nEvil Corp,2020\nBlank Inc,2021\n"


PLAIN = TableMapping()


@dataclass(frozen=True)
class Tables:
    """Sources that are tables only."""

    documents: tuple[Document, ...]
    statements: dict[str, StatementRecord]
    texts: Texts
    fact_sources: tuple[str, ...] = ()
    functional: frozenset[str] = frozenset()
    disjoint: frozenset[tuple[str, str]] = frozenset()

    def statement(self, statement_id: str) -> StatementRecord:
        """Give a row's statement."""
        return self.statements[statement_id]

    def source(self, source_sha256: str) -> SourceRecord:
        """Give a table."""
        (found,) = (d for d in self.documents if d.source_sha256 == source_sha256)
        return SourceRecord(found.media_type, found.title, found.decoder, found.text_sha256)

    def named(self, label: str) -> tuple[str, ...]:
        """Find a table by its file name."""
        return tuple(d.source_sha256 for d in self.documents if d.name == label)

    def lacks(self, label: str) -> bool:
        """Have every table that is named."""
        assert label
        return False

    def is_missing(self, label: str) -> bool:
        """Miss a table that is not among the documents."""
        return not self.named(label)

    def candidates(self, query: str, entity: str) -> Candidates:
        """Find nothing."""
        assert query
        assert entity is not None
        return Candidates()

    def refused(self, dimension: str, entity: str) -> tuple[str, ...]:
        """Know no refused candidates."""
        assert dimension or entity
        return ()


def world(sanctions: str = LIST, mapping: TableMapping = PLAIN) -> tuple[FactBase, Tables]:
    """Read both tables."""
    documents = tuple(
        decode(text.encode(), name=name)
        for name, text in (("sanctions-list.csv", sanctions), ("suppliers.csv", SUPPLIERS))
    )
    facts: list[Fact] = []
    statements: dict[str, StatementRecord] = {}
    for document in documents:
        used = mapping if document.name.startswith("sanctions") else TableMapping()
        for found in read_table(document, mapping=used):
            assert isinstance(found, tuple)
            statement, evidence = found
            assert isinstance(statement, Statement)
            assert isinstance(evidence, Evidence)
            statements[statement.id] = StatementRecord(None, statement, (evidence,))
            facts += facts_of(statement.id, statement, (evidence,))
    texts = Texts({document.text_sha256: document.text for document in documents})
    return FactBase(facts), Tables(documents, statements, texts)


def clear(
    name: str,
    sanctions: str = LIST,
    mapping: TableMapping = PLAIN,
    *,
    retracted: str | None = None,
) -> tuple[Decision, Tables]:
    """Decide whether a supplier is clear, perhaps without a row of a table."""
    facts, sources = world(sanctions, mapping)
    found = () if retracted is None else facts.match(parse_atom(retracted), None)
    request = Request(
        parse_atom(f'clear("{name}")'),
        datetime.date(2026, 1, 1),
        retractions=tuple(Retraction(fact.leaf, fact.atom) for fact in found),
    )
    policy = parse_policy(POLICY, name="policy.lp")
    return decide(request, policy=policy, facts=facts, sources=sources, engine="linear"), sources


@pytest.mark.parametrize("name", ["Nordwind", "Blank Inc"])
def test_a_name_that_the_table_does_not_list_is_clear(name: str) -> None:
    decision, sources = clear(name)
    assert decision.verdict is Verdict.CERTIFIED
    certificate = json.loads(decision.certificate)
    (lookup,) = certificate["witness"]["lookups"]
    assert (lookup["pattern"], lookup["basis"]) == (f'sanctioned_by("{name}", _)', "table")
    table = sources.documents[0]
    assert table.source_sha256 in certificate["sources"]


def test_a_listed_name_is_not_clear() -> None:
    decision, _ = clear("Evil Corp")
    assert decision.verdict is Verdict.ABSTAINED
    assert [item.atom for item in decision.open] == ['not sanctioned_by("Evil Corp", _)']


def test_a_retracted_row_does_not_count_and_is_declared() -> None:
    decision, sources = clear("Evil Corp", retracted='sanctioned_by("Evil Corp", "EU")')
    assert decision.verdict is Verdict.CERTIFIED
    certificate = json.loads(decision.certificate)
    (lookup,) = certificate["witness"]["lookups"]
    assert (lookup["answers"], lookup["basis"]) == ([], "table")
    (retraction,) = certificate["retractions"]
    assert retraction["atom"] == 'sanctioned_by("Evil Corp", "EU")'
    del certificate["retractions"]
    report = verify_bytes(canonical_bytes(certificate), sources.texts)
    assert report.rejection == "LOOKUP_MISMATCH"
    certificate["retractions"] = [{**retraction, "atom": 'sanctioned_by("Worse, Ltd", "UK")'}]
    report = verify_bytes(canonical_bytes(certificate), sources.texts)
    assert report.rejection == "LOOKUP_MISMATCH"


def test_an_emptied_lookup_is_found_out_by_the_table() -> None:
    """Forge a clearance: take it from a table without the row, and present it for the other."""
    short = LIST.replace("Evil Corp,EU,2021-01-01\n", "")
    decision, _ = clear("Evil Corp", short)
    assert decision.verdict is Verdict.CERTIFIED
    _, real = world()
    forged, honest = decision.certificate.decode(), real.documents[0]
    false = world(short)[1].documents[0]
    for old, new in (
        (false.source_sha256, honest.source_sha256),
        (false.text_sha256, honest.text_sha256),
    ):
        forged = forged.replace(old, new)
    report = verify_bytes(canonical_bytes(json.loads(forged)), real.texts)
    assert report.rejection == "LOOKUP_MISMATCH"


def test_a_table_must_be_there_to_be_read() -> None:
    decision, sources = clear("Nordwind")
    certificate = json.loads(decision.certificate)
    del certificate["sources"][sources.documents[0].source_sha256]
    report = verify_bytes(canonical_bytes(certificate), sources.texts)
    assert report.rejection == "LOOKUP_MISMATCH"


@pytest.mark.parametrize(
    ("sign", "call", "quotes"),
    [
        ("sanctioned_by/2", ('"Evil Corp"', None), ["Evil Corp,EU,2021-01-01"]),
        ("sanctioned_by/2", (None, '"UK"'), ['"Worse, Ltd",UK,']),
        ("sanctioned_by/3", ('"Worse, Ltd"', None, None), ['"Worse, Ltd",UK,']),
        ("listed_on/2", ('"Blank Inc"', None), ["Blank Inc,,2020"]),
        ("sanctioned_by/2", ('"Blank Inc"', None), []),
        ("sanctioned_by/2", ('"evil corp"', None), []),
    ],
)
def test_rows_that_answer_a_call(
    sign: str, call: tuple[str | None, ...], quotes: list[str]
) -> None:
    spans = table_spans(LIST, sign, call)
    assert spans is not None
    assert [LIST[start:end] for start, end in sorted(spans)] == quotes


@pytest.mark.parametrize(
    ("sign", "call"),
    [
        ("programme/2", ('"Evil Corp"', None)),
        ("sanctioned_by/1", ('"Evil Corp"',)),
        ("-sanctioned_by/2", ('"Evil Corp"', None)),
        ("listed_on/2", ('"Evil Corp"', '@date("2021-01-01")')),
        ("sanctioned_by/3", ('"Evil Corp"', None, '"st:1"')),
    ],
)
def test_other_calls_cannot_be_answered_from_the_text(
    sign: str, call: tuple[str | None, ...]
) -> None:
    assert table_spans(LIST, sign, call) is None


def test_quoted_cells_may_hold_line_ends() -> None:
    text = 'name,note\n"A\nB","x ""y"""\nC,z\n'
    spans = table_spans(text, "note/2", ('"A\\nB"', None))
    assert spans is not None
    assert [text[start:end] for start, end in spans] == ['"A\nB","x ""y"""']


def test_a_table_that_declares_nothing_stays_a_declaration() -> None:
    """Where the columns are named otherwise, the declaration is trusted and said to be."""
    renamed = LIST.replace("sanctioned by", "programme")
    decision, sources = clear("Nordwind", renamed)
    certificate = json.loads(decision.certificate)
    assert [item["basis"] for item in certificate["witness"]["lookups"]] == ["declared"]
    report = verify_bytes(decision.certificate, sources.texts)
    assert any("as declared" in item for item in report.trusted)


@given(
    st.text(alphabet='a,;"\n \t|', max_size=40),
    st.sampled_from([",", ";", "\t", "|"]),
)
def test_a_row_begins_exactly_where_reading_from_the_top_begins_one(
    text: str, delimiter: str
) -> None:
    rows = list(table_rows(text, delimiter))
    begins = {start for start, _, _ in rows}
    found = {at for at in range(len(text) + 2) if is_row_start(text, delimiter, at)}
    assert found == begins
    for start, end, cells in rows:
        assert next(table_rows(text, delimiter, start)) == (start, end, cells)


MAPPED = "sanctioned by;name;remark\nEU;Evil Corp;a\nUK;Nordwind;b\n"
BY_NAME = TableMapping(subject="name")


def test_a_table_with_mapped_columns_is_trusted_and_said_to_be(tmp_path: Path) -> None:
    """By its header alone the first column would name the entities: it is not read so."""
    (tmp_path / "sanctions-list.csv").write_text(MAPPED)
    (tmp_path / "suppliers.csv").write_text(SUPPLIERS)
    decision, _ = clear("Evil Corp", MAPPED, BY_NAME)
    assert decision.verdict is Verdict.ABSTAINED
    report = verify_bytes(decision.certificate, tmp_path)
    assert report.valid, report.message
    assert any("sanctions-list.csv are mapped" in item for item in report.trusted)


def test_a_table_by_tabs_is_read_again_by_tabs() -> None:
    rows = "name\tsanctioned_by\tnote, remark, and more, here\nEvil, Corp\tEU\tx\n"
    spans = table_spans(
        rows, "sanctioned_by/2", ('"Evil, Corp"', None), "text/tab-separated-values"
    )
    assert spans is not None
    assert [rows[start:end] for start, end in spans] == ["Evil, Corp\tEU\tx"]
