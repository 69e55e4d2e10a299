"""Reading policies, goals and facts."""

from __future__ import annotations

import contextlib
import datetime
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.quantity import Date, Quantity, parse_date, parse_quantity
from reasoner.atom import Atom, Constant, Symbol, Variable
from reasoner.clause import (
    Absent,
    Aggregate,
    AggregateFunction,
    Comparison,
    Operation,
    Operator,
    Positive,
    render_clause,
)
from reasoner.errors import GoalRejected, PolicyRejected
from reasoner.policy import parse_atom, parse_facts, parse_policy

INSURED = """\
%! policy: supplier_onboarding
%! version: 3.10
%! effective: 2026-01-01/..
closed(sanctions_entry/1, "sanctions-list").
functional(registered_country).
disjoint("company", "person").
precedence("register", "letter").

%! rule: insured
%! cite: Supplier Policy 4.2
%! says: "{S} is insured for {C}, at least {M}"
insured(S) :- liability_cover(S, C), % the cover, in any currency
    required_cover(M), C >= M.
required_cover(@quantity("1000000 EUR")).
"""


def test_header_and_declarations_are_read() -> None:
    policy = parse_policy(INSURED, name="x")
    assert (policy.id, policy.version) == ("supplier_onboarding", "3.10")
    assert policy.effective == (datetime.date(2026, 1, 1), None)
    (closed,) = policy.closed
    assert (closed.predicate, closed.arity, closed.source) == (
        "sanctions_entry",
        1,
        "sanctions-list",
    )
    assert policy.functional == ("registered_country",)
    assert policy.disjoint == (("company", "person"),)
    assert policy.precedence == (("register", "letter"),)


def test_clause_carries_name_citation_sentence_and_place() -> None:
    clause, fact = parse_policy(INSURED, name="x").clauses
    assert (clause.id, clause.cite) == ("insured", "Supplier Policy 4.2")
    assert clause.says == "{S} is insured for {C}, at least {M}"
    assert (clause.line, clause.column) == (12, 1)
    assert clause.text == "insured(S) :- liability_cover(S, C), required_cover(M), C >= M."
    assert clause.text == render_clause(clause)
    assert fact.id == "required_cover.1"
    assert fact.head.arguments == (Quantity(Fraction(1000000), "EUR"),)


def test_a_file_without_header_takes_its_name() -> None:
    policy = parse_policy("p(X) :- q(X).", name="rules")
    assert (policy.id, policy.version, policy.effective) == ("rules", "0", (None, None))


def test_digest_ignores_line_ends_and_byte_order_mark_only() -> None:
    digest = parse_policy(INSURED, name="x").digest
    assert parse_policy("\ufeff" + INSURED.replace("\n", "\r\n"), name="x").digest == digest
    assert parse_policy(INSURED.replace("3.10", "3.11"), name="x").digest != digest


@pytest.mark.parametrize(
    ("text", "number"),
    [("2147483648", 2**31), ("99999999999999999999999", 10**23 - 1), ("-5", -5), ("0", 0)],
)
def test_integers_are_exact_beyond_31_bits(text: str, number: int) -> None:
    assert parse_atom(f"p({text})").arguments == (Fraction(number),)


def test_literals_are_exact() -> None:
    text = 'p(@decimal("0.05"), @date("2026-01"), @quantity("-1.5 kg"), @decimal("1/3"))'
    atom = parse_atom(text)
    assert atom.arguments == (
        Fraction(1, 20),
        parse_date("2026-01"),
        parse_quantity("-1.5 kg"),
        Fraction(1, 3),
    )


def test_text_and_symbol_differ() -> None:
    assert parse_atom('p("acme")') != parse_atom("p(acme)")


def test_anonymous_variables_are_fresh() -> None:
    assert parse_atom("p(_, _)").arguments == (Variable("_1"), Variable("_2"))
    assert parse_atom("p(_1, _)").arguments == (Variable("_1"), Variable("_2"))


def test_strong_negation_and_absence() -> None:
    text = 'closed(q/1, "s"). -p(X) :- -q(X, _), not q(X).'
    (clause,) = parse_policy(text.replace("-q(X, _)", "r(X, _)"), name="x").clauses
    assert clause.head == Atom("p", (Variable("X"),), negated=True)
    assert clause.body[1] == Absent(Atom("q", (Variable("X"),)))


