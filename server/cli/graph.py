"""`proofweave sparql` and `proofweave hypergraph`: statements as RDF, logs as hypergraphs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from proofweave.v1 import knowledge_pb2

from .connection import connect
from .options import At, Config, Kb, Server, Token, settings_of, target
from .prove import GameOption, game_graph, read_text, write_file


def sparql(
    query: Annotated[str, typer.Argument(metavar="QUERY|FILE.rq", help="A SPARQL 1.1 query.")],
    accept: Annotated[
        str, typer.Option("--accept", help="Media type of the result, such as text/csv.")
    ] = "",
    as_json: Annotated[
        bool, typer.Option("--json", help="SPARQL JSON results: one object.")
    ] = False,
    at: At = "",
    valid_on: Annotated[
        str,
        typer.Option("--valid-on", metavar="DATE", help="Only what is valid on this day."),
    ] = "",
    kb: Kb = None,
    server: Server = None,
    token: Token = None,
    config: Config = None,
) -> None:
    """Run a SPARQL query; the default graph is the union of all sources.

    SERVICE may ask the endpoints that the settings list (services in [sparql]). What an answer does
    not show, such as a dimension that nobody has defined, is said on stderr.

    \b
    Examples:
      proofweave sparql --kb kb 'SELECT * { ?s ?p ?o } LIMIT 10' --accept text/csv
      proofweave sparql --kb kb query.rq --json
      proofweave sparql --kb kb query.rq --at 12 --valid-on 2026-03-01
      PROOFWEAVE_SPARQL__SERVICES='["http://127.0.0.1:7878/query"]' proofweave sparql \\
        --kb kb 'SELECT * { ?s d:bank ?b SERVICE <http://127.0.0.1:7878/query> { ?b ?p ?o } }'
    """
    settings = settings_of(config)
    text = read_text(Path(query)) if query.endswith((".rq", ".sparql")) else query
    request = knowledge_pb2.QueryGraphRequest(
        query=text,
        accept="application/sparql-results+json" if as_json else accept,
        at=at,
        valid_on=valid_on,
    )
    last = b""
    with connect(target(server, kb, token, settings), settings) as services:
        for piece in services.knowledge.QueryGraph(request):
            for warning in piece.warnings:
                typer.echo(f"warning: {warning}", err=True)
            sys.stdout.buffer.write(piece.chunk)
            last = piece.chunk or last
    if not last.endswith(b"\n"):
        sys.stdout.buffer.write(b"\n")


def hypergraph(
    game_log: Annotated[
        Path, typer.Argument(metavar="F.jsonl", help="Logs of games, one JSON object a line.")
    ],
    game: GameOption = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file.")
    ] = None,
) -> None:
    """Write the requirement hypergraph of a game log, for `prove --hypergraph` or the API.

    \b
    Examples:
      proofweave hypergraph games.jsonl --game g1 -o g1.json
      proofweave prove --hypergraph g1.json 'enabled(7)'
    """
    text = game_graph(game_log, game)
    if output is None:
        sys.stdout.write(text)
    else:
        write_file(output, text.encode())
