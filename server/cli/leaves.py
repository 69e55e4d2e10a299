"""What hangs on each leaf of a proof, on the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from proofweave.v1 import reasoning_pb2

from .outcome import console
from .verdicts import STYLES, code_word, open_json, quote_json, verdict_word


def leaves_in(
    responses: Iterable[reasoning_pb2.StreamLeavesResponse],
) -> list[reasoning_pb2.LeafWitness]:
    """Give the leaves of a stream of them."""
    return [response.leaf for response in responses if response.HasField("leaf")]


def show_leaves(witnesses: Iterable[reasoning_pb2.LeafWitness]) -> None:
    """Print each leaf with what becomes of the goal without it."""
    out = console()
    for witness in witnesses:
        if not witness.index:
            out.print("without one leaf:", style="bold")
        out.print(f"  {witness.leaf.atom}")
        for quote in witness.leaf.quotes:
            out.print(f"      “{' '.join(quote.quote.split())}”  {quote.title}", style="dim")
        for words, loss in (
            ("from the other leaves alone", witness.in_certificate),
            ("from all else that is known", witness.in_knowledge),
        ):
            out.print(f"      {words}: ", end="")
            out.print(loss_words(loss), style=STYLES[loss.verdict])


def loss_words(loss: reasoning_pb2.Loss) -> str:
    """Say in a line what is left of a goal."""
    code = code_word(loss.code)
    words = verdict_word(loss.verdict) + (f" ({code})" if code else "")
    if loss.open:
        words += f", open: {'; '.join(dict.fromkeys(found.atom for found in loss.open))}"
    elif loss.support:
        words += f", by {'; '.join(leaf.atom for leaf in loss.support)}"
    return words


def leaf_witness_json(witness: reasoning_pb2.LeafWitness) -> dict[str, Any]:
    """Give a leaf with what hangs on it as JSON."""
    return {
        **leaf_json(witness.leaf),
        "in_certificate": loss_json(witness.in_certificate),
        "in_knowledge": loss_json(witness.in_knowledge),
    }


def leaf_json(leaf: reasoning_pb2.SupportLeaf) -> dict[str, Any]:
    """Give a leaf as JSON."""
    return {
        "id": leaf.id,
        "atom": leaf.atom,
        "quotes": [quote_json(quote) for quote in leaf.quotes],
    }


def loss_json(loss: reasoning_pb2.Loss) -> dict[str, Any]:
    """Give what is left of a goal as JSON."""
    return {
        "verdict": verdict_word(loss.verdict),
        "code": code_word(loss.code),
        "open": [open_json(found) for found in loss.open],
        "support": [leaf_json(leaf) for leaf in loss.support],
    }
