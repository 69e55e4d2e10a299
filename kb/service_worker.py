"""The process that puts a query to a SPARQL endpoint of others: it has sockets and no store.

It can be killed at any time, so it needs no limit of time for names, connections, headers and slow
drips one by one. It follows no redirect, whatever the endpoint says, and reads no further than it
may. The rows come back as text that can stand in a query; nothing of an answer is taken over as it
came.
"""

from __future__ import annotations

import hashlib
import http.client
import re
import resource
import signal
import ssl
from collections.abc import Mapping
from urllib.parse import urlencode, urlsplit

import pyoxigraph as ox

from .frames import Reply, number, serve

_ACCEPT = "application/sparql-results+json, application/sparql-results+xml;q=0.5"
_FORMATS = {
    "application/sparql-results+json": ox.QueryResultsFormat.JSON,
    "application/json": ox.QueryResultsFormat.JSON,
    "application/sparql-results+xml": ox.QueryResultsFormat.XML,
    "application/xml": ox.QueryResultsFormat.XML,
    "text/xml": ox.QueryResultsFormat.XML,
}
_IRI = re.compile(r'[^<>"{}|^`\\\x00-\x20]+')
_PIECE = 1 << 16
_LONGEST_PROBLEM = 200
_OK = 200


class _Failed(Exception):
    """The endpoint gave no rows."""


class _TooMuch(Exception):
    """More rows or bytes than allowed."""


def main() -> None:
    """Answer requests until stdin ends."""
    serve(_answer)


def _answer(request: dict[str, object]) -> Reply:
    # without a handler the kernel ends the process, also when nobody is left to kill it
    signal.setitimer(signal.ITIMER_REAL, number(request["milliseconds"]) / 1000 + 1)
    limit = number(request["memory"])
    if limit:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    try:
        rows, written = ask(request)
    except _TooMuch as error:
        return {"status": "over budget", "detail": str(error)}, b""
    except MemoryError:
        return {"status": "over budget", "detail": "memory"}, b""
    except _Failed as error:
        return {"status": "failed", "detail": str(error)}, b""
    except (OSError, http.client.HTTPException, ValueError) as error:
        detail = _one_line(str(error)) or type(error).__name__
        return {"status": "failed", "detail": f"cannot be asked: {detail}"}, b""
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return {"status": "answered", "rows": rows}, written.encode()


def ask(request: Mapping[str, object]) -> tuple[int, str]:
    """Put a query to an endpoint; gives how many rows came, and a group of VALUES with them."""
    content, media_type = _fetch(
        str(request["endpoint"]), str(request["query"]), most=number(request["bytes"])
    )
    try:
        solutions = ox.parse_query_results(content, _FORMATS[media_type])
        if not isinstance(solutions, ox.QuerySolutions):
            raise _Failed("answered with a Boolean, where rows were asked for")
        return _values(
            solutions,
            mentioned=frozenset(map(str, _list(request["variables"]))),
            rows=number(request["rows"]),
            size=number(request["bytes"]),
            # one name for one blank node of one answer, and for no other
            blank=f"{request['namespace']}genid/"
            + hashlib.sha256(str(request["endpoint"]).encode() + b"\n" + content).hexdigest()[:16],
        )
    except (SyntaxError, ValueError) as error:
        raise _Failed(f"answered with what is no {media_type}: {_one_line(str(error))}") from error


def _fetch(endpoint: str, query: str, *, most: int) -> tuple[bytes, str]:
    parts = urlsplit(endpoint)
    host = parts.hostname or ""
    connection = (
        http.client.HTTPSConnection(host, parts.port, context=ssl.create_default_context())
        if parts.scheme == "https"
        else http.client.HTTPConnection(host, parts.port)
    )
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection.request(
        "POST",
        path,
        urlencode({"query": query}),
        {
            "Content-Type": "application/x-www-form-urlencoded",
            "Accept": _ACCEPT,
            "Accept-Encoding": "identity",
            "User-Agent": "proofweave",
        },
    )
    response = connection.getresponse()
    if 300 <= response.status < 400:
        elsewhere = _one_line(response.getheader("location") or "")
        raise _Failed(
            f"answered with {response.status}, a redirect to {elsewhere or 'nowhere'}, which is "
            "not followed; list the endpoint that it moved to"
        )
    if response.status != _OK:
        said = _one_line(response.read(_PIECE).decode(errors="replace"))
        raise _Failed(f"answered with status {response.status}" + (f": {said}" if said else ""))
    media_type = (response.getheader("content-type") or "").partition(";")[0].strip().lower()
    if media_type not in _FORMATS:
        raise _Failed(
            f"answered with the type {_one_line(media_type)!r}; expected SPARQL results in JSON or "
            "XML"
        )
    if (response.getheader("content-encoding") or "identity").lower() != "identity":
        raise _Failed("answered in an encoding that was not asked for")
    pieces: list[bytes] = []
    while piece := response.read(_PIECE):
        pieces.append(piece)
        most -= len(piece)
        if most < 0:
            raise _TooMuch("bytes")
    return b"".join(pieces), media_type


def _values(
    solutions: ox.QuerySolutions, *, mentioned: frozenset[str], rows: int, size: int, blank: str
) -> tuple[int, str]:
    named = [str(variable) for variable in solutions.variables]
    if not mentioned.issuperset(named) or len(set(named)) < len(named):
        strange = next((name for name in named if name not in mentioned), named[0])
        raise _Failed(f"answered for {strange[:100]}, which it was not asked for")
    blanks: dict[str, int] = {}
    lines: list[str] = []
    for solution in solutions:
        if len(lines) >= rows:
            raise _TooMuch("rows")
        lines.append("(" + " ".join(_written(term, blank, blanks) for term in solution) + ")")
        size -= len(lines[-1])
        if size < 0:  # what is written may be longer than what came
            raise _TooMuch("bytes")
    return len(lines), f"{{ VALUES ({' '.join(named)}) {{ {' '.join(lines)} }} }}"


def _written(term: object, blank: str, blanks: dict[str, int]) -> str:
    match term:
        case None:
            return "UNDEF"
        case ox.NamedNode(value=iri):
            if not _IRI.fullmatch(iri):
                raise ValueError(f"{iri[:100]!r} is no IRI")
            return f"<{iri}>"
        case ox.BlankNode(value=label):
            return f"<{blank}/{blanks.setdefault(label, len(blanks) + 1)}>"
        case ox.Literal():
            return str(term)
    raise ValueError("a triple about a triple; expected an IRI, a literal or a blank node")


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _one_line(text: str) -> str:
    plain = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return plain[:_LONGEST_PROBLEM]
