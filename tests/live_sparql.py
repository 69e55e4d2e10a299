"""The SPARQL endpoint over real HTTP on loopback, with a small world behind it."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import httpx
import uvicorn

from kb.query_budget import QueryBudget, QueryOptions, Services, Warn
from kb.rdf import RdfProjection
from kb.statement import Entity, Evidence, Modality, Polarity, Statement, Text
from server.sparql import QueryFunction, sparql_app

SOURCE = "ab" * 32


def newest(projection: RdfProjection, services: Services = Services()) -> QueryFunction:  # noqa: B008
    """Query a projection, which has one state only."""

    def query(
        text: str,
        accept: str,
        *,
        default_graphs: Sequence[str],
        named_graphs: Sequence[str],
        at: str,
        valid_on: str,
        warn: Warn,
    ) -> tuple[str, bytes]:
        assert (at, valid_on) == ("", "")
        options = QueryOptions(tuple(default_graphs), tuple(named_graphs), services, warn)
        return projection.query(text, accept, options=options)

    return query


@contextmanager
def served(query: QueryFunction) -> Iterator[httpx.Client]:
    """Serve a function that answers queries; gives a client of it."""
    server = uvicorn.Server(
        uvicorn.Config(sparql_app(query), log_level="warning", lifespan="off", ws="none")
    )
    listener = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        deadline = time.monotonic() + 10
        while not server.started and time.monotonic() < deadline:
            time.sleep(0.01)
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with httpx.Client(base_url=address, timeout=20) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@contextmanager
def insurances() -> Iterator[RdfProjection]:
    """Nordwind insures two companies, and is said not to insure a third."""
    budget = QueryBudget(milliseconds=3000, rows=1000)
    with RdfProjection(None, "https://example.org/", budget=budget, workers=1) as projection:
        for place, name in enumerate(("Acme", "Müller & Söhne")):
            add(projection, 100 * place, Statement("Nordwind", "insures", Entity(name)))
        denied = Statement("Nordwind", "insures", Entity("Beta"), polarity=Polarity.DENIED)
        planned = Statement("Nordwind", "insures", Entity("Gamma"), modality=Modality.PLANNED)
        add(projection, 200, denied)
        add(projection, 300, planned)
        add(projection, 400, Statement("Nordwind", "remark", Text("a\rb\nc\td")))
        yield projection


def add(projection: RdfProjection, start: int, statement: Statement) -> None:
    """State something at a place."""
    quote = "The quote that states it."
    evidence = Evidence(statement.id, SOURCE, "cd" * 32, start, start + len(quote), quote, "test/1")
    projection.add_statement(statement.id, statement, [evidence])
