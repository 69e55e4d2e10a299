"""The checkpoint of the lattice index: whole or not used, and caught up with the log."""

from __future__ import annotations

import datetime
import logging
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.constraint import Constraint, Range
from kb.dimension import Dimension, DimensionKind, define_taxonomy
from kb.document import decode
from kb.knowledge_base import KnowledgeBase
from kb.lattice import LatticeIndex
from kb.lattice_checkpoint import CheckpointUnusable, LatticeCheckpoint, point_key, point_of
from kb.qualified import View
from kb.quantity import format_number, parse_date, parse_quantity
from kb.statement import Entity, Evidence, Statement, TaxonClass, Text, Validity, Value
from kb.string_table import StringTable, slots_of, table_of

NAMESPACE = "https://example.org/kb/"
SEATS = define_taxonomy("seat", [("Kyiv", "Ukraine"), ("Lviv", "Ukraine"), ("Ukraine", "place")])
MASS = Dimension("mass", DimensionKind.QUANTITY)
VALUES: dict[str, list[Value]] = {
    "seat": [TaxonClass("Kyiv"), TaxonClass("Lviv"), TaxonClass("Ukraine"), TaxonClass("else")],
    "mass": [parse_quantity("5 kg"), parse_quantity("5000 g"), parse_quantity("7 kg")],
    "名": [Entity("é"), Entity("5:x")],
}
points = st.sampled_from(sorted(VALUES)).flatmap(
    lambda name: st.tuples(st.just(name), st.sampled_from(VALUES[name]))
)
statements = st.builds(
    lambda subject, point, validity: Statement(subject, point[0], point[1], validity=validity),
    st.sampled_from(["a", "b", "Łódź", "z"]),
    points,
    st.sampled_from([Validity(), Validity(), Validity(datetime.date(2026, 1, 1))]),
)
confidences = st.sampled_from([Fraction(1), Fraction(1), Fraction(1, 2), Fraction(3, 4)])
tables = st.lists(st.tuples(statements, confidences), max_size=5)

ASKED: list[Constraint | Range] = [
    *(Constraint(name, value) for name, values in VALUES.items() for value in values),
    Constraint("seat", TaxonClass("place")),
    Constraint("mass", parse_quantity("5 kg")),
    Range("mass", ((">", parse_quantity("5.5 kg")),)),
]
VIEWS = [
    View(day, least)
    for day in (None, datetime.date(2025, 6, 1), datetime.date(2026, 6, 1))
    for least in (None, Fraction(3, 4), Fraction(1))
]


def _admit(base: KnowledgeBase, number: int, table: list[tuple[Statement, Fraction]]) -> str:
    """State some things in a document of its own; give its digest."""
    text = f"table {number}"
    document = decode(text.encode(), name=f"{number}.txt")
    grounded = {
        statement.id: (
            statement,
            Evidence(
                *(statement.id, document.source_sha256, document.text_sha256, 0, 5, text[:5]),
                extractor="test/1",
                confidence=format_number(confidence),
            ),
        )
        for statement, confidence in table
    }
    base.admit(document, text.encode(), list(grounded.values()), run="r")
    return document.source_sha256


def _answers(index: LatticeIndex) -> list[tuple[str, ...]]:
    found = [tuple(index.answers([item], view=view)) for item in ASKED for view in VIEWS]
    found.append(index.meet([]))
    found += [tuple(map(str, index.values(name))) for name in VALUES]
    return [*found, tuple(str(sorted(index.coordinate(x).items())) for x in ("a", "b", "z", "?"))]


def _anew(base: KnowledgeBase) -> LatticeIndex:
    """Index what stands, statement by statement."""
    index = LatticeIndex(base.dimensions())
    for _, statement, evidence in base.every_statement():
        index.add(statement, confidence=max(Fraction(found.confidence) for found in evidence))
    return index


@settings(max_examples=12, deadline=None)
@given(
    st.lists(tables, min_size=2, max_size=4),
    st.lists(st.sampled_from(["retract", "withdraw", "define", "again", "erase"]), max_size=4),
)
def test_a_checkpoint_caught_up_is_an_index_built_anew(
    tmp_path_factory: pytest.TempPathFactory,
    given_tables: list[list[tuple[Statement, Fraction]]],
    changes: list[str],
) -> None:
    directory = tmp_path_factory.mktemp("kb")
    with KnowledgeBase.create(directory, namespace=NAMESPACE) as base:
        base.define_dimension(MASS)
        digests = [_admit(base, n, table) for n, table in enumerate(given_tables[:-1])]
        assert _answers(base.lattice()) == _answers(_anew(base))  # writes the checkpoint
    with KnowledgeBase.open(directory) as base:  # nobody looks while it changes
        digests.append(_admit(base, len(digests), given_tables[-1]))
        for change in changes:
            match change:
                case "retract" if digests:
                    base.retract_document(digests.pop(0))
                case "erase" if digests:
                    base.erase_document(digests.pop(), run="r")
                case "withdraw":
                    for row in list(base.every_statement())[:1]:
                        base.retract_statement(row[0])
                case "define":
                    base.define_dimension(SEATS)
                case "again":
                    digests.append(_admit(base, 10 + len(digests), given_tables[0]))
    with KnowledgeBase.open(directory) as base:
        assert _answers(base.lattice()) == _answers(_anew(base))
        base.define_dimension(SEATS)
        assert _answers(base.lattice()) == _answers(_anew(base))


