"""`proofweave lattice`: look at the orders of dimensions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from proofweave.v1 import knowledge_pb2

from ..errors import RequestRejected
from .connection import connect
from .lattice_check import check
from .lattice_concepts import concepts
from .lattice_files import export, import_file
from .lattice_meet import meet
from .options import At, Config, Json, Kb, Server, Token, settings_of, target
from .outcome import Exit, console, print_json

app = typer.Typer(help="Look at the orders of dimensions, and exchange them.", no_args_is_help=True)
app.command()(check)
app.command()(concepts)
app.command()(export)
app.command("import")(import_file)
app.command()(meet)

Name = Annotated[str, typer.Argument(metavar="DIMENSION", help="Name of a dimension.")]


def _dimension(
    name: str,
    server: Server,
    kb: Kb,
    token: Token,
    config: Config,
    at: str,
) -> knowledge_pb2.Dimension:
    settings = settings_of(config)
    with connect(target(server, kb, token, settings), settings) as services:
        request = knowledge_pb2.GetDimensionRequest(name=name, at=at)
        return services.knowledge.GetDimension(request).dimension


@app.command()
def show(
    name: Annotated[
        str, typer.Argument(metavar="[DIMENSION]", help="Default: list all dimensions.")
    ] = "",
    svg: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="Draw the Hasse diagram of it.")
    ] = None,
    at: At = "",
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Show a dimension with its classes, or list all dimensions.

    The diagram says how many entities lie at or below each class; classes that can have no member
    stand out.

    \b
    Examples:
      proofweave lattice show --kb kb
      proofweave lattice show genre --kb kb --json
      proofweave lattice show genre --kb kb --svg genre.svg
    """
    from ..orders import about_lines, dimension_json, tree_lines  # loads the lattice

    out = console()
    if svg is not None:
        if at:
            raise RequestRejected("--svg draws the newest revision; expected no --at")
        _draw(svg, name, server, kb, token, config)
        out.print(f"wrote {svg}")
        return
    if name:
        dimension = _dimension(name, server, kb, token, config, at)
        if as_json:
            print_json(dimension_json(dimension))
            return
        out.print(f"{name}  {kind_word(dimension)}", style="bold")
        for line in (*about_lines(dimension), *tree_lines(dimension)):
            out.print(line)
        return
    settings = settings_of(config)
    with connect(target(server, kb, token, settings), settings) as services:
        request = knowledge_pb2.ListDimensionsRequest(at=at)
        dimensions = services.knowledge.ListDimensions(request).dimensions
    if as_json:
        print_json({"dimensions": [dimension_json(found) for found in dimensions]})
        return
    for found in dimensions:
        out.print(f"{found.name.rpartition('/')[2]:30} {kind_word(found)}")


@app.command()
def compare(
    name: Name,
    first: Annotated[str, typer.Argument(metavar="A")],
    second: Annotated[str, typer.Argument(metavar="B")],
    at: At = "",
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Say how two values of a dimension lie to each other: classes, numbers, quantities or dates.

    Where sources cannot tell, as of two dates that overlap, it abstains (exit code 3).

    \b
    Examples:
      proofweave lattice compare genre 'Black comedy' Comedy --kb kb
      proofweave lattice compare liability_cover '5000000 EUR' '4 EUR' --kb kb --json
    """
    from ..orders import relation_of

    relation = relation_of(_dimension(name, server, kb, token, config, at), first, second)
    if as_json:
        print_json(
            {
                "dimension": name,
                "first": first,
                "second": second,
                "relation": relation.words,
                "determined": relation.is_determined,
            }
        )
    else:
        console().print(f"{first} {relation.words} {second}")
    raise typer.Exit(Exit.DONE if relation.is_determined else Exit.ABSTAINED)


def _draw(file: Path, name: str, server: Server, kb: Kb, token: Token, config: Config) -> None:
    """Write the Hasse diagram of a dimension, with how many entities there are of each class."""
    from kb.hasse import draw_hasse
    from kb.lattice import LatticeIndex
    from kb.statement import TaxonClass
    from reasoner.clash import class_clashes

    from ..stated import stated_in
    from ..translate import dimension_of

    if not name:
        raise RequestRejected("--svg draws one dimension; say which")
    settings = settings_of(config)
    with connect(target(server, kb, token, settings), settings) as services:
        request = knowledge_pb2.GetDimensionRequest(name=name)
        dimension = dimension_of(services.knowledge.GetDimension(request).dimension)
        if dimension.taxonomy is None:
            raise RequestRejected(f"the dimension {dimension.name} has no classes to draw")
        index = LatticeIndex([dimension])
        for statement in stated_in(services.knowledge, [dimension.name]):
            index.add(statement)
    notes = {
        value.label: "1 entity" if count == 1 else f"{count} entities"
        for value, count in index.values(dimension.name)
        if isinstance(value, TaxonClass) and value.label in dimension.taxonomy
    }
    empty = frozenset(clash.subject for clash in class_clashes([dimension], limit=1))
    drawing = draw_hasse(dimension.taxonomy, title=dimension.label, notes=notes, marked=empty)
    file.write_text(drawing, "utf-8")


def kind_word(dimension: knowledge_pb2.Dimension) -> str:
    """Say the kind of a dimension in words, with its unit, or its classes, and what else counts."""
    word = knowledge_pb2.DimensionKind.Name(dimension.kind).removeprefix("DIMENSION_KIND_").lower()
    if dimension.unit:
        word += f" in {dimension.unit}"
    if dimension.classes:
        lower = {edge.child for edge in dimension.taxonomy}
        roots = [label for label in dimension.classes if label not in lower]
        word += f", {len(dimension.classes)} classes, {', '.join(roots)} above all"
    if dimension.functional:
        word += ", functional"
    return word + (f", inverse of {dimension.inverse}" if dimension.inverse else "")
