"""The process that answers SPARQL queries: opens a checkpoint read-only and can be killed."""

from __future__ import annotations

import csv
import io
import re
import resource
import signal
import sys
import threading
from collections.abc import Callable, Iterable
from functools import lru_cache

import pyoxigraph as ox

from . import vocabulary
from .errors import KnowledgeError
from .frames import Reply, number, serve
from .json_rows import json_rows, rows_begun
from .no_network import forbid_sockets
from .quantity import parse_date, parse_quantity

_PW = vocabulary.PROOFWEAVE
_SOLUTIONS = {
    "application/sparql-results+json": ox.QueryResultsFormat.JSON,
    "application/sparql-results+xml": ox.QueryResultsFormat.XML,
    "text/csv": ox.QueryResultsFormat.CSV,
    "text/tab-separated-values": ox.QueryResultsFormat.TSV,
}
_GRAPHS = {
    "text/turtle": ox.RdfFormat.TURTLE,
    "application/n-triples": ox.RdfFormat.N_TRIPLES,
    "application/rdf+xml": ox.RdfFormat.RDF_XML,
    "application/ld+json": ox.RdfFormat.JSON_LD,
    "application/trig": ox.RdfFormat.TRIG,
}
_JSON = "application/sparql-results+json"
_XML = ("application/sparql-results+xml", "application/rdf+xml")
_NOT_IN_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")

_UNION: list[ox.NamedNode | ox.BlankNode | ox.DefaultGraph] = [
    ox.DefaultGraph(),
    ox.NamedNode(vocabulary.META_GRAPH),
]
_FUNCTION = re.compile("|".join(vocabulary.FUNCTIONS))
_STACK = 256 * 1024 * 1024
"""Bytes of stack for one query: plans of long unions, sums and paths are deep."""

Term = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple


_VALUED = (ox.NamedNode, ox.Literal)


class _TooMuch(Exception):
    """A result past its budget of rows or bytes."""


class _Unwritable(Exception):
    """A result with a character that its format cannot hold."""


class _Counter(io.BytesIO):
    """A buffer that refuses to grow past a number of rows or bytes; `count` tells the rows."""

    def __init__(self, rows: int, size: int, count: Callable[[bytes], int]) -> None:
        super().__init__()
        self.rows, self.size, self.count = rows, size, count

    def write(self, data: bytes) -> int:  # type: ignore[override]  # called with bytes alone
        self.rows -= self.count(data)
        self.size -= len(data)
        if self.rows < 0:
            raise _TooMuch("rows")
        if self.size < 0:
            raise _TooMuch("bytes")
        return super().write(data)


@lru_cache(maxsize=4)
def _prefixes(namespace: str) -> tuple[tuple[str, str], ...]:
    return tuple(vocabulary.prefixes(namespace).items())


@lru_cache(maxsize=4)
def functions(
    namespace: str,
) -> dict[ox.NamedNode, Callable[..., Term | None]]:
    """The functions a query may call beyond the standard ones; unbound where they do not apply.

    `pw:name(?entity)`, `pw:document(?graph)`, `pw:magnitude(?quantity)`, `pw:unit(?quantity)`,
    `pw:firstDay(?date)`, `pw:lastDay(?date)`.
    """

    def name(term: Term) -> Term | None:
        return ox.Literal(vocabulary.entity_name(namespace, _iri(term)))

    def document(term: Term) -> Term | None:
        digest, _, _ = vocabulary.parse_span_iri(_iri(term))
        return ox.NamedNode(vocabulary.source_iri(digest))

    def magnitude(term: Term) -> Term | None:
        number = _lexical(term).partition(" ")[0]
        kind = "integer" if number.lstrip("-").isdecimal() else "decimal"
        if "/" in number:
            return None
        return ox.Literal(number, datatype=ox.NamedNode(vocabulary.XSD + kind))

    def unit(term: Term) -> Term | None:
        return ox.Literal(parse_quantity(_lexical(term)).unit)

    def first_day(term: Term) -> Term | None:
        return _day(parse_date(_lexical(term)).first.isoformat())

    def last_day(term: Term) -> Term | None:
        return _day(parse_date(_lexical(term)).last.isoformat())

    named = {
        "name": name,
        "document": document,
        "magnitude": magnitude,
        "unit": unit,
        "firstDay": first_day,
        "lastDay": last_day,
    }
    return {ox.NamedNode(_PW + key): _lenient(function) for key, function in named.items()}


def answer(store: ox.Store, request: dict[str, object]) -> bytes:
    """Evaluate one request and give the bytes of its result.

    Raises SyntaxError for an unreadable query, `_TooMuch` past the budget, and `_Unwritable` where
    XML cannot hold a character of the result.
    """
    content = _answer(store, request)
    if request["media_type"] not in _XML:
        return content
    found = _NOT_IN_XML.search(content)
    if found is not None:
        raise _Unwritable(f"U+{ord(found[0].decode()):04X}")
    return content.replace(b"\r", b"&#13;")  # as it is, a reader would take it for a line end


