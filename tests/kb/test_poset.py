"""Order, meet and join, against their definitions."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from poset_strategies import LABELS, pairs, posets, reaches

from kb.antichain import width
from kb.completion import Completion, Shape, complete, distributivity_witness
from kb.errors import DimensionRejected, NotFound
from kb.poset import Poset, cycles, poset


@given(pairs())
def test_the_order_is_the_closure_of_its_pairs(given_pairs: list[tuple[str, str]]) -> None:
    order = poset(given_pairs)
    closure = reaches(given_pairs)
    for low, high in product(order.elements, repeat=2):
        assert order.leq(low, high) == (low == high or (low, high) in closure)


@given(pairs(), st.randoms())
def test_the_same_order_is_equal_however_written(
    given_pairs: list[tuple[str, str]], random: object
) -> None:
    order = poset(given_pairs)
    closure = sorted(reaches(given_pairs))
    random.shuffle(closure)  # type: ignore[attr-defined]  # hypothesis types it as object
    assert poset(closure) == order
    assert hash(poset(closure)) == hash(order)


@given(posets(), st.data())
def test_meet_and_join_are_the_extremal_common_bounds(order: Poset, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(order.elements), max_size=3))
    lower = [e for e in order.elements if all(order.leq(e, c) for c in chosen)]
    upper = [e for e in order.elements if all(order.leq(c, e) for c in chosen)]
    assert order.meet(chosen) == tuple(
        e for e in lower if not any(e != other and order.leq(e, other) for other in lower)
    )
    assert order.join(chosen) == tuple(
        e for e in upper if not any(e != other and order.leq(other, e) for other in upper)
    )


@given(posets())
def test_ambiguous_pairs_are_those_with_several_meets(order: Poset) -> None:
    expected = tuple(
        (left, right, order.meet([left, right]))
        for left, right in combinations(order.elements, 2)
        if len(order.meet([left, right])) > 1
    )
    assert order.ambiguous_pairs() == expected


@given(posets())
def test_paths_run_through_covers(order: Poset) -> None:
    for low, high in product(order.elements, repeat=2):
        path = order.path(low, high)
        assert bool(path) == order.leq(low, high)
        if path:
            assert (path[0], path[-1]) == (low, high)
            assert set(pairwise(path)) <= set(order.covers)


@given(posets())
def test_family_is_what_the_order_says(order: Poset) -> None:
    for element in order.elements:
        below = [e for e in order.elements if order.leq(e, element)]
        assert list(order.descendants(element)) == below
        assert list(order.children(element)) == list(
            order.maximal([e for e in below if e != element])
        )
        assert element in order.ancestors(element)
        assert all(order.leq(element, parent) for parent in order.parents(element))
    assert order.is_antichain(order.maximal())
    assert order.is_antichain(order.minimal())


@given(st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), max_size=12))
def test_cycles_are_the_groups_that_reach_each_other(given_pairs: list[tuple[str, str]]) -> None:
    closure = reaches(given_pairs)
    groups = {
        tuple(sorted(b for b in LABELS if (a, b) in closure and (b, a) in closure)) for a in LABELS
    }
    expected = tuple(sorted(group for group in groups if len(group) > 1))
    assert cycles(given_pairs) == expected
    if expected:
        with pytest.raises(DimensionRejected, match="cycle"):
            poset(given_pairs)


def test_a_poset_is_kept_by_its_covers_alone() -> None:
    with pytest.raises(DimensionRejected, match="implied"):
        Poset(("a", "b", "c"), (("a", "b"), ("a", "c"), ("b", "c")))
    with pytest.raises(DimensionRejected, match="cycle"):
        Poset(("a", "b"), (("a", "b"), ("b", "a")))
    with pytest.raises(DimensionRejected, match="sorted"):
        Poset(("b", "a"), ())
    with pytest.raises(DimensionRejected, match="names no element"):
        Poset(("a",), (("a", "b"),))


def test_an_unknown_element_is_told_with_the_nearest() -> None:
    with pytest.raises(NotFound, match="'marine'"):
        poset([("marine", "insurance")]).ancestors("marin")


def test_a_deep_chain_needs_no_recursion() -> None:
    chain = [f"{i:05}" for i in range(3000)]
    given_pairs = list(pairwise(chain))
    order = poset(given_pairs)
    assert order.leq(chain[0], chain[-1])
    assert order.path(chain[0], chain[-1]) == tuple(chain)
    assert cycles([*given_pairs, (chain[-1], chain[0])]) == (tuple(chain),)


def _is_lattice(order: Poset) -> bool:
    return all(
        len(order.meet(pair)) == len(order.join(pair)) == 1
        for pair in product(order.elements, repeat=2)
    )


@given(posets())
def test_the_completion_is_the_lattice_of_all_cuts(order: Poset) -> None:
    completion = complete(order)
    lattice = completion.lattice
    assert _is_lattice(lattice)
    for low, high in product(order.elements, repeat=2):
        assert lattice.leq(low, high) == order.leq(low, high)
    cuts = set()
    for size in range(len(order) + 1):
        for chosen in combinations(order.elements, size):
            upper = [e for e in order.elements if all(order.leq(c, e) for c in chosen)]
            cuts.add(tuple(e for e in order.elements if all(order.leq(e, u) for u in upper)))
    assert len(lattice) == len(cuts)
    extents = {tuple(e for e in lattice.descendants(x) if e in order) for x in lattice.elements}
    assert extents == cuts
    assert set(completion.artificial) == set(lattice.elements) - set(order.elements)


@given(posets())
def test_completion_keeps_meets_and_joins_that_exist(order: Poset) -> None:
    lattice = complete(order).lattice
    for pair in combinations(order.elements, 2):
        lower = order.meet(pair)
        if len(lower) == 1 and order.maximal(lower) == lower:
            common = [e for e in order.elements if all(order.leq(e, p) for p in pair)]
            if all(order.leq(e, lower[0]) for e in common):
                assert lattice.meet(pair) == lower


def _meet(lattice: Poset, *elements: str) -> str:
    [found] = lattice.meet(elements)
    return found


def _join(lattice: Poset, *elements: str) -> str:
    [found] = lattice.join(elements)
    return found


def _distributes(completion: Completion) -> bool:
    lattice = completion.lattice
    for x, y, z in product(lattice.elements, repeat=3):
        low = _meet(lattice, x, y, z)
        if low == completion.bottom:
            continue
        if _meet(lattice, x, _join(lattice, y, z)) != _join(
            lattice, _meet(lattice, x, y), _meet(lattice, x, z)
        ):
            return False
    return True


@given(posets(rooted=True))
def test_a_lattice_is_distributive_unless_there_is_a_witness(order: Poset) -> None:
    completion = complete(order)
    witness = distributivity_witness(completion)
    assert (witness is None) == _distributes(completion)
    if witness is None:
        return
    lattice = completion.lattice
    assert completion.bottom not in (witness.bottom, *witness.middle, witness.top)
    a, b, c = witness.middle
    assert len({witness.bottom, a, b, c, witness.top}) == 5
    if witness.shape is Shape.M3:
        for left, right in combinations(witness.middle, 2):
            assert _meet(lattice, left, right) == witness.bottom
            assert _join(lattice, left, right) == witness.top
    else:
        assert lattice.leq(a, b)
        for side in (a, b):
            assert _meet(lattice, side, c) == witness.bottom
            assert _join(lattice, side, c) == witness.top


def test_a_tree_is_distributive_and_m3_and_n5_are_not() -> None:
    tree = poset([(leaf, "root") for leaf in "abc"])
    assert distributivity_witness(complete(tree)) is None
    below = [("o", leaf) for leaf in "abc"]
    m3 = distributivity_witness(complete(poset([*below, *tree.covers])))
    assert m3 is not None
    assert (m3.shape, m3.bottom, m3.middle, m3.top) == (Shape.M3, "o", ("a", "b", "c"), "root")
    n5 = distributivity_witness(
        complete(poset([("o", "a"), ("a", "b"), ("b", "t"), ("o", "c"), ("c", "t")]))
    )
    assert n5 is not None
    assert (n5.shape, n5.middle) == (Shape.N5, ("a", "b", "c"))


def test_a_completion_past_its_limit_is_refused() -> None:
    crown = [(f"l{i}", f"u{j}") for i in range(12) for j in range(12) if i != j]
    with pytest.raises(DimensionRejected, match="more than 1000 cuts"):
        complete(poset(crown), limit=1000)


@given(posets())
def test_width_is_proved_by_an_antichain_and_chains_of_one_number(order: Poset) -> None:
    found = width(order)
    assert order.is_antichain(found.antichain)
    assert sorted(e for chain in found.chains for e in chain) == list(order.elements)
    for chain in found.chains:
        assert all(order.leq(a, b) for a, b in pairwise(chain))
    assert found.size == len(found.chains) == len(found.antichain)
    assert found.size == max(
        size
        for size in range(len(order) + 1)
        if any(order.is_antichain(chosen) for chosen in combinations(order.elements, size))
    )