def test_comparisons_and_arithmetic_follow_precedence() -> None:
    text = "p(X) :- q(X, Y), X >= 2 + 3 * (Y - 1) / 4, Z = min(X, -Y), Z != 0."
    (clause,) = parse_policy(text, name="x").clauses
    first, second, third = clause.body[1:]
    assert isinstance(first, Comparison)
    assert first.operator is Operator.AT_LEAST
    assert isinstance(first.right, Operation)
    assert first.right.name == "+"
    assert isinstance(second, Comparison)
    assert second.right == Operation("min", (Variable("X"), Operation("-", (Variable("Y"),))))
    assert third == Comparison(Operator.UNEQUAL, Variable("Z"), Fraction(0))
    assert render_clause(clause) == text


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("N = #sum{A, E : pay(S, A, E)}", "N = #sum{A, E : pay(S, A, E)}"),
        ("#count { E : pay(S, _, E) } >= 2", "2 <= #count{E : pay(S, _1, E)}"),
        ("0 < #max{A : pay(S, A, _), A != 3}", "0 < #max{A : pay(S, A, _1), A != 3}"),
    ],
)
def test_aggregates_have_their_guard_on_the_left(written: str, read: str) -> None:
    head = "p(S, N)" if written.startswith("N") else "p(S)"
    text = f'closed(pay/3, "books"). {head} :- s(S), {written}.'
    (clause,) = parse_policy(text, name="x").clauses
    aggregate = clause.body[1]
    assert isinstance(aggregate, Aggregate)
    assert aggregate.function in AggregateFunction
    assert render_clause(clause) == f"{head} :- s(S), {read}."


def test_bodies_may_use_semicolons_as_clingo_does() -> None:
    assert render_clause(parse_policy("p(X) :- q(X); r(X).", name="x").clauses[0]) == (
        "p(X) :- q(X), r(X)."
    )


def test_block_comments_may_nest_and_keep_positions() -> None:
    (clause,) = parse_policy("%* a %* p(X). *% b *% p(X) :- q(X).", name="x").clauses
    assert (clause.line, clause.column) == (1, 23)


def test_non_ascii_is_kept_in_texts_and_columns_count_code_points() -> None:
    policy = parse_policy('p("Müller & Söhne, 東京 😀") :- q. % Ärger\n', name="x")
    assert policy.clauses[0].head.arguments == ("Müller & Söhne, 東京 😀",)
    with pytest.raises(PolicyRejected) as caught:
        parse_policy('p("😀😀") :- q, r(ü).', name="x")
    (finding,) = caught.value.findings
    assert (finding.line, finding.column, finding.code) == (1, 17, "foreign_character")


ALL_WRONG = """\
p(X) :- q(X), X >= 1.5, r.
:- p(X).
{a}.
a ; b :- c.
s("open).
t(X) :- u(X), Y = mim(X, 2), v(X, f(X)).
#show p/1.
w(1..3).
n :- not not m.
l(X) :- m(X), X < @quantity("5 5 5").
l(X) :- m(X,).
l(X) :- m("\\x").
k(X) :- m(X), X = @half("1").
é(X) :- m(X).
closed(p).
i(X + 1) :- m(X).
h(X) :- m(X)"""


def test_all_errors_are_reported_together_with_their_places() -> None:
    with pytest.raises(PolicyRejected) as caught:
        parse_policy(ALL_WRONG, name="wrong")
    places = [(f.line, f.column, f.code) for f in caught.value.findings]
    assert places == [
        (1, 20, "decimal"),
        (2, 1, "unsupported"),
        (3, 1, "unsupported"),
        (4, 3, "unsupported"),
        (5, 3, "unterminated"),
        (6, 19, "unknown_function"),
        (6, 35, "unsupported"),
        (7, 1, "unsupported"),
        (8, 4, "unsupported"),
        (9, 10, "unsupported"),
        (10, 29, "literal"),
        (11, 13, "syntax"),
        (12, 11, "syntax"),
        (13, 19, "unknown_literal"),
        (14, 1, "foreign_character"),
        (15, 1, "declaration"),
        (16, 3, "unsupported"),
        (17, 12, "syntax"),
    ]
    assert str(caught.value).startswith("wrong:1:20: error: 1.5 is no literal")


def test_near_names_are_offered() -> None:
    with pytest.raises(PolicyRejected, match="did you mean 'min'"):
        parse_policy("t(Y) :- u(X), Y = mim(X, 2).", name="x")
    with pytest.raises(PolicyRejected, match="did you mean 'version'"):
        parse_policy("%! policy: a\n%! verzion: 3\np :- q.", name="x")
    with pytest.raises(PolicyRejected, match="did you mean 'date'"):
        parse_policy('p :- q(@dat("2020")).', name="x")


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("%! rule: a\n%! says: {S} b", "no YAML mapping"),
        ("%! cite: a", "names no rule"),
        ("%! rule: a\n%! version: 2", "does not belong"),
        ("%! rule: a b", "no name of a rule"),
        ("%! policy: a\n%! effective: 2026", "no interval"),
        ("%! policy: a\n%! effective: 2026-02-01/2026-01-01", "is empty"),
        ("%! policy: a\n\n%! policy: b", "second header"),
        ("%! - a", "no YAML mapping"),
    ],
)
def test_comments_that_say_nothing_sensible_are_errors(comment: str, message: str) -> None:
    with pytest.raises(PolicyRejected, match=message):
        parse_policy(f"{comment}\np(S) :- q(S).\n", name="x")