def _answer(store: ox.Store, request: dict[str, object]) -> bytes:
    rows, size = number(request["rows"]), number(request["bytes"])
    namespace = str(request["namespace"])
    media_type = str(request["media_type"])
    defaults = _graphs(request["default_graphs"])
    named = _graphs(request["named_graphs"])
    if defaults is None and named is None and not request["names_graphs"]:
        defaults = _UNION
    elif defaults is None and named is not None:
        defaults = []
    text = str(request["query"])
    if request.get("only_read"):
        store = ox.Store()
    results = store.query(
        text,
        # only what the query may name: each costs the engine some time
        prefixes={name: iri for name, iri in _prefixes(namespace) if f"{name}:" in text},
        default_graph=defaults,
        named_graphs=named,  # type: ignore[arg-type]  # holds named nodes only
        custom_functions=functions(namespace) if _FUNCTION.search(text) else None,
    )
    if request.get("only_read"):
        return b""
    if isinstance(results, ox.QueryBoolean):
        return results.serialize(format=_SOLUTIONS[media_type]) or b""
    if isinstance(results, ox.QueryTriples):
        return _triples(results, media_type, rows=rows, size=size, namespace=namespace)
    if media_type == _JSON:
        written = _Counter(rows, size, rows_begun)
        results.serialize(written, format=ox.QueryResultsFormat.JSON)
        return _checked_json(written.getvalue(), rows=rows, orders=bool(request["orders"]))
    table = _Counter(rows + 1, size, _lines)
    results.serialize(table, format=ox.QueryResultsFormat.TSV)
    header, *lines = table.getvalue().split(b"\n")
    if not request["orders"]:
        lines = [*sorted(lines[:-1]), b""]
    content = b"\n".join([header, *lines])
    if media_type == "text/tab-separated-values":
        return content
    parsed = ox.parse_query_results(content, ox.QueryResultsFormat.TSV)
    if media_type == "text/csv" and isinstance(parsed, ox.QuerySolutions):
        return _csv(parsed)
    return parsed.serialize(format=_SOLUTIONS[media_type]) or b""


def _lines(piece: bytes) -> int:
    return piece.count(b"\n")


def _checked_json(content: bytes, *, rows: int, orders: bool) -> bytes:
    """Sort the rows of a table as the engine writes it, which has no white space of its own.

    Raises `_TooMuch` for more rows than `rows`.
    """
    before, found, behind = json_rows(content)
    if len(found) > rows:
        raise _TooMuch("rows")
    if orders or len(found) < 2:
        return content
    return before + b",".join(sorted(found)) + behind


def _csv(solutions: ox.QuerySolutions) -> bytes:
    """Write a table as RFC 4180 says: IRIs too are quoted where they have a comma, as spans do."""
    written = io.StringIO(newline="")
    table = csv.writer(written, lineterminator="\r\n")
    table.writerow(variable.value for variable in solutions.variables)
    for solution in solutions:
        table.writerow(
            "" if term is None else term.value if isinstance(term, _VALUED) else str(term)
            for term in solution
        )
    return written.getvalue().encode()


def _triples(
    results: Iterable[ox.Triple], media_type: str, *, rows: int, size: int, namespace: str
) -> bytes:
    triples: set[ox.Triple] = set()
    for triple in results:
        triples.add(triple)
        if len(triples) > rows:
            raise _TooMuch("rows")
    counter = _Counter(sys.maxsize, size, _lines)
    ox.serialize(
        sorted(triples, key=str),
        counter,
        format=_GRAPHS[media_type],
        prefixes=vocabulary.prefixes(namespace),
    )
    return counter.getvalue()


def main() -> None:
    """Answer requests until stdin ends, on a thread with a large stack."""
    forbid_sockets()  # before the thread, which inherits the wall
    threading.stack_size(_STACK)
    worker = threading.Thread(target=_serve)
    worker.start()
    worker.join()


def _serve() -> None:
    serve(_Answering().reply)


class _Answering:
    """Answers requests from the store that the last one named."""

    def __init__(self) -> None:
        self._store: ox.Store | None = None
        self._opened = ""

    def reply(self, request: dict[str, object]) -> Reply:
        """Answer a request; whatever the outcome, it is a reply."""
        # without a handler the kernel ends the process, also when nobody is left to kill it
        signal.setitimer(signal.ITIMER_REAL, number(request["milliseconds"]) / 1000 + 1)
        try:
            content = answer(self._open(request), request)
        except _TooMuch as error:
            return {"status": "over budget", "detail": str(error)}, b""
        except _Unwritable as error:
            return {"status": "unwritable", "detail": str(error)}, b""
        except (SyntaxError, ValueError) as error:
            return {"status": "rejected", "detail": str(error)}, b""
        except MemoryError:
            return {"status": "over budget", "detail": "memory"}, b""
        except (OSError, RuntimeError) as error:
            return {"status": "failed", "detail": str(error)}, b""
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        return {"status": "answered"}, content

    def _open(self, request: dict[str, object]) -> ox.Store:
        path = str(request["store"])
        if path != self._opened or self._store is None:
            self._store = None
            self._store = ox.Store.read_only(path)
            self._opened = path
            limit = number(request["memory"])
            if limit:
                resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        return self._store


def _graphs(names: object) -> list[ox.NamedNode | ox.BlankNode | ox.DefaultGraph] | None:
    return [ox.NamedNode(str(name)) for name in names] if isinstance(names, list) else None


def _iri(term: Term) -> str:
    if not isinstance(term, ox.NamedNode):
        raise ValueError("not an IRI")
    return term.value


def _lexical(term: Term) -> str:
    if not isinstance(term, ox.Literal):
        raise ValueError("not a literal")
    return re.sub(r"Z\Z", "", term.value)


def _day(text: str) -> ox.Literal:
    return ox.Literal(text, datatype=ox.NamedNode(vocabulary.XSD + "date"))


def _lenient(function: Callable[[Term], Term | None]) -> Callable[..., Term | None]:
    def call(*terms: Term) -> Term | None:
        try:
            return function(*terms)
        except (KnowledgeError, ValueError, TypeError):
            return None

    return call
