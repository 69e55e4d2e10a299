"""Short names of one entity identify it, short names of several identify nobody."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from kb.identity import SAME_AS, held_back
from kb.records import Row
from kb.statement import Entity, Evidence, Modality, Polarity, Statement


def link(
    subject: str,
    name: str,
    *,
    extractor: str = "reader/1",
    polarity: Polarity = Polarity.AFFIRMED,
    modality: Modality = Modality.ASSERTED,
) -> Row:
    statement = Statement(subject, SAME_AS, Entity(name), polarity, modality)
    evidence = Evidence(statement.id, "ab" * 32, "cd" * 32, 0, 1, "x", extractor)
    return statement.id, statement, (evidence,)


def names_held(*rows: Row) -> set[tuple[str, str]]:
    held = held_back(rows, is_explicit=lambda extractor: extractor == "table/1")
    shown = {row[0]: row[1] for row in rows}
    return {
        (shown[id].subject, value.name)
        for id in held.statement_ids
        if isinstance(value := shown[id].value, Entity)
    }


def test_one_bearer_keeps_its_name_and_two_lose_it() -> None:
    assert names_held(link("A Ltd", "A"), link("B Ltd", "B")) == set()
    assert names_held(link("A Ltd", "N"), link("A GmbH", "N")) == {("A Ltd", "N"), ("A GmbH", "N")}
    assert names_held(link("ACME", "N"), link("acme", "N")) == {("ACME", "N"), ("acme", "N")}


def test_bearers_that_are_linked_keep_their_name() -> None:
    direct = link("A Ltd", "A Limited")
    assert names_held(link("A Ltd", "N"), link("A Limited", "N"), direct) == set()
    row = link("A Ltd", "A AG", extractor="table/1")
    assert names_held(link("A Ltd", "N"), link("A AG", "N"), row) == set()


def test_two_ambiguous_names_do_not_vouch_for_each_other() -> None:
    rows = [link(subject, name) for subject in ("A Ltd", "B Ltd") for name in ("N", "M")]
    assert len(names_held(*rows)) == 4


def test_a_stated_identity_of_a_table_counts() -> None:
    explicit = link("A Ltd", "N", extractor="table/1")
    assert names_held(explicit, link("B Ltd", "N")) == {("B Ltd", "N")}


def test_a_denied_or_hedged_identity_makes_no_name_ambiguous() -> None:
    denied = link("B Ltd", "N", polarity=Polarity.DENIED)
    hedged = link("C Ltd", "N", modality=Modality.HEDGED)
    assert names_held(link("A Ltd", "N"), denied, hedged) == set()


LINKS = st.lists(
    st.tuples(st.sampled_from("ABCD"), st.sampled_from("ABCDNM"), st.booleans()), max_size=8
)


@given(links=LINKS, seed=st.randoms(use_true_random=False))
def test_the_order_of_documents_does_not_matter(
    links: list[tuple[str, str, bool]], seed: random.Random
) -> None:
    rows = [link(a, b, extractor="table/1" if told else "reader/1") for a, b, told in links]
    shuffled = list(rows)
    seed.shuffle(shuffled)

    def is_explicit(extractor: str) -> bool:
        return extractor == "table/1"

    first, second = (held_back(found, is_explicit=is_explicit) for found in (rows, shuffled))
    assert first == second
    for bearers in first.bearers.values():
        assert len(bearers) > 1
        assert list(bearers) == sorted(bearers)
