"""The checker reads facts and policies as the parser does, and computes as the evaluator does."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from policy_programs import CLOSED, Program, programs

from kb.quantity import Date, Quantity
from reasoner import arithmetic, comparison
from reasoner.arithmetic import FUNCTIONS, Undetermined
from reasoner.atom import Constant, Symbol, Variable, render_term
from reasoner.checker.arithmetic import evaluate
from reasoner.checker.format import Rejected
from reasoner.checker.policy import read_policy
from reasoner.checker.rules import Literal, Planned, write_call
from reasoner.checker.sources import read_facts
from reasoner.checker.values import compare, read_value, write_value
from reasoner.clause import Operator
from reasoner.errors import PolicyRejected
from reasoner.magic import Assign, Collect, Step, names_of, order_body
from reasoner.policy import parse_facts, parse_policy
from reasoner.source_text import normalize
from reasoner.trees import clause_tree

FACTS = """\
% a comment with p(1). in it
p(1).p(-2). q("a.b", x) .
-p ( 3 ) . r("say \\"hi\\" \\\\ \\u00e4", @decimal("0.50"),@date("2020-01"))
  .  %* block p(9). *% s. t("x % no comment", @quantity("1.0 kg"), 007).
u("ä😀", "line\\nend", @decimal("2/4")).
"""


def test_facts_are_read_as_the_parser_reads_them() -> None:
    lines = parse_facts(FACTS, name="facts")
    found, places = read_facts(FACTS, "source")
    ours = {write_call(sign, row) for sign, rows in found.by_sign.items() for row in rows}
    assert ours == {str(line.atom) for line in lines}
    assert len(ours) == 8
    spans = {span: write_call(*atom) for span, atom in places.items()}
    assert spans == {(line.start, line.end): str(line.atom) for line in lines}


@pytest.mark.parametrize("text", ["p(X).", "p(1", "p(1) :- q(1).", "p(1.5).", "p(é)."])
def test_what_is_no_fact_is_rejected_with_its_line(text: str) -> None:
    with pytest.raises(Rejected, match="line 2 is no fact") as caught:
        read_facts(f"a(1).\n{text}", "source")
    assert caught.value.rejection == "SOURCE_MISMATCH"


POLICY = """\
%! policy: everything
%! version: "3"
%! effective: 2026-01-01/..

closed(p/2, "one"). closed(q/1, two). functional(seat). disjoint("a b", c).
precedence("register", "letter").