def test_a_rule_comment_must_be_followed_by_its_rule() -> None:
    with pytest.raises(PolicyRejected, match="none follows"):
        parse_policy("p :- q.\n%! rule: a\n", name="x")
    with pytest.raises(PolicyRejected, match="none follows"):
        parse_policy("%! rule: a\n\n%! rule: b\np :- q.", name="x")
    with pytest.raises(PolicyRejected, match="takes no comment"):
        parse_policy("%! rule: a\nfunctional(d).", name="x")


def test_rule_names_are_unique() -> None:
    with pytest.raises(PolicyRejected, match="has its name already at line 2"):
        parse_policy("%! rule: a\np :- q.\n%! rule: a\np :- r.", name="x")
    policy = parse_policy("%! rule: p.1\np :- q.\np :- r.", name="x")
    assert [clause.id for clause in policy.clauses] == ["p.1", "p.2"]


@pytest.mark.parametrize("text", ["", "p(", "p(X) q", "3", "X", "not p", "p(X) :- q(X)", "p. q."])
def test_goals_that_are_no_atom_are_rejected(text: str) -> None:
    with pytest.raises(GoalRejected):
        parse_atom(text)


def test_goal_may_end_with_a_stop_and_be_negated() -> None:
    assert str(parse_atom('-p("a", X).')) == '-p("a", X)'


_TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
_DAYS = st.dates()
_CONSTANTS: st.SearchStrategy[Constant] = st.one_of(
    _TEXTS,
    st.builds(Symbol, st.from_regex(r"\A(?!not\Z)[a-z][A-Za-z0-9_]{0,4}\Z")),
    st.fractions(),
    st.builds(lambda a, b: Date(min(a, b), max(a, b)), _DAYS, _DAYS),
    st.builds(Quantity, st.fractions(), st.sampled_from(["EUR", "kg", "km/h"])),
)
_ATOMS = st.builds(
    Atom,
    st.sampled_from(["p", "long_Name1"]),
    st.lists(_CONSTANTS, max_size=3).map(tuple),
    st.booleans(),
)


@given(_ATOMS)
def test_every_atom_is_read_back_from_its_text(atom: Atom) -> None:
    assert parse_atom(str(atom)) == atom


@given(st.lists(_ATOMS, max_size=4))
def test_facts_are_read_back_with_their_spans(atoms: list[Atom]) -> None:
    text = " % facts\n" + " ".join(f"{atom}." for atom in atoms)
    lines = parse_facts(text, name="f")
    assert [line.atom for line in lines] == atoms
    assert [text[line.start : line.end] for line in lines] == [f"{atom}." for atom in atoms]


@given(st.lists(_ATOMS, min_size=1, max_size=4))
def test_plain_and_full_reading_of_facts_agree(atoms: list[Atom]) -> None:
    plain = "\n".join(f"{atom}." for atom in atoms) + "\n"
    full = parse_facts(plain + "%* a block comment is not plain *%", name="f")
    assert parse_facts(plain, name="f") == full


def test_what_is_no_fact_is_rejected_with_all_places() -> None:
    with pytest.raises(PolicyRejected) as caught:
        parse_facts('p(a).\nq(X).\nr :- s.\nclosed(p/1, "s").\nt(1.5).\nu(a', name="f")
    assert [(f.line, f.code) for f in caught.value.findings] == [
        (2, "unsafe"),
        (3, "rule_among_facts"),
        (4, "rule_among_facts"),
        (5, "decimal"),
        (6, "syntax"),
    ]


@given(st.text(max_size=40))
def test_no_text_breaks_the_reader(text: str) -> None:
    for read in (parse_policy, parse_facts):
        with contextlib.suppress(PolicyRejected):
            read(text, name="any")


def test_positive_literals_are_kept_in_order() -> None:
    (clause,) = parse_policy("p(X) :- a(X), b(X), c.", name="x").clauses
    assert [str(x.atom) for x in clause.body if isinstance(x, Positive)] == ["a(X)", "b(X)", "c"]


def test_a_missing_full_stop_is_reported_where_it_belongs() -> None:
    text = """closed(owner/2, "register")  % all of them

low(B) :- height(B, H), H < 3
high(B) :- height(B, H), H >= 3.
"""
    with pytest.raises(PolicyRejected) as rejected:
        parse_policy(text, name="p")
    found = [(one.line, one.column, one.message) for one in rejected.value.findings]
    message = "a full stop is missing after this"
    assert found == [(1, 28, message), (3, 30, message)]


def test_a_missing_full_stop_hides_no_errors_of_the_next_statement() -> None:
    text = """a(X) :- b(X),
  c(X)
%! rule: second
%! cite: here
d(X) :- e(X, f(Y.
g(X) :- h(X
i(X) :- j(X)
k(X) :- "x" < .
"""
    with pytest.raises(PolicyRejected) as rejected:
        parse_policy(text, name="p")
    places = [(one.line, one.column) for one in rejected.value.findings]
    assert places == [(2, 7), (5, 17), (7, 1), (7, 13), (8, 15)]
