"""Hypergraph files to draw: small ones, so that every choice of units can be tried."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st


@st.composite
def graphs(draw: st.DrawFn, *, contradictions: bool = False) -> dict[str, Any]:
    """Valid files: atoms, edges that may need witnesses, units; with pairs that exclude each other
    on request."""
    atoms = [f"a{index}" for index in range(draw(st.integers(1, 6)))]
    subset = st.lists(st.sampled_from(atoms), unique=True, max_size=3)
    edges = [
        {"id": f"e{index}", "tail": draw(subset), "head": draw(st.sampled_from(atoms))}
        for index in range(draw(st.integers(0, 8)))
    ]
    names = [edge["id"] for edge in edges]
    chosen = st.lists(st.sampled_from(names), unique=True, max_size=2) if names else st.just([])
    units = [
        {"id": f"u{index}", "states": draw(subset), "witnesses": draw(chosen)}
        for index in range(draw(st.integers(0, 6)))
    ]
    body: dict[str, Any] = {
        "format": "proofweave.hypergraph/1",
        "atoms": atoms,
        "hyperedges": edges,
        "units": units,
        "given": draw(subset),
        "goals": atoms,
    }
    if contradictions and len(atoms) > 1 and draw(st.booleans()):
        body["contradictions"] = [draw(st.permutations(atoms))[:2]]
    return body
