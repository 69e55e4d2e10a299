"""`proofweave lattice check`: what is wrong, and what is worth knowing, of dimensions."""

from __future__ import annotations

from typing import Annotated

import typer
from proofweave.v1 import knowledge_pb2

from ..errors import RequestRejected
from ..nearest import unknown_dimensions
from .connection import connect
from .options import Config, Json, Kb, Server, Token, ValidOn, settings_of, target
from .outcome import Exit, console, print_json


def check(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[DIMENSION...]", help="Default: all.")
    ] = None,
    statements: Annotated[
        bool, typer.Option("--statements", help="Find statements that cannot hold together, too.")
    ] = False,
    owl: Annotated[
        bool, typer.Option("--owl", help="Ask HermiT, too; it starts Java and takes seconds.")
    ] = False,
    valid_on: ValidOn = "",
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Check orders: may they go live, are they distributive, how wide, can each class have members.

    A clash is explained by the fewest axioms and statements that are a contradiction. HermiT reads
    axioms as OWL does: two classes of a functional dimension clash only where they are disjoint.

    \b
    Examples:
      proofweave lattice check --kb kb
      proofweave lattice check registered_country --kb kb --statements --valid-on 2026-03-01
      proofweave lattice check --kb kb --statements --owl --json
    """
    from kb.owl import check_satisfiability

    from ..clash_report import check_clashes  # loads the engines
    from ..order_report import check_order
    from ..stated import stated_in
    from ..translate import day_of, dimension_of

    day = day_of(valid_on, field="--valid-on")
    settings = settings_of(config)
    with connect(target(server, kb, token, settings), settings) as services:
        request = knowledge_pb2.ListDimensionsRequest()
        found = list(services.knowledge.ListDimensions(request).dimensions)
        known = {dimension.name.rpartition("/")[2]: dimension for dimension in found}
        unknown = sorted(set(names or ()) - set(known))
        if unknown:
            raise RequestRejected(unknown_dimensions(unknown, known))
        chosen = sorted(names or known)
        stated = list(stated_in(services.knowledge, chosen)) if statements else []
    orders = [check_order(known[name]) for name in chosen]
    admitted = [dimension_of(known[report.name]) for report in orders if not report.problems]
    satisfiability = (
        check_satisfiability(
            admitted, namespace=settings.knowledge.namespace, statements=stated, valid_on=day
        )
        if owl
        else None
    )
    clashes = check_clashes(admitted, stated, valid_on=day, satisfiability=satisfiability)
    if as_json:
        print_json({"dimensions": [report.to_json() for report in orders], **clashes.to_json()})
    else:
        told = [report for report in orders if names or report.classes]
        for text in (*(report.text() for report in told), clashes.text()):
            if text:
                console().print(text)
    wrong = clashes.found or any(report.problems for report in orders)
    raise typer.Exit(Exit.ERROR if wrong else Exit.DONE)
