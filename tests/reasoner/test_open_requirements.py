"""What an abstention lists: the closest rule first, whatever the order of rules and facts."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reasoner.atom import Atom, Variable
from reasoner.decide import Decision, Request, decide
from reasoner.inquiry import Inquiry
from reasoner.missing import Missing
from reasoner.openness import Openness
from reasoner.policy import parse_atom, parse_policy
from reasoner.run import UNLIMITED
from reasoner.sources import facts_file_sources
from reasoner.verdict import AbstentionCode, Verdict

QUIET = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def decided(rules: str, facts: str, goal: str) -> Decision:
    base, sources = facts_file_sources(("facts.lp", facts))
    policy = parse_policy(rules, name="rules")
    return decide(Request(parse_atom(goal), None), policy=policy, facts=base, sources=sources)


def closest(rules: str, facts: str, goal: str) -> tuple[int, tuple[Missing, ...]]:
    """Give the cost of the closest rule, and what it lacks."""
    base, sources = facts_file_sources(("facts.lp", facts))
    atom = parse_atom(goal)
    policy = parse_policy(rules, name="rules")
    inquiry = Inquiry(atom, policy, base, sources, None, "linear", UNLIMITED)
    ranked = Openness(inquiry, inquiry.slice(atom)).ranked(atom)
    way = ranked.of_rules(goal)[0]
    cost = ranked.cost(way)
    assert cost is not None, "the closest rule can fire"
    return cost[2], ranked.spread(way)[0]


# ------------------------------------------------------------ propositional programs

DERIVED = ("p", "q", "r", "s", "t")
STORED = ("a", "b", "c", "d", "e")


@dataclass(frozen=True)
class Horn:
    """Rules without variables as (head, body), and what is stated."""

    rules: tuple[tuple[str, tuple[str, ...]], ...]
    stated: frozenset[str]

    def text(self, order: list[int]) -> str:
        """Write the rules in an order; each is named by what it says."""
        written = []
        for at in order:
            head, body = self.rules[at]
            written.append(f"%! rule: {head}_{''.join(body)}\n{head} :- {', '.join(body)}.")
        return "\n".join(written)

    def facts(self, order: list[str]) -> str:
        """Write the facts in an order."""
        return "\n".join(f"{name}." for name in order)


@st.composite
def horn_programs(draw: st.DrawFn) -> Horn:
    body = st.lists(st.sampled_from((*DERIVED, *STORED)), min_size=1, max_size=3, unique=True).map(
        lambda names: tuple(sorted(names))
    )
    rules = draw(
        st.lists(st.tuples(st.sampled_from(DERIVED), body), min_size=1, max_size=9, unique=True)
    )
    return Horn(tuple(rules), draw(st.frozensets(st.sampled_from(STORED), max_size=3)))


def least_costs(program: Horn) -> dict[str, int]:
    """Give what each atom costs, by rounds over all rules until nothing changes."""
    ruled = {head for head, _ in program.rules}
    unruled = [name for name in (*STORED, *DERIVED) if name not in ruled]
    costs = {name: 0 if name in program.stated else 1 for name in unruled}
    changed = True
    while changed:
        changed = False
        for head, body in program.rules:
            if all(name in costs for name in body):
                cost = sum(costs[name] for name in body)
                if cost < costs.get(head, cost + 1):
                    costs[head], changed = cost, True
    return costs


@given(horn_programs())
@QUIET
def test_the_closest_rule_lacks_the_least_of_all(program: Horn) -> None:
    costs = least_costs(program)
    if not costs.get("p") or all(head != "p" for head, _ in program.rules):
        return  # it holds, is stored, or no facts of what is stored can make it hold
    rules = program.text(list(range(len(program.rules))))
    facts = program.facts(sorted(program.stated)) or "other."
    cost, missing = closest(rules, facts, "p")
    assert cost == costs["p"]
    assert "p" not in {str(item.atom) for item in missing}
    added = "\n".join(f"{item.atom}." for item in missing)
    assert decided(rules, f"{facts}\n{added}", "p").verdict is Verdict.CERTIFIED


@given(horn_programs(), st.data())
@QUIET
def test_no_order_of_rules_or_facts_matters(program: Horn, data: st.DataObject) -> None:
    stated = sorted(program.stated)
    order = data.draw(st.permutations(range(len(program.rules))))
    turned = data.draw(st.permutations(stated))
    first = (
        decided(
            program.text(list(range(len(program.rules)))), program.facts(stated) or "other.", "p"
        )
        if any(head == "p" for head, _ in program.rules)
        else None
    )
    if first is None:
        return
    second = decided(program.text(list(order)), program.facts(list(turned)) or "other.", "p")
    assert first.open == second.open
    listed = [item.atom for item in first.open]
    assert "p" not in listed or listed == ["p"]


# ------------------------------------------------------------ programs with variables

UNARY = ("e", "h", "k")
CHAINED = ("p", "q", "r")
CONSTANTS = ("x", "y", "z")


@st.composite
def chained_rules(draw: st.DrawFn) -> str:
    """Draw a rule of which at most one further atom reads the variable that is not given."""
    head = draw(st.sampled_from(CHAINED))
    names = draw(st.lists(st.sampled_from((*UNARY, *CHAINED)), max_size=2, unique=True))
    body = [f"{name}(X)" for name in names]
    if draw(st.booleans()) or not body:
        body += ["f(X, Y)", f"{draw(st.sampled_from((*UNARY, *CHAINED)))}(Y)"]
    return f"{head}(X) :- {', '.join(body)}."


@st.composite
def chained_facts(draw: st.DrawFn) -> str:
    names = st.sampled_from(CONSTANTS)
    rows = draw(st.lists(st.tuples(st.sampled_from(UNARY), names), max_size=5))
    pairs = draw(st.lists(st.tuples(names, names), max_size=4))
    facts = [f"{name}({at})." for name, at in rows] + [f"f({a}, {b})." for a, b in pairs]
    return "\n".join(["other.", *facts])


def bindings(missing: tuple[Missing, ...]) -> list[str]:
    """Give every way to bind what is open in atoms, each atom for itself."""
    ways: list[list[str]] = []
    for item in missing:
        free = [a for a in item.atom.arguments if isinstance(a, Variable)]
        filled = []
        for values in itertools.product((*CONSTANTS, "new"), repeat=len(free)):
            known = dict(zip(free, map(parse_atom, values), strict=True))
            arguments = [
                known[a].predicate if isinstance(a, Variable) else str(Atom("v", (a,)))[2:-1]
                for a in item.atom.arguments
            ]
            filled.append(f"{item.atom.predicate}({', '.join(arguments)}).")
        ways.append(filled)
    return ["\n".join(way) for way in itertools.product(*ways)]


@given(
    st.lists(chained_rules(), min_size=1, max_size=6, unique=True),
    chained_facts(),
)
@QUIET
def test_what_the_closest_rule_lacks_closes_the_goal(rules: list[str], facts: str) -> None:
    text = "\n".join(rules)
    if not any(rule.startswith("p(") for rule in rules):
        return
    if decided(text, facts, "p(x)").verdict is Verdict.CERTIFIED:
        return
    _, missing = closest(text, facts, "p(x)")
    assert missing
    if len(missing) > 4 or any(item.detail for item in missing):
        return  # too many to try, or another value is asked for, whatever it may be
    assert any(
        decided(text, f"{facts}\n{added}", "p(x)").verdict is Verdict.CERTIFIED
        for added in bindings(missing)
    )


# ------------------------------------------------------------ single cases


def test_the_rule_that_needs_less_comes_first_through_recursion() -> None:
    rules = """
    reach(X, Y) :- reach(X, Z), edge(Z, Y).
    reach(X, Y) :- edge(X, Y).
    """
    decision = decided(rules, "edge(a, b).", "reach(a, c)")
    listed = [item.atom for item in decision.open]
    assert listed[0] == "edge(a, c)"
    assert set(listed) == {"edge(a, c)", "edge(b, c)"}
    swapped = "\n".join(reversed(rules.strip().splitlines()))
    again = decided(swapped, "edge(a, b).", "reach(a, c)")
    assert [item.atom for item in again.open] == listed


def test_rules_that_only_turn_in_a_circle_ask_for_one_of_their_atoms() -> None:
    decision = decided("p :- q.\nq :- p.\n", "other.", "p")
    assert [item.atom for item in decision.open] == ["q"]


def test_what_should_not_hold_is_no_gap_and_comes_with_its_proof() -> None:
    rules = """
    closed(listed/1, "facts").
    clear(X) :- supplier(X), not listed(X).
    """
    decision = decided(rules, 'supplier("A"). listed("A").', 'clear("A")')
    (item,) = decision.open
    assert item.code is AbstentionCode.EXCLUDED
    assert decision.code is AbstentionCode.EXCLUDED
    assert (item.atom, item.query, item.expected) == ('not listed("A")', "", "absence")
    assert 'listed("A") holds' in item.detail
    assert b'"answers":[{"atom":"listed(\\"A\\")","step":"s1"}]' in decision.certificate


def test_a_rule_that_only_lacks_facts_is_closer_than_one_that_is_excluded() -> None:
    rules = """
    closed(listed/1, "facts").
    clear(X) :- not listed(X), supplier(X).
    clear(X) :- waiver(X), signed(X), filed(X).
    """
    decision = decided(rules, 'supplier("A"). listed("A").', 'clear("A")')
    assert [item.atom for item in decision.open] == [
        'waiver("A")',
        'signed("A")',
        'filed("A")',
        'not listed("A")',
    ]
    assert decision.code is AbstentionCode.GAP_IN_CORPUS


@pytest.mark.parametrize("asked", ["Schlei", "Ostsee"])
def test_the_order_of_classes_is_no_gap(asked: str) -> None:
    rules = "near(X, C) :- lies_at(X, V), under(V, C).\n"
    facts = """
    lies_at("Kiel", "Foerde"). subclass_of("Foerde", "Kueste"). subclass_of("Schlei", "Kueste").
    """
    decision = decided(rules, facts, f'near("Kiel", "{asked}")')
    (item,) = decision.open
    assert item.atom == 'lies_at("Kiel", V)'
    reason = '"Foerde" does not lie under' if asked == "Schlei" else "no taxonomy holds"
    assert reason in item.detail


def test_a_class_refused_by_a_called_rule_asks_the_caller_for_another() -> None:
    rules = """
    accepted(C) :- under(C, "Union").
    fit(S) :- seat(S, C), accepted(C).
    """
    facts = 'seat("A", "Peru"). subclass_of("Peru", "World"). subclass_of("Union", "World").'
    decision = decided(rules, facts, 'fit("A")')
    assert decision.open[0].atom == 'seat("A", C)'
    assert not any(item.atom.startswith("under(") for item in decision.open)
    moved = decided(rules, facts + ' seat("A", "Union").', 'fit("A")')
    assert moved.verdict is Verdict.CERTIFIED


def test_the_absence_of_what_has_no_value_yet_is_not_what_is_missing() -> None:
    """Another value of what is missing would do, whatever rows there are."""
    rules = 'closed(e/2, "case").\nclosed(f/2, "case").\np(X) :- not e(Y, Y), f(Y, X).\n'
    for facts in ("e(b, 4).", "e(b, b)."):
        decision = decided(rules, facts, "p(a)")
        assert {item.atom for item in decision.open} == {"f(Y, a)"}


def test_a_row_that_fits_is_found_behind_many_that_do_not() -> None:
    rules = "p(X) :- e(Y, Y), f(X)."
    facts = "\n".join(f"e({n}, 0)." for n in range(1, 20))
    decision = decided(rules, f"{facts}\ne(z, z).", "p(a)")
    assert {item.atom for item in decision.open} == {"f(a)"}


ANOTHER_WOULD_DO = {
    "no row has one value at both places": (
        """
        p(N, N, W) :- N = #count{ B : e(B, W) }, f(W, W).
        q(Y, Y, X) :- p(Y, X, Y), e(X, X).
        r(W, U, X) :- s(W, Z), f(U, U), -r(Z, X, Y), q(Z, U, X).
        -r(X, Y, X) :- h(X, Z), r(Y, b, Z), t(Z, Z).
        """,
        "f(c, d). e(a, b).",
        "-r(X, b, b)",
        "e(B, b)",
    ),
    "the aggregate is about what only a caller gives": (
        """
        p(Y) :- 0 = #count{ A, B : e(A, B, Y) }, f(X, Y, 2).
        q(Z) :- -r(a, a, X), g(Z).
        q(X) :- s(X, X, Y), not p(_).
        -r(Y, Y, c) :- Y = 2, p(Y).
        """,
        "e(1, 3, a).",
        "q(Y)",
        "e(A, B, a)",
    ),
    "other rows are of another call": (
        """
        p(U) :- h(X, U), h(Y, _), not k(_, Y, 1), k(X, Z, X).
        q(Z, Z, Z) :- h(Z, _), 0 = #count{ A, B : e(A, B, Z), not p(A) }.
        r(W, Z) :- q(X, W, Z).
        s(1, X) :- p(X), r(a, X).
        """,
        "e(a, 2, a). h(2, b).",
        "s(X, a)",
        "e(A, B, a)",
    ),
    "only the call that was made has no row": (
        """
        p(1) :- g(a).
        r(Y, b, Y) :- p(Y).
        r(Z, W, Y) :- r(Y, Y, X), not p(_), r(W, Z, b), e(Z, Y).
        r(Y, Z, X) :- not p(Y), e(W, Y), r(Z, W, X).
        s(X) :- r(a, X, X), not r(_, _, _), h(a, X).
        """,
        "g(a). e(b, 1).",
        "s(1)",
        "e(W, 1)",
    ),
}


@pytest.mark.parametrize("case", ANOTHER_WOULD_DO)
def test_what_is_answered_stays_open_where_its_answers_are_of_no_use(case: str) -> None:
    rules, facts, goal, answered = ANOTHER_WOULD_DO[case]
    closed = "".join(
        f'closed({name}, "case").' for name in ("e/2", "e/3", "f/3", "g/1", "h/2", "k/3")
    )
    decision = decided(closed + rules, facts, goal)  # our checker has accepted it
    assert decision.verdict is Verdict.ABSTAINED
    assert answered in {item.atom for item in decision.open}
