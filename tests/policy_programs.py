"""Random stratified programs in the syntax that the policy language and clingo share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st

STORED = {"e": 1, "f": 2, "g": 2}
DERIVED = {"p": 1, "q": 2, "r": 2, "s": 1, "t": 2}
"""In order of strata: negation and aggregates read earlier ones only."""

CLOSED = "".join(f'closed({name}/{arity}, "case").\n' for name, arity in STORED.items())
_VARIABLES = ("X", "Y", "Z")
_CONSTANTS = ("1", "2", "3", "a")


@dataclass(frozen=True)
class Program:
    """Rules and facts as text, and a goal."""

    rules: str
    facts: str
    goal: str


@st.composite
def _atoms(draw: st.DrawFn, names: dict[str, int], terms: tuple[str, ...]) -> str:
    name = draw(st.sampled_from(sorted(names)))
    arguments = [draw(st.sampled_from(terms)) for _ in range(names[name])]
    return f"{name}({', '.join(arguments)})"


def _used(literals: list[str]) -> list[str]:
    return [v for v in _VARIABLES if any(v in literal for literal in literals)]


@st.composite
def _rules(draw: st.DrawFn, at: int) -> str:
    names = list(DERIVED)
    head = names[at]
    below = STORED | {name: DERIVED[name] for name in names[:at]}
    # Positive atoms may be recursive within the stratum.
    positive = below | {head: DERIVED[head]}
    terms = (*_VARIABLES * 3, "_", draw(st.sampled_from(_CONSTANTS)))
    body = [draw(_atoms(below, terms)), *draw(st.lists(_atoms(positive, terms), max_size=2))]
    known = _used(body)
    if known:
        some = st.sampled_from(known)
        if draw(st.integers(0, 2)) == 0:
            ground = (*known, "_", "1", "a")
            body.append("not " + draw(_atoms(below, ground)))
        if draw(st.integers(0, 2)) == 0:
            operator = draw(st.sampled_from(["!=", "!=", "="]))
            body.append(f"{draw(some)} {operator} {draw(st.sampled_from((*known, '2', 'a')))}")
        if draw(st.integers(0, 4)) == 0:
            name = draw(st.sampled_from(["f", "g"]))
            group = draw(some)
            body.append(f"#count{{ V, W : {name}(V, W), V != {group} }} >= 2")
    at_place = draw(st.permutations(range(len(body))))
    body = [body[place] for place in at_place]
    arguments = [draw(st.sampled_from((*known * 3, *_CONSTANTS))) for _ in range(DERIVED[head])]
    return f"{head}({', '.join(arguments)}) :- {', '.join(body)}."


@st.composite
def _numeric_rules(draw: st.DrawFn, at: int) -> str:
    """Draw a rule that computes and orders; not recursive, since it creates values."""
    names = list(DERIVED)
    head = names[at]
    below = STORED | {name: DERIVED[name] for name in names[:at]}
    body = draw(st.lists(_atoms(below, (*_VARIABLES * 3, "_", "2")), min_size=1, max_size=2))
    known = _used(body)
    if known:
        some = st.sampled_from((*known, "2"))
        a, b, c = draw(some), draw(some), draw(some)
        more = (
            f"{a} < {b}",
            f"{a} >= {b} + 1",
            f"N = {a} * {b} - {c}",
            f"N = #sum{{ V, W : f(V, W), W >= {a} }}",
            "N = #count{ V, W : g(V, W), not e(V) }",
            f"N = #max{{ V : f(V, {a}) }}",
            f"{a} <= #min{{ W : g({b}, W) }}",
            f"#sum{{ V : e(V) }} = {a}",
        )
        body.append(draw(st.sampled_from(more)))
        if body[-1].startswith("N ="):
            known = [*known, "N", "N"]
    arguments = [draw(st.sampled_from((*known * 3, "1", "2"))) for _ in range(DERIVED[head])]
    return f"{head}({', '.join(arguments)}) :- {', '.join(body)}."


@st.composite
def _facts(draw: st.DrawFn, constants: tuple[str, ...]) -> str:
    facts: list[str] = []
    for name, arity in STORED.items():
        row = st.tuples(*[st.sampled_from(constants)] * arity)
        rows = draw(st.lists(row, min_size=4, max_size=10))
        facts += [f"{name}({', '.join(row)})." for row in rows]
    return "\n".join(facts)


@st.composite
def _programs(
    draw: st.DrawFn, rules: Callable[[int], st.SearchStrategy[str]], constants: tuple[str, ...]
) -> Program:
    strata = [at for at in range(len(DERIVED)) for _ in range(draw(st.integers(1, 2)))]
    text = "\n".join(draw(rules(at)) for at in strata)
    goal = draw(_atoms(DERIVED, ("X", "Y", "X", "Y", *constants)))
    return Program(text, draw(_facts(constants)), goal)


def programs() -> st.SearchStrategy[Program]:
    """Give programs whose stored predicates are closed: recursion, negation, counts."""
    return _programs(_rules, _CONSTANTS)


def numeric_programs() -> st.SearchStrategy[Program]:
    """Give programs over small integers, with arithmetic, order and aggregates."""
    return _programs(_numeric_rules, ("1", "2", "3", "-4"))


_MONEY = st.builds(
    '@quantity("{} {}")'.format, st.integers(1, 3), st.sampled_from(["EUR", "EUR", "USD"])
)
_ORDERS = st.sampled_from(["<", "<=", ">", ">=", "=", "!="])
_STRATA = ("p", "q", "r", "s")


@st.composite
def _doubtful_rules(draw: st.DrawFn, at: int) -> str:
    """Draw a rule over things of value; values are compared and summed, never joined."""
    below = st.sampled_from(("e", *_STRATA[:at]))
    body = [draw(st.sampled_from([f"{draw(below)}(X)", "f(X, Y)"]))]
    kind = draw(st.integers(0, 8 if at else 5))
    if kind == 0:
        body += ["v(X, A)", f"A {draw(_ORDERS)} {draw(_MONEY)}"]
    elif kind == 1:
        body += ["v(X, A)", "f(X, Z)", "v(Z, B)", f"A {draw(_ORDERS)} B"]
    elif kind == 2:
        body += [f"#count{{ Z : {draw(below)}(Z) }} {draw(_ORDERS)} {draw(st.integers(0, 3))}"]
    elif kind == 3:
        body += [f"#sum{{ A, Z : v(Z, A), {draw(below)}(Z) }} {draw(_ORDERS)} {draw(_MONEY)}"]
    elif kind == 4:
        body += [
            f"T = #max{{ A : v(Z, A), {draw(below)}(Z) }}",
            f"T {draw(_ORDERS)} {draw(_MONEY)}",
        ]
    elif kind == 6:
        body += ["t(X, T)", f"T {draw(_ORDERS)} {draw(_MONEY)}"]
    elif kind == 7:
        body += [f"#sum{{ T, Z : t(Z, T), {draw(below)}(Z) }} {draw(_ORDERS)} {draw(_MONEY)}"]
    elif kind == 8:
        body += ["not t(X, _)"]
    if at and draw(st.booleans()):
        body.append(f"not {draw(below)}(X)")
    return f"{_STRATA[at]}(X) :- {', '.join(body)}."


@st.composite
def doubtful_programs(draw: st.DrawFn) -> Program:
    """Draw a program whose amounts in dollars do not compare with those in euros."""
    strata = [at for at in range(len(_STRATA)) for _ in range(draw(st.integers(1, 2)))]
    rules = "\n".join(draw(_doubtful_rules(at)) for at in strata)
    more = draw(st.sampled_from(["", ", p(X)", ", not p(Y)"]))
    rules += f"\nt(X, T) :- f(X, Y), v(X, A), v(Y, B), T = A + B{more}."
    things = ("a", "b", "c")
    facts = [f"e({thing})." for thing in things]
    facts += [f"v({thing}, {draw(_MONEY)})." for thing in things]
    pairs = st.tuples(st.sampled_from(things), st.sampled_from(things))
    facts += [f"f({x}, {y})." for x, y in draw(st.lists(pairs, max_size=4))]
    return Program(rules, "\n".join(facts), f"{draw(st.sampled_from(_STRATA))}(X)")


DOUBTFUL_CLOSED = 'closed(e/1, "case").\nclosed(f/2, "case").\nclosed(v/2, "case").\n'
