"""Peers of the meet benchmark answer rightly, and what does not end in time is said so."""

from __future__ import annotations

import pytest

from bench.meet_peers import PEERS
from bench.meet_race import Caps, race
from bench.meet_world import make_queries, make_world, oracle

INSTANCES = 200


@pytest.mark.parametrize("peer", sorted(PEERS))
def test_a_peer_gives_the_answers_of_the_oracle(peer: str) -> None:
    world = make_world(INSTANCES)
    wanted = make_queries(world, 5)
    expected = [oracle(world, query) for query in wanted]
    row = race(peer, INSTANCES, wanted, expected, Caps())
    assert (row["queries"], row["ended"], row["equal_to_oracle"]) == (5, 5, True)
    assert "outcome" not in row
    wrong = [{-1}, *expected[1:]]
    assert race(peer, INSTANCES, wanted, wrong, Caps())["equal_to_oracle"] is False


def test_what_does_not_end_is_counted_at_its_cap_and_decides_nothing() -> None:
    world = make_world(INSTANCES)
    wanted = make_queries(world, 2)
    row = race("oxigraph", INSTANCES, wanted, [set(), set()], Caps(query=0.0))
    assert (row["queries"], row["ended"], row["equal_to_oracle"]) == (2, 0, None)
    assert row["p50_ms"] == 0.0
    assert row["outcome"] == "2 of 2 queries not ended in 0 s each"
    row = race("oxigraph", INSTANCES, wanted, [set(), set()], Caps(queries=0.0))
    assert row["outcome"] == "2 queries not asked, since 0 s were over"
    row = race("oxigraph", INSTANCES, wanted, [set(), set()], Caps(load=0.0))
    assert row["outcome"] == "loading not ended in 0 s"
