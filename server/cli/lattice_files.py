"""`proofweave lattice export` and `import`: dimensions as OWL or SKOS files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from proofweave.v1 import common_pb2, knowledge_pb2

from ..errors import RequestRejected
from .connection import Services, connect
from .options import Config, Json, Kb, Server, Token, ValidOn, settings_of, target
from .outcome import console, counted, print_json

if TYPE_CHECKING:
    from kb.dimension import Dimension
    from kb.left_aside import LeftAside


class Format(Enum):
    """Syntaxes by the names of the command line."""

    RDF_XML = "rdfxml"
    TURTLE = "turtle"
    N_TRIPLES = "ntriples"
    JSON_LD = "jsonld"


_MEDIA_TYPES = {
    Format.RDF_XML: "application/rdf+xml",
    Format.TURTLE: "text/turtle",
    Format.N_TRIPLES: "application/n-triples",
    Format.JSON_LD: "application/ld+json",
}
_BY_ENDING = {
    ".owl": Format.RDF_XML,
    ".rdf": Format.RDF_XML,
    ".xml": Format.RDF_XML,
    ".ttl": Format.TURTLE,
    ".nt": Format.N_TRIPLES,
    ".jsonld": Format.JSON_LD,
}
_NAMED = 5
"""Classes that are named beside what is not kept of them."""
_EDGES_MAPPING = "subject: class\ndimensions:\n  broader: {name: subclass_of, kind: class}\n"

Syntax = Annotated[
    Format | None, typer.Option("--format", help="Default: by the ending of the file's name.")
]


def export(
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="Where to write.")],
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[DIMENSION...]", help="Default: all.")
    ] = None,
    syntax: Syntax = None,
    statements: Annotated[
        bool, typer.Option("--statements", help="With entities, typed by what is stated of them.")
    ] = False,
    valid_on: ValidOn = "",
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Write dimensions and their classes as an OWL ontology.

    \b
    Examples:
      proofweave lattice export --kb kb -o dimensions.ttl
      proofweave lattice export activity --kb kb --statements --format rdfxml -o activity.owl
    """
    from kb.owl import export_dimensions

    from ..stated import stated_in
    from ..translate import day_of, dimension_of

    day = day_of(valid_on, field="--valid-on")
    media_type = _MEDIA_TYPES[_syntax(syntax, out)]
    settings = settings_of(config)
    with connect(target(server, kb, token, settings), settings) as services:
        known = {
            found.name.rpartition("/")[2]: found
            for found in services.knowledge.ListDimensions(
                knowledge_pb2.ListDimensionsRequest()
            ).dimensions
        }
        unknown = sorted(set(names or ()) - set(known))
        if unknown:
            raise RequestRejected(
                f"there is no dimension {unknown[0]!r}; known: {', '.join(sorted(known))}"
            )
        chosen = sorted(names or known)
        stated = list(stated_in(services.knowledge, chosen)) if statements else []
        namespace = _namespace(services)
    content = export_dimensions(
        [dimension_of(known[name]) for name in chosen],
        namespace=namespace,
        media_type=media_type,
        statements=stated,
        valid_on=day,
    )
    out.write_bytes(content)
    if as_json:
        print_json({"file": str(out), "media_type": media_type, "dimensions": chosen})
    else:
        console().print(f"wrote {out}: {len(chosen)} dimensions, {len(content)} bytes")


