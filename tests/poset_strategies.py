"""Small orders for property tests, and the definitions they are checked against."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st

from kb.poset import Poset, poset

LABELS = tuple("abcdefg")


@st.composite
def pairs(draw: st.DrawFn) -> list[tuple[str, str]]:
    """Pairs (lower, upper) without a cycle: along a drawn order of the labels."""
    labels = draw(st.permutations(LABELS[: draw(st.integers(1, len(LABELS)))]))
    possible = [(low, high) for i, low in enumerate(labels) for high in labels[i + 1 :]]
    if not possible:
        return []
    least = draw(st.integers(0, 10))  # else most orders would be sparse
    return draw(st.lists(st.sampled_from(possible), min_size=least, max_size=18))


@st.composite
def posets(draw: st.DrawFn, *, rooted: bool = False) -> Poset:
    """An order on up to seven labels and, if `rooted`, a root above them."""
    size = draw(st.integers(1, len(LABELS)))
    given = [pair for pair in draw(pairs()) if set(pair) <= set(LABELS[:size])]
    if size == len(LABELS) and draw(st.booleans()):  # two layers: where meets are ambiguous
        layers = [(low, high) for low in LABELS[:4] for high in LABELS[4:]]
        given = draw(st.lists(st.sampled_from(layers), min_size=6, max_size=12))
    if rooted:
        given += [(label, "root") for label in LABELS[:size]]
    return poset(given, LABELS[:size])


def reaches(given: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """The reflexive transitive closure of pairs, by saturation."""
    known = set(given)
    known |= {(label, label) for pair in known for label in pair}
    while True:
        fresh = {(a, d) for a, b in known for c, d in known if b == c} - known
        if not fresh:
            return known
        known |= fresh
