"""`proofweave lattice`: look at the orders of dimensions."""

from __future__ import annotations

from typing import Annotated

import typer
from proofweave.v1 import knowledge_pb2

from ..errors import RequestRejected
from .connection import connect
from .options import Config, Json, Kb, Server, Token, settings_of, target
from .outcome import Exit, console, print_json

app = typer.Typer(help="Look at the orders of dimensions.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="DIMENSION", help="Name of a dimension.")]


def _dimension(
    name: str,
    server: Server,
    kb: Kb,
    token: Token,
    config: Config,
) -> knowledge_pb2.Dimension:
    settings = settings_of(config)
    with connect(target(server, kb, token, settings), settings) as services:
        request = knowledge_pb2.GetDimensionRequest(name=name)
        return services.knowledge.GetDimension(request).dimension


@app.command()
def show(
    name: Annotated[
        str, typer.Argument(metavar="[DIMENSION]", help="Default: list all dimensions.")
    ] = "",
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Show a dimension with its classes, or list all dimensions.

    \b
    Examples:
      proofweave lattice show --kb kb
      proofweave lattice show genre --kb kb --json
    """
    from ..orders import dimension_json, tree_lines  # loads the lattice

    out = console()
    if name:
        dimension = _dimension(name, server, kb, token, config)
        if as_json:
            print_json(dimension_json(dimension))
            return
        out.print(f"{name}  {kind_word(dimension)}", style="bold")
        for line in tree_lines(dimension):
            out.print(line)
        return
    settings = settings_of(config)
    with connect(target(server, kb, token, settings), settings) as services:
        request = knowledge_pb2.ListDimensionsRequest()
        dimensions = services.knowledge.ListDimensions(request).dimensions
    if as_json:
        print_json({"dimensions": [dimension_json(found) for found in dimensions]})
        return
    for found in dimensions:
        out.print(f"{found.name.rpartition('/')[2]:30} {kind_word(found)}")


@app.command()
def meet(
    name: Name,
    values: Annotated[list[str], typer.Argument(metavar="VALUE...", help="Classes to meet.")],
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Give the most general common kinds of classes.

    \b
    Example:
      proofweave lattice meet genre Comedy Crime --kb kb
    """
    from ..orders import meet_of

    found = meet_of(_dimension(name, server, kb, token, config), values)
    if as_json:
        print_json({"dimension": name, "values": values, "meet": list(found)})
        return
    for value in found:
        console().print(value)
    if not found:
        console().print(f"no class lies below all of {', '.join(values)}", style="yellow")


@app.command()
def compare(
    name: Name,
    first: Annotated[str, typer.Argument(metavar="A")],
    second: Annotated[str, typer.Argument(metavar="B")],
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Say whether one class is a kind of the other.

    \b
    Example:
      proofweave lattice compare genre 'Black comedy' Comedy --kb kb
    """
    from ..orders import relation_of

    relation = relation_of(_dimension(name, server, kb, token, config), first, second)
    if as_json:
        print_json({"dimension": name, "first": first, "second": second, "relation": relation})
    else:
        console().print(f"{first} {relation} {second}")


@app.command()
def check(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[DIMENSION...]", help="Default: all.")
    ] = None,
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Report what may not go live, and what is worth knowing: distributivity, width.

    \b
    Example:
      proofweave lattice check --kb kb
    """
    from ..orders import check_order

    settings = settings_of(config)
    with connect(target(server, kb, token, settings), settings) as services:
        request = knowledge_pb2.ListDimensionsRequest()
        dimensions = list(services.knowledge.ListDimensions(request).dimensions)
    known = {found.name.rpartition("/")[2]: found for found in dimensions}
    unknown = sorted(set(names or ()) - set(known))
    if unknown:
        raise RequestRejected(
            f"there is no dimension {unknown[0]!r}; known: {', '.join(sorted(known))}"
        )
    reports = [check_order(known[name]) for name in sorted(names or known)]
    if as_json:
        print_json({"dimensions": [report.to_json() for report in reports]})
    else:
        for report in reports:
            console().print(report.text())
    raise typer.Exit(Exit.ERROR if any(report.problems for report in reports) else Exit.DONE)


def kind_word(dimension: knowledge_pb2.Dimension) -> str:
    """Give the kind of a dimension, and whether it is functional, in words."""
    word = knowledge_pb2.DimensionKind.Name(dimension.kind).removeprefix("DIMENSION_KIND_").lower()
    return word + (", functional" if dimension.functional else "")
