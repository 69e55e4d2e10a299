"""SPARQL endpoints of others on loopback: a bare Oxigraph, and some that mean harm."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pyoxigraph as ox

Behaviour = Callable[["Request"], None]
JSON = "application/sparql-results+json"


@dataclass
class Endpoint:
    """Where it listens, and the queries that came."""

    iri: str
    asked: list[str] = field(default_factory=list)


class Request(BaseHTTPRequestHandler):
    """One request; a behaviour answers it."""

    behaviour: Behaviour
    endpoint: Endpoint

    def do_POST(self) -> None:
        """Note the query and let the behaviour answer."""
        body = self.rfile.read(int(self.headers["content-length"])).decode()
        (query,) = parse_qs(body)["query"]
        self.endpoint.asked.append(query)
        with suppress(BrokenPipeError, ConnectionResetError):  # who asks may be gone by now
            type(self).behaviour(self)

    def log_message(self, format: str, *args: object) -> None:  # the name is theirs
        """Say nothing."""

    def give(self, content: bytes, kind: str = JSON, status: int = 200, **headers: str) -> None:
        """Answer with a whole body."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def listening(behaviour: Behaviour, path: str = "/query") -> Iterator[Endpoint]:
    """Serve a behaviour on a free port."""
    endpoint = Endpoint("")

    def begin(request: Request) -> None:
        behaviour(request)

    handler = type("Handler", (Request,), {"behaviour": staticmethod(begin), "endpoint": endpoint})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    endpoint.iri = f"http://127.0.0.1:{server.server_address[1]}{path}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def oxigraph(turtle: str) -> Behaviour:
    """Answer from a store of its own, as JSON or, where that is wanted most, as XML."""
    store = ox.Store()
    store.load(turtle.encode(), ox.RdfFormat.TURTLE)

    def answer(request: Request) -> None:
        try:
            found = store.query(request.endpoint.asked[-1])
        except SyntaxError as error:
            request.give(str(error).encode(), "text/plain", 400)
            return
        assert isinstance(found, ox.QuerySolutions)
        request.give(found.serialize(format=ox.QueryResultsFormat.JSON) or b"")

    return answer


def rows(*bindings: dict[str, dict[str, str]], names: tuple[str, ...] = ("x",)) -> bytes:
    """Write results as JSON."""
    return json.dumps(
        {"head": {"vars": list(names)}, "results": {"bindings": list(bindings)}}
    ).encode()


def fixed(content: bytes, kind: str = JSON, status: int = 200, **headers: str) -> Behaviour:
    """Always answer the same."""
    return lambda request: request.give(content, kind, status, **headers)


def endless(piece: bytes, pause: threading.Event, seconds: float) -> Behaviour:
    """Begin an answer, then send a piece again and again until `pause` is set."""

    def answer(request: Request) -> None:
        request.send_response(200)
        request.send_header("Content-Type", JSON)
        request.end_headers()
        request.wfile.write(b'{"head":{"vars":["x"]},"results":{"bindings":[')
        while not pause.wait(seconds):
            request.wfile.write(piece)

    return answer


def slow_headers(pause: threading.Event) -> Behaviour:
    """Send one byte of a header again and again, and never the end of it."""

    def answer(request: Request) -> None:
        request.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
        while not pause.wait(0.02):
            request.wfile.write(b"x")

    return answer


def free_port() -> int:
    """Give a port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        return int(made.getsockname()[1])