ODD = ["a", "a\x1fb", "x\x1f", "c\nd"]


@given(st.lists(st.tuples(st.sampled_from(ODD), st.sampled_from(ODD)), min_size=1, max_size=6))
@settings(max_examples=25, deadline=None)
def test_texts_may_hold_whatever_stands_between_texts(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, str]]
) -> None:
    place = tmp_path_factory.mktemp("odd") / "kb"
    with KnowledgeBase.create(place, namespace=NAMESPACE) as base:
        _admit(base, 1, [(Statement(who, "said", Text(what)), Fraction(1)) for who, what in pairs])
        for what in ODD:
            expected = sorted({who for who, said in pairs if said == what})
            assert sorted(base.answers([Constraint("said", Text(what))])) == expected


def test_damage_is_found_and_the_index_built_anew(
    base: KnowledgeBase, caplog: pytest.LogCaptureFixture
) -> None:
    base.define_dimension(SEATS)
    _admit(base, 1, [(Statement("a", "seat", TaxonClass("Kyiv")), Fraction(1))])
    expected = _answers(base.lattice())
    path = base.directory / "projections" / "lattice"
    whole = path.read_bytes()
    base.close()
    used = LatticeCheckpoint.open(path)
    assert (used.statements, list(used.names)) == (1, ["a"])
    # Padding between sections carries nothing; everything else is covered by a digest.
    damaged = [whole[:n] for n in (0, 7, 60, len(whole) - 1)]
    damaged += [whole + b"x", b"x" * len(whole)]
    for place in range(0, len(whole), 11):
        if whole[place]:
            damaged.append(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
    for data in damaged:
        path.write_bytes(data)
        with pytest.raises(CheckpointUnusable):
            LatticeCheckpoint.open(path)
    with caplog.at_level(logging.WARNING), KnowledgeBase.open(base.directory) as again:
        assert _answers(again.lattice()) == expected
    assert "built anew" in caplog.text
    assert path.read_bytes() == whole


def test_the_checkpoint_of_another_log_is_not_used(base: KnowledgeBase, tmp_path: Path) -> None:
    with KnowledgeBase.create(tmp_path / "other", namespace=NAMESPACE) as other:
        for number in range(3):
            _admit(other, number, [(Statement("o", "seat", TaxonClass("Lviv")), Fraction(1))])
        other.lattice()
        foreign = (other.directory / "projections" / "lattice").read_bytes()
    for number in range(3):
        _admit(base, 5 + number, [(Statement("a", "seat", TaxonClass("Kyiv")), Fraction(1))])
    base.close()
    (base.directory / "projections").mkdir(exist_ok=True)
    (base.directory / "projections" / "lattice").write_bytes(foreign)
    with KnowledgeBase.open(base.directory) as again:
        assert again.meet([]) == ("a",)


def test_a_checkpoint_far_behind_is_built_anew(base: KnowledgeBase) -> None:
    _admit(base, 0, [(Statement("a", "seat", TaxonClass("Kyiv")), Fraction(1))])
    base.lattice()
    many = [(Statement(f"n{n:04}", "seat", TaxonClass("Lviv")), Fraction(1)) for n in range(2001)]
    _admit(base, 1, many)
    base.close()
    with KnowledgeBase.open(base.directory) as again:
        assert len(again.answers([Constraint("seat", TaxonClass("Lviv"))])) == 2001
        path = again.directory / "projections" / "lattice"
        assert LatticeCheckpoint.open(path).revision == again.revision


def test_answers_do_not_change_when_the_index_does(base: KnowledgeBase) -> None:
    digest = _admit(base, 0, [(Statement("a", "seat", TaxonClass("Kyiv")), Fraction(1))])
    answers = [base.answers(asked) for asked in ([], [Constraint("seat", TaxonClass("Kyiv"))])]
    _admit(base, 1, [(Statement("b", "seat", TaxonClass("Kyiv")), Fraction(1))])
    after = base.answers([Constraint("seat", TaxonClass("Kyiv"))])
    base.retract_document(digest)
    assert base.meet([]) == ("b",)
    assert [tuple(found) for found in answers] == [("a",), ("a",)]
    assert tuple(after) == ("a", "b")
    assert after.page(1) == ("a",)
    assert after.page(5, after="a") == ("b",)


@given(st.sets(st.text(max_size=4)), st.text(max_size=3), st.text(min_size=1, max_size=2))
def test_a_string_table_finds_what_is_in_it(strings: set[str], wanted: str, prefix: str) -> None:
    ordered = sorted(strings)
    table = StringTable(*table_of(ordered))
    assert list(table) == ordered
    assert table[:] == ordered
    hashed = StringTable(*table_of(ordered), slots_of(ordered))
    assert [hashed.find(string) for string in ordered] == list(range(len(ordered)))
    assert hashed.find(wanted) == table.find(wanted)
    assert table.find(wanted) == (ordered.index(wanted) if wanted in strings else None)
    found = [table[place] for place in table.beginning_with(prefix)]
    assert found == [string for string in ordered if string.startswith(prefix)]


@given(
    st.text(min_size=1, max_size=5),
    st.one_of(st.text(max_size=5).map(Text), st.just(parse_date("1999-12"))),
)
def test_the_key_of_a_point_says_which(dimension: str, value: Value) -> None:
    assert point_of(point_key(dimension, value)) == (dimension, value)
