"""Requirement hypergraphs: which facts jointly yield another, and which units state them."""

from __future__ import annotations

from .decision import GoalDecision, GraphStep, Violation, decide_hypergraph, violations
from .graph import GraphAtom, Hyperedge, Hypergraph, Unit
from .horn import CompiledHypergraph, compile_hypergraph
from .reading import read_hypergraph, write_hypergraph

__all__ = [
    "CompiledHypergraph",
    "GoalDecision",
    "GraphAtom",
    "GraphStep",
    "Hyperedge",
    "Hypergraph",
    "Unit",
    "Violation",
    "compile_hypergraph",
    "decide_hypergraph",
    "read_hypergraph",
    "violations",
    "write_hypergraph",
]