%! rule: first:rule(a)
%! cite: 'It''s 4.2'
%! says: "{X} \\u00e4 \\"q\\""
a(X, Y) :- p(X, _), not q(_), Y = (X + 1) * 2 - -3 / (4 - X), -r(X), X != "s". % tail
b :- #count{ V, W : p(V, W), not q(W), V < 3 } >= 2; c.
c :- 3 = #sum{ V : p(V, _) }, max(1, 2) == 2, X = abs(-5).
d(@date("2020"), #inf, "\\n") :- %* inside *% c,
    #min{ V : p(V, _) } < #sup.
%! rule:   plain
%! says: two words
a(X, Y) :- a(Y, X).
a(1, -2).
"""


def test_policies_are_read_as_the_parser_reads_them() -> None:
    policy = parse_policy(POLICY, name="policy")
    found = read_policy(normalize(POLICY))
    assert (found.id, found.version, found.effective) == ("everything", "3", "2026-01-01/..")
    assert [clause.id for clause in policy.clauses] == list(found.rules)
    for clause in policy.clauses:
        rule = found.rules[clause.id]
        assert rule.tree == clause_tree(clause)
        assert (rule.text, rule.cite, rule.says) == (clause.text, clause.cite, clause.says)
    assert found.closed == {"p/2": "one", "q/1": "two"}
    assert found.functional == {"seat"}
    assert found.disjoint == {("a b", "c")}


BETWEEN = st.lists(
    st.sampled_from(
        [
            *(" ", "\n", "\t", "\f", "% p(9).\n", '% a "quote\n', "%* p(9). *%", "%\n"),
            *('%* "not closed *%', "%* one %* two *% \n three *%", "%*% p. *%"),
        ]
    ),
    max_size=3,
).map("".join)
FACT_TOKENS = ["-", "p", "(", "1", ",", '"a % \\" %* b"', ",", "-", "2", ")", "."]
RULE_TOKENS = [
    *("h", "(", "X", ")", ":-", "p", "(", "X", ",", "_", ")", ",", "not", "q", "(", "_", ")", ","),
    *("Y", "=", "#sum", "{", "A", ":", "p", "(", "A", ",", "_", ")", "}", ",", "Y"),
    *(">=", "-", "(", "X", "*", "2", "-", "3", ")", "/", "4", ";", "r", "(", '"% no"', ")", "."),
]


def scattered(data: st.DataObject, tokens: Sequence[str]) -> str:
    """Write tokens with blanks and comments between them; minus signs may touch their numbers."""
    places = {at for at in range(len(tokens)) if data.draw(st.integers(0, 3)) == 0}
    between = [data.draw(BETWEEN) if at in places else " " for at in range(len(tokens))]
    return "".join(token + gap for token, gap in zip(tokens, between, strict=True))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_comments_between_facts_and_in_them_are_read_as_the_parser_reads_them(
    data: st.DataObject,
) -> None:
    text = data.draw(BETWEEN) + scattered(data, FACT_TOKENS * 2)
    lines = parse_facts(text, name="facts")
    found = read_facts(text, "source").places
    spans = {span: write_call(*atom) for span, atom in found.items()}
    assert spans == {(line.start, line.end): str(line.atom) for line in lines}
    assert len(spans) == 2


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_comments_and_metadata_of_policies_are_read_as_the_parser_reads_them(
    data: st.DataObject,
) -> None:
    keys = st.sampled_from(
        ["cite: A 1", 'says: "it \\u00e4"', "cite: 'it''s'", "says:  two  words"]
    )
    blocks = [
        [f"rule: r{number}", *data.draw(st.lists(keys, unique_by=lambda key: key[:4], max_size=2))]
        for number in range(2)
    ]
    first, second = ("".join(f"%! {line}\n" for line in block) for block in blocks)
    text = f"closed(p/2, one). closed(q/1, one).\n\n{first}{scattered(data, RULE_TOKENS)}"
    text += f"\n{second}{scattered(data, ['g', '.'])}"
    policy = parse_policy(text, name="policy")
    found = read_policy(normalize(text))
    assert list(found.rules) == [clause.id for clause in policy.clauses]
    for clause in policy.clauses:
        rule = found.rules[clause.id]
        assert (rule.text, rule.tree) == (clause.text, clause_tree(clause))
        assert rule.cite in (None, clause.cite)
        assert rule.says in (None, clause.says)


DAYS = st.dates(datetime.date(1890, 1, 1), datetime.date(2110, 12, 31))
DATES = st.one_of(
    DAYS.map(lambda day: Date(day, day)),
    st.integers(1900, 2100).map(
        lambda year: Date(datetime.date(year, 1, 1), datetime.date(year, 12, 31))
    ),
    st.tuples(DAYS, DAYS).map(lambda pair: Date(min(pair), max(pair))),
)
NUMBERS = st.one_of(st.integers(-40, 40).map(Fraction), st.fractions(-50, 50, max_denominator=12))
UNITS = st.sampled_from(["EUR", "USD", "kg", "g", "t", "m", "degC", "K", "percent"])
VALUES: st.SearchStrategy[Constant] = st.one_of(
    NUMBERS,
    DATES,
    st.builds(Quantity, NUMBERS, UNITS),
    st.text(max_size=4).filter(lambda text: text.isprintable()),
    st.sampled_from([Symbol("a"), Symbol("b"), Symbol("#inf"), Symbol("#sup")]),
)


@settings(max_examples=600, deadline=None)
@given(st.sampled_from(list(Operator)), VALUES, VALUES)
def test_comparisons_agree(operator: Operator, left: Constant, right: Constant) -> None:
    ours = compare(operator.value, read_value(render_term(left)), read_value(render_term(right)))
    assert ours == comparison.compare(operator, left, right).value


NAMES = sorted({name for name, _ in arithmetic.OPERATIONS} | set(FUNCTIONS))


@settings(max_examples=1500, deadline=None)
@given(st.sampled_from(NAMES), st.lists(VALUES, min_size=1, max_size=3))
def test_functions_agree(name: str, values: list[Constant]) -> None:
    count = len(values)
    operation = (name, count) in arithmetic.OPERATIONS
    if not operation and not (name in FUNCTIONS and in_arity(name, count)):
        return
    theirs = arithmetic.apply(name, values)
    tree = {"operation": name, "arguments": [{"variable": f"V{n}"} for n in range(count)]}
    ours = evaluate(tree, {f"V{n}": render_term(value) for n, value in enumerate(values)})
    if isinstance(theirs, Undetermined):
        assert ours is None, (name, values)
    else:
        assert ours is not None, (name, values)
        assert write_value(ours) == render_term(theirs)


def in_arity(name: str, count: int) -> bool:
    """Whether a function takes so many arguments."""
    least, most = FUNCTIONS[name].arity
    return least <= count <= most


@settings(max_examples=300, deadline=None)
@given(VALUES)
def test_terms_have_one_form(value: Constant) -> None:
    term = render_term(value)
    assert write_value(read_value(term)) == term


@pytest.mark.parametrize(
    "term", ["", "X", '"a', '@decimal("x")', "1.5", "p(1)", '"a" "b"', '@date("2020-13")', "#nan"]
)
def test_other_texts_are_no_terms(term: str) -> None:
    with pytest.raises(ValueError, match=r".*"):
        read_value(term)


def shown(step: Step) -> tuple[int, str, tuple[tuple[int, str], ...]]:
    """Give the place of a planned literal in its body, what it assigns, and what it holds."""
    match step:
        case Assign():
            return step.index, step.variable.name, ()
        case Collect():
            name = step.assigned.name if step.assigned is not None else ""
            return step.index, name, tuple(shown(inner)[:2] for inner in step.steps)
    return step.index, "", ()


def placed(planned: Planned, body: Sequence[Literal]) -> tuple[int, str, tuple[Any, ...]]:
    """Give the same of the checker's plan."""
    inner = tuple(placed(item, planned.literal.conditions)[:2] for item in planned.inner)
    return next(i for i, item in enumerate(body) if item is planned.literal), planned.assigns, inner


@settings(max_examples=400, deadline=None)
@given(programs(), st.data())
def test_bodies_are_walked_in_the_order_of_the_engine(
    program: Program, data: st.DataObject
) -> None:
    """The witness lists the calls that this order makes, so both must agree on it."""
    extra = """w(X, S) :- f(X, Y), S = #sum{ A, B : g(A, B), A > X, not e(A) }, Z = X + 1, g(Z, Y).
        u(X) :- under(X, "a"), f(_, X), valid_on(D), years(D, D) = N, N < 3, f("k", X)."""
    try:
        policy = parse_policy(f"{CLOSED}{program.rules}\n{extra}", name="random")
    except PolicyRejected:
        return
    read = read_policy(normalize(policy.text))
    for clause in policy.clauses:
        rule = read.rules[clause.id]
        arity = len(clause.head.arguments)
        positions = data.draw(st.sets(st.integers(0, arity - 1))) if arity else set()
        names = {
            argument.name
            for at, argument in enumerate(clause.head.arguments)
            if at in positions and isinstance(argument, Variable)
        }
        theirs = order_body(clause.body, set(names), outer=frozenset(names_of(clause.head)))
        ours = rule.plan(names)
        assert [placed(item, rule.body) for item in ours] == [shown(step) for step in theirs]
