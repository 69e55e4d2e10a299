"""`proofweave lattice concepts`: groups of entities with all that they share."""

from __future__ import annotations

from typing import Annotated

import typer
from proofweave.v1 import knowledge_pb2

from ..errors import RequestRejected
from ..nearest import unknown_dimensions
from .connection import connect
from .options import Config, Json, Kb, Server, Token, ValidOn, settings_of, target
from .outcome import console, print_json

_SHOWN = 8


def concepts(
    names: Annotated[list[str], typer.Argument(metavar="DIMENSION...", help="Dimensions.")],
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", min=1, help="Stop after so many.")
    ] = 10_000,
    members: Annotated[
        int, typer.Option("--members", metavar="N", min=0, help="Only with so many entities.")
    ] = 1,
    valid_on: ValidOn = "",
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """List formal concepts: maximal groups of entities with everything that they share.

    A cross-reference such as insured_by/registered_country asks what holds of the entity named.

    \b
    Examples:
      proofweave lattice concepts activity audit_rating --kb kb
      proofweave lattice concepts activity insured_by/registered_country --kb kb
      proofweave lattice concepts activity --kb kb --members 2 --valid-on 2026-03-01 --json
    """
    from kb.concepts import CROSS, context_of, find_concepts
    from kb.dimension import value_label
    from kb.lattice import LatticeIndex

    from ..stated import stated_in
    from ..translate import day_of, dimension_of

    day = day_of(valid_on, field="--valid-on")
    asked = sorted({step for name in names for step in name.split(CROSS)})
    settings = settings_of(config)
    with connect(target(server, kb, token, settings), settings) as services:
        request = knowledge_pb2.ListDimensionsRequest()
        known = {
            found.name.rpartition("/")[2]: dimension_of(found)
            for found in services.knowledge.ListDimensions(request).dimensions
        }
        index = LatticeIndex(known.values())
        stated = set()
        for statement in stated_in(services.knowledge, asked):
            index.add(statement)
            stated.add(statement.dimension)
    unknown = sorted(set(asked) - set(known) - stated)
    if unknown:
        raise RequestRejected(unknown_dimensions(unknown, known))
    found = find_concepts(context_of(index, names, valid_on=day), limit=limit)
    kept = [concept for concept in found.concepts if len(concept.extent) >= members]
    if as_json:
        print_json(
            {
                "complete": found.complete,
                "concepts": [
                    {
                        "entities": list(concept.extent),
                        "shared": [
                            {"dimension": item.dimension, "value": value_label(item.value)}
                            for item in concept.intent
                        ],
                    }
                    for concept in kept
                ],
            }
        )
        return
    for concept in kept:
        more = len(concept.extent) - _SHOWN
        entities = ", ".join(concept.extent[:_SHOWN]) + (f" and {more} more" if more > 0 else "")
        console().print(f"{len(concept.extent)}: {entities or 'no entity'}", style="bold")
        for item in concept.intent:
            order = known.get(item.dimension.rpartition(CROSS)[2])
            if order is None or not any(  # what a more special value implies goes without saying
                other.dimension == item.dimension
                and other.value != item.value
                and order.leq(other.value, item.value)
                for other in concept.intent
            ):
                console().print(f"  {item.dimension}: {value_label(item.value)}")
    if not found.complete:
        console().print(f"cut after {limit} concepts; there are more", style="yellow")
