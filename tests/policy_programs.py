"""Random stratified programs in the syntax that the policy language and clingo share."""

from __future__ import annotations

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
def programs(draw: st.DrawFn) -> Program:
    """Draw a program whose stored predicates are closed."""
    rules = [draw(_rules(at)) for at in range(len(DERIVED)) for _ in range(draw(st.integers(1, 2)))]
    facts: list[str] = []
    for name, arity in STORED.items():
        rows = draw(
            st.lists(st.tuples(*[st.sampled_from(_CONSTANTS)] * arity), min_size=4, max_size=10)
        )
        facts += [f"{name}({', '.join(row)})." for row in rows]
    goal = draw(_atoms(DERIVED, ("X", "Y", "X", "Y", *_CONSTANTS)))
    return Program("\n".join(rules), "\n".join(facts), goal)
