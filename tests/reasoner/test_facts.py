"""The base of facts: indexes, overlays, visibility."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.quantity import Quantity, parse_date
from kb.statement import ALWAYS, Entity, Evidence, Modality, Polarity, Statement, Text, Validity
from reasoner.atom import Atom, Symbol, Variable
from reasoner.evaluate import evaluate
from reasoner.facts import Fact, FactBase, fact_id, facts_of, gives_facts
from reasoner.policy import parse_atom, parse_policy
from reasoner.relation import SCAN_FROM, SCANS, Relation

DAY = datetime.date(2026, 6, 1)
SPRING = Validity(datetime.date(2026, 3, 1), datetime.date(2026, 6, 1))
SUMMER = Validity(datetime.date(2026, 6, 1), datetime.date(2026, 9, 1))


def _base(*texts: str) -> FactBase:
    return FactBase(Fact(parse_atom(text), fact_id(parse_atom(text))) for text in texts)


def _matched(base: FactBase, pattern: str, day: datetime.date | None = None) -> list[str]:
    return [str(fact.atom) for fact in base.match(parse_atom(pattern), day)]


def test_match_follows_constants_and_repeated_variables() -> None:
    base = _base("p(a, b)", "p(a, a)", "p(b, b)", "q(a)", "-p(a, b)")
    assert _matched(base, "p(a, X)") == ["p(a, a)", "p(a, b)"]
    assert _matched(base, "p(X, X)") == ["p(a, a)", "p(b, b)"]
    assert _matched(base, "-p(X, _)") == ["-p(a, b)"]
    assert _matched(base, "p(c, X)") == []
    assert _matched(base, "r(X)") == []


def test_values_are_one_whatever_they_are_written_as() -> None:
    base = _base('p(@decimal("1.0"))', 'p(@quantity("5.0 kg"))', 'p("1")')
    assert _matched(base, "p(1)") == ["p(1)"]
    assert _matched(base, 'p(@quantity("5 kg"))') == ['p(@quantity("5 kg"))']
    assert len(base) == 3


def test_an_overlay_adds_and_leaves_its_base_alone() -> None:
    base = _base("p(a)", "q(a, b)")
    laid = base.with_facts([Fact(parse_atom("p(new)"), "assumed"), Fact(parse_atom("r"), "x")])
    twice = laid.with_facts([Fact(parse_atom("p(newer)"), "assumed")])
    assert _matched(base, "p(X)") == ["p(a)"]
    assert _matched(laid, "p(X)") == ["p(a)", "p(new)"]
    assert _matched(twice, "p(X)") == ["p(a)", "p(new)", "p(newer)"]
    assert twice.signatures() == {("p", 1), ("q", 2), ("r", 0)}
    assert base.signatures() == {("p", 1), ("q", 2)}
    assert len(twice) == 5


def test_an_overlay_may_lie_over_nothing() -> None:
    laid = FactBase().with_facts([Fact(parse_atom("p(a)"), "x")])
    assert _matched(laid.with_facts([Fact(parse_atom("p(b)"), "x")]), "p(X)") == ["p(a)", "p(b)"]


def test_an_atom_stated_twice_has_its_facts_by_leaf_over_all_layers() -> None:
    atom = parse_atom("p(a)")
    base = FactBase([Fact(atom, "st:2"), Fact(atom, "st:1"), Fact(atom, "st:2")])
    laid = base.with_facts([Fact(atom, "assumed")])
    assert [fact.leaf for fact in base.match(atom, None)] == ["st:1", "st:2"]
    assert [fact.leaf for fact in laid.match(atom, None)] == ["assumed", "st:1", "st:2"]


def test_bounded_facts_are_visible_in_their_time_only() -> None:
    atom, other = parse_atom("p(a, b)"), parse_atom("p(a, c)")
    base = FactBase([Fact(atom, "st:1", SPRING), Fact(other, "st:2", SUMMER)])
    assert _matched(base, "p(a, X)", DAY) == ["p(a, c)"]
    assert _matched(base, "p(a, X)", datetime.date(2026, 5, 31)) == ["p(a, b)"]
    assert _matched(base, "p(X, b)", DAY) == []
    assert _matched(base, "p(a, b)", DAY) == []
    assert _matched(base, "p(a, X)", None) == ["p(a, b)", "p(a, c)"]


def test_a_row_is_visible_if_any_of_its_facts_is() -> None:
    atom = parse_atom("p(a)")
    base = FactBase([Fact(atom, "st:1", SPRING), Fact(atom, "st:2", SUMMER)])
    assert [fact.leaf for fact in base.match(atom, DAY)] == ["st:2"]
    unbounded = base.with_facts([Fact(atom, "st:3")])
    winter = datetime.date(2026, 12, 1)
    assert [fact.leaf for fact in unbounded.match(atom, winter)] == ["st:3"]
    assert base.match(atom, winter) == ()


def test_facts_are_ground() -> None:
    with pytest.raises(ValueError, match="holds a variable"):
        FactBase([Fact(Atom("p", (Variable("X"),)), "x")])


def _evidence(statement: Statement, source: str) -> Evidence:
    return Evidence(statement.id, source, "0" * 64, 0, 1, "q", "test/1")


def test_a_statement_gives_its_atom_with_and_without_its_id_and_its_documents() -> None:
    statement = Statement("Acme", "cover", Quantity(Fraction(5), "EUR"), validity=SUMMER)
    evidence = [_evidence(statement, source) for source in ("b", "a", "a")]
    assert facts_of("st:1", statement, evidence) == (
        Fact(parse_atom('cover("Acme", @quantity("5 EUR"))'), "st:1", SUMMER),
        Fact(parse_atom('cover("Acme", @quantity("5 EUR"), "st:1")'), "st:1", SUMMER),
        Fact(parse_atom('stated_in("st:1", "doc:a")'), "provenance"),
        Fact(parse_atom('stated_in("st:1", "doc:b")'), "provenance"),
    )


def test_a_denial_gives_a_strongly_negated_atom() -> None:
    statement = Statement("Acme", "listed", Text("x"), polarity=Polarity.DENIED)
    first, *_ = facts_of("st:1", statement, [])
    assert str(first.atom) == '-listed("Acme", "x")'


@pytest.mark.parametrize("modality", [m for m in Modality if m is not Modality.ASSERTED])
def test_only_asserted_statements_give_facts(modality: Modality) -> None:
    assert facts_of("st:1", Statement("A", "d", Entity("B"), modality=modality), []) == ()


def test_a_dimension_that_is_no_predicate_name_gives_no_facts() -> None:
    assert facts_of("st:1", Statement("A", "date of birth", parse_date("1952")), []) == ()


_ROWS = st.lists(
    st.tuples(*[st.sampled_from([Symbol("a"), Symbol("b"), "a", Fraction(1)])] * 3), max_size=12
)


@given(_ROWS, _ROWS, st.sets(st.integers(0, 2)))
def test_every_index_finds_what_a_scan_finds(
    rows: list[tuple[Symbol | str | Fraction, ...]],
    laid: list[tuple[Symbol | str | Fraction, ...]],
    positions: set[int],
) -> None:
    base = FactBase(Fact(Atom("p", row), "x") for row in rows)
    base = base.with_facts(Fact(Atom("p", row), "y") for row in laid)
    for wanted in [*rows, *laid, (Symbol("c"),) * 3]:
        pattern = Atom(
            "p",
            tuple(wanted[at] if at in positions else Variable(f"V{at}") for at in range(3)),
        )
        found = {fact.atom.arguments for fact in base.match(pattern, None)}
        assert found == {
            row for row in [*rows, *laid] if all(row[at] == wanted[at] for at in positions)
        }


_STATEMENTS = st.lists(
    st.builds(
        Statement,
        st.sampled_from(["A", "B"]),
        st.sampled_from(["d", "e", "no name"]),
        st.sampled_from([Entity("A"), Text("x"), Fraction(1)]),
        st.sampled_from(Polarity),
        st.sampled_from([Modality.ASSERTED, Modality.ASSERTED, Modality.HEDGED]),
        st.sampled_from([Validity(), SPRING, SUMMER]),
    ),
    max_size=8,
)


class _Statements:
    """A source in memory that counts what is read of it."""

    def __init__(self, statements: list[Statement]) -> None:
        self.seen = [statement for statement in statements if gives_facts(statement)]
        self.read: list[str] = []

    def predicates(self) -> list[str]:
        return sorted({_predicate(statement) for statement in self.seen})

    def statements(self, predicate: str) -> Iterator[tuple[str, Statement]]:
        self.read.append(predicate)
        return ((s.id, s) for s in self.seen if _predicate(s) == predicate)

    def provenance(self) -> Iterator[tuple[str, str]]:
        self.read.append("stated_in")
        return ((s.id, source) for s in self.seen for source in "ab")


def _predicate(statement: Statement) -> str:
    return ("-" if statement.polarity is Polarity.DENIED else "") + statement.dimension


def test_statements_are_read_when_their_predicate_is_looked_up_and_once() -> None:
    held = [Statement("A", "d", Text("x")), Statement("A", "e", Text("y"))]
    source = _Statements([*held, Statement("B", "d", Text("z"), polarity=Polarity.DENIED)])
    base = FactBase.of_statements(source)
    assert base.signatures() == {
        *((name, arity) for name in ("d", "-d", "e") for arity in (2, 3)),
        ("stated_in", 2),
    }
    assert source.read == []
    laid = base.with_facts([Fact(parse_atom('d("new", "x")'), "assumed")])
    assert _matched(laid, 'd(S, "x")') == ['d("A", "x")', 'd("new", "x")']
    assert source.read == ["d"]
    assert len(laid.match(parse_atom('d("A", V, St)'), None)) == 1
    assert _matched(base, 'd("A", V)') == ['d("A", "x")']
    assert source.read == ["d"]
    assert _matched(base, f'stated_in("{held[1].id}", D)') == [
        f'stated_in("{held[1].id}", "doc:a")',
        f'stated_in("{held[1].id}", "doc:b")',
    ]
    assert source.read == ["d", "stated_in"]


def test_constants_that_come_before_their_statements_are_read_are_the_same() -> None:
    source = _Statements([Statement("A", "d", Text("x")), Statement("x", "e", Text("y"))])
    base = FactBase.of_statements(source)
    laid = base.with_facts([Fact(parse_atom('p("x")'), "assumed")])
    policy = parse_policy("q(Y) :- p(X), d(S, X), e(X, Y).", name="p.lp")
    answers = evaluate(policy, parse_atom("q(Y)"), laid, valid_on=None).answers
    assert [str(answer) for answer in answers] == ['q("y")']


def test_constants_of_requests_are_counted() -> None:
    base = FactBase.of_statements(_Statements([Statement("A", "d", Text("x"))]))
    base.with_facts([Fact(parse_atom('p("B", "C")'), "assumed")])
    assert base.terms().strange == 2
    assert _matched(base, "d(S, V)") == ['d("A", "x")']
    assert base.terms().strange == 2


@pytest.mark.parametrize("turn", range(5))
def test_threads_read_a_base_of_statements_at_once(turn: int) -> None:
    held = [Statement(f"A{n}", name, Text(f"x{n + turn}")) for n in range(200) for name in "de"]
    base = FactBase.of_statements(_Statements(held))
    laid = [base.with_facts([Fact(parse_atom(f'p("x{n}")'), "assumed")]) for n in range(8)]
    policy = parse_policy("q(S) :- p(X), d(S, X), e(S, X).", name="p.lp")

    def answers(facts: FactBase) -> int:
        return len(evaluate(policy, parse_atom("q(S)"), facts, valid_on=None).answers)

    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(answers, laid))
    assert found == [1 if turn <= n else 0 for n in range(8)]


@given(_STATEMENTS, st.sampled_from([None, DAY]))
def test_a_base_of_statements_holds_the_facts_of_each(
    statements: list[Statement], day: datetime.date | None
) -> None:
    rows = [(s.id, s, [_evidence(s, name) for name in "ba"]) for s in statements]
    expected = FactBase(fact for row in rows for fact in facts_of(*row))
    base = FactBase.of_statements(_Statements(statements))
    assert base.signatures() == expected.signatures()
    for name, arity in sorted(expected.signatures()):
        free = tuple(Variable(f"V{at}") for at in range(arity))
        for first in (free[0], "A"):
            pattern = Atom(name.removeprefix("-"), (first, *free[1:]), name[0] == "-")
            assert base.match(pattern, day) == expected.match(pattern, day)
    assert set(base.facts()) == set(expected.facts())
    assert len(base) == len(expected)
    more = base.with_facts([Fact(Atom("d", ("A", "x", "new")), "assumed")])
    assert len(more) == len(base) + 1


@pytest.mark.parametrize("positions", [(0,), (1,), (0, 1), (1, 2), (0, 2)])
def test_a_scan_finds_what_the_index_finds_later(positions: tuple[int, ...]) -> None:
    relation = Relation(3)
    for number in range(SCAN_FROM):
        relation.add((number % 7, number % 11, number % 13), "x", ALWAYS)
    rows = list(relation.rows)
    look = relation.lookup(positions, None)
    for number in range(3 * SCANS):
        wanted = tuple(row_part % 5 for row_part in (number, number + 1, number + 2))
        key = tuple(wanted[at] for at in positions)
        found = list(look(key[0] if len(key) == 1 else key))
        assert found == [row for row in rows if tuple(row[at] for at in positions) == key]