def import_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="OWL classes or SKOS concepts.")],
    name: Annotated[
        str, typer.Option("--name", metavar="DIMENSION", help="Its name; not for our own exports.")
    ] = "",
    root: Annotated[
        str, typer.Option("--root", metavar="LABEL", help="Put this class above all others.")
    ] = "",
    functional: Annotated[
        bool, typer.Option("--functional", help="At most one class per entity and day.")
    ] = False,
    languages: Annotated[
        list[str] | None,
        typer.Option("--language", metavar="TAG", help="Labels in this language first, repeated."),
    ] = None,
    allowed: Annotated[
        list[str] | None,
        typer.Option("--allow", metavar="A=B", help="Accept this ambiguous pair, repeated."),
    ] = None,
    syntax: Syntax = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check only; change nothing.")] = False,
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Define dimensions from a file: one written by `lattice export`, or the classes of others.

    The steps of the hierarchy become statements, so that rules can climb it with `under`: a table
    of class and broader class is stored as their source. Nothing else is fetched or imported.

    \b
    Examples:
      proofweave lattice import dimensions.ttl --kb kb
      proofweave lattice import equipment.skos.ttl --name equipment --root Equipment --kb kb
    """
    from kb.owl import import_dimensions, import_taxonomy

    from ..translate import dimension_message

    if not file.is_file():
        raise RequestRejected(f"there is no file {str(file)!r}")
    media_type = _MEDIA_TYPES[_syntax(syntax, file)]
    settings = settings_of(config)
    with connect(target(server, kb, token, settings), settings) as services:
        content = file.read_bytes()
        found: tuple[Dimension, ...]
        left: tuple[LeftAside, ...] = ()
        if name:
            pairs = [
                (low, high) for low, _, high in (text.partition("=") for text in allowed or ())
            ]
            imported = import_taxonomy(
                content,
                media_type,
                name=name,
                root=root or None,
                functional=functional,
                allowed_ambiguities=pairs,
                languages=languages or ("", "en"),
            )
            found, left = (imported.dimension,), imported.left_aside
        else:
            found = import_dimensions(content, media_type, namespace=_namespace(services))
            if not found:
                raise RequestRejected(
                    f"{file.name} holds no dimensions of this knowledge base; "
                    "give --name to read its classes as one"
                )
        for dimension in () if dry_run else found:
            message = dimension_message("-", dimension)
            services.knowledge.DefineDimension(
                knowledge_pb2.DefineDimensionRequest(dimension=message)
            )
            if dimension.taxonomy is not None:
                _store_edges(services, dimension)
    if as_json:
        listed = [
            {
                "name": dimension.name,
                "classes": len(dimension.taxonomy.elements) if dimension.taxonomy else 0,
            }
            for dimension in found
        ]
        not_kept = [
            {"reason": each.reason, "count": each.count, "classes": list(each.classes)}
            for each in left
        ]
        print_json({"dimensions": listed, "dry_run": dry_run, "not_kept": not_kept})
        return
    for dimension in found:
        classes = len(dimension.taxonomy.elements) if dimension.taxonomy else 0
        verb = "would define" if dry_run else "defined"
        words = (
            f", {counted(classes, 'class', 'classes')}, {dimension.root} above all"
            if classes
            else ""
        )
        console().print(f"{verb} {dimension.name}: {dimension.kind.value}{words}")
    for each in left:
        more = ", ..." if len(each.classes) > _NAMED else ""
        of = f" (of {', '.join(each.classes[:_NAMED])}{more})" if each.classes else ""
        console().print(f"  not kept {each.count:5}  {each.reason}{of}")


def _syntax(given: Format | None, file: Path) -> Format:
    if given is not None:
        return given
    if file.suffix.lower() not in _BY_ENDING:
        raise RequestRejected(
            f"the ending of {file.name!r} names no syntax; expected one of "
            f"{', '.join(sorted(_BY_ENDING))}, or --format"
        )
    return _BY_ENDING[file.suffix.lower()]


def _namespace(services: Services) -> str:
    """Ask the knowledge base how its IRIs begin."""
    request = knowledge_pb2.QueryGraphRequest(
        query="SELECT ?namespace { ?namespace pw:revision ?n }",
        accept="application/sparql-results+json",
    )
    answer = b"".join(piece.chunk for piece in services.knowledge.QueryGraph(request))
    return str(json.loads(answer)["results"]["bindings"][0]["namespace"]["value"])


def _store_edges(services: Services, dimension: Dimension) -> None:
    """Import the covering pairs as a table; each row is the quote of its step."""
    assert dimension.taxonomy is not None
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerows([("class", "broader"), *dimension.taxonomy.covers])
    start = knowledge_pb2.ImportStart(
        file=common_pb2.FileHeader(file_name=f"{dimension.name}.classes.csv"),
        mapping=_EDGES_MAPPING,
        mapping_name="classes",
    )

    def messages() -> Iterator[knowledge_pb2.ImportStatementsRequest]:
        yield knowledge_pb2.ImportStatementsRequest(start=start)
        data = table.getvalue().encode()
        for at in range(0, len(data), 1 << 20):
            yield knowledge_pb2.ImportStatementsRequest(chunk=data[at : at + (1 << 20)])

    operation = services.knowledge.ImportStatements(messages()).operation
    while operation.state == knowledge_pb2.Operation.STATE_RUNNING:
        request = knowledge_pb2.GetOperationRequest(name=operation.name, wait_ms=500)
        operation = services.knowledge.GetOperation(request).operation
    if operation.state != knowledge_pb2.Operation.STATE_SUCCEEDED:
        raise RequestRejected(f"{dimension.name}: {operation.problem.message}")
