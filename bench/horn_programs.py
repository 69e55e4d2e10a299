"""Horn programs for benchmarks, made from a fixed seed and kept as files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reasoner.horn import HornProgram
from reasoner.hypergraph import compile_hypergraph, read_hypergraph

Ints = NDArray[np.int32]


def random_program(edges: int) -> HornProgram:
    """As many atoms as hyperedges, tails of one to four random atoms, every third atom given."""
    rng = np.random.default_rng(20260101)
    lengths = rng.integers(1, 5, edges)
    starts = np.zeros(edges + 1, np.int32)
    np.cumsum(lengths, out=starts[1:])
    heads = rng.integers(0, edges, edges, np.int32)
    tails = rng.integers(0, edges, int(starts[-1]), np.int32)
    return HornProgram(edges, heads, starts, tails, np.arange(0, edges, 3, dtype=np.int32))


def chain_program(edges: int) -> HornProgram:
    """One derivation as deep as there are hyperedges, atoms numbered as they are first named."""
    names = np.arange(edges + 1, dtype=np.int32)
    return _chain(names)


def scattered_program(edges: int) -> HornProgram:
    """The same chain with its atoms numbered at random: every step waits for memory."""
    rng = np.random.default_rng(20260102)
    return _chain(rng.permutation(edges + 1).astype(np.int32))


def _chain(names: Ints) -> HornProgram:
    edges = len(names) - 1
    starts = np.arange(edges + 1, dtype=np.int32)
    return HornProgram(edges + 1, names[1:], starts, names[:-1], names[:1])


def cycle_program(edges: int) -> HornProgram:
    """Rings of ten atoms, each reached from the ring before by a join of two of its atoms."""
    ring = 10
    rings = max(1, edges // (ring + 1))
    first = np.arange(rings, dtype=np.int32) * ring
    around = first[:, None] + np.arange(ring, dtype=np.int32)
    after = first[:, None] + (np.arange(ring, dtype=np.int32) + 1) % ring
    joins = first[:-1]
    heads = np.concatenate([after.ravel(), first[1:] + 3]).astype(np.int32)
    lengths = np.concatenate([np.ones(rings * ring, np.int32), np.full(rings - 1, 2, np.int32)])
    starts = np.zeros(len(heads) + 1, np.int32)
    np.cumsum(lengths, out=starts[1:])
    pairs = np.stack([joins + 2, joins + 7], axis=1).ravel()
    tails = np.concatenate([around.ravel(), pairs]).astype(np.int32)
    return HornProgram(rings * ring, heads, starts, tails, np.zeros(1, np.int32))


def shuffled_program(edges: int) -> HornProgram:
    """The scattered chain with its hyperedges in no order either: no numbering helps."""
    chain = scattered_program(edges)
    order = np.random.default_rng(20260104).permutation(edges)
    return HornProgram(
        chain.atom_count, chain.heads[order], chain.tail_starts, chain.tails[order], chain.given
    )


KINDS = {
    "chain": chain_program,
    "cycles": cycle_program,
    "random": random_program,
    "scattered": scattered_program,
    "shuffled": shuffled_program,
}


def save(program: HornProgram, path: Path) -> None:
    """Write a program's arrays, uncompressed."""
    np.savez(
        path,
        atom_count=np.array(program.atom_count),
        heads=program.heads,
        tail_starts=program.tail_starts,
        tails=program.tails,
        given=program.given,
    )


def load(path: Path) -> HornProgram:
    """Read a program written by `save`, or a hypergraph in JSON."""
    if path.suffix == ".json":
        return compile_hypergraph(read_hypergraph(path.read_bytes(), name=path.name)).program
    with np.load(path) as arrays:
        return HornProgram(
            int(arrays["atom_count"]),
            *(arrays[name] for name in ("heads", "tail_starts", "tails", "given")),
        )
