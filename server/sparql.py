"""SPARQL 1.1 Protocol over HTTP: one endpoint that queries and never updates.

GET and POST (form or `application/sparql-query`) ask; GET without a query describes the service.
Two parameters beyond the protocol choose what is asked: `at`, a revision, and `valid-on`, a day.
Answers: 200; 400 unreadable or not allowed; 404 no such revision; 405, 406, 413, 414, 415 as HTTP
says; 502 an endpoint that SERVICE asks gave no answer; 503 where a query outran its budget.
Problems are told in one sentence of plain text. What an answer does not show, such as a dimension
that nobody has defined, stands in headers `Proofweave-Warning`, one sentence each.

Source: W3C, SPARQL 1.1 Protocol (2013), section 2; SPARQL 1.1 Service Description (2013).
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol
from urllib.parse import parse_qsl, quote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from kb.errors import (
    FormatUnavailable,
    IRIRejected,
    KnowledgeError,
    LogUnavailable,
    QueryOverBudget,
    QueryRejected,
    RevisionUnknown,
    ServiceFailed,
)
from kb.query_budget import Warn
from kb.sparql import GRAPH_FORMATS, SOLUTION_FORMATS
from kb.vocabulary import FUNCTIONS

from .errors import RequestRejected

_LOG = logging.getLogger(__name__)

MAX_REQUEST_BYTES = 1024 * 1024
"""Longest body or query string that is read."""

WARNING = "Proofweave-Warning"
"""Header with one sentence about what an answer does not show, percent-encoded beyond ASCII."""

MOST_WARNINGS = 10
LONGEST_WARNING = 500
"""Characters of a warning, before they are encoded."""

_VISIBLE = "".join(map(chr, range(32, 127))).replace("%", "")
_METHODS = "GET, HEAD, POST, OPTIONS"
_FORM = "application/x-www-form-urlencoded"
_QUERY = "application/sparql-query"
_CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": _METHODS,
    "Access-Control-Allow-Headers": "Accept, Authorization, Content-Type",
    "Access-Control-Expose-Headers": WARNING,
    "Access-Control-Max-Age": "86400",
}
_SERVICE = "http://www.w3.org/ns/sparql-service-description#"
_FORMAT_NAMES = {
    "application/sparql-results+json": "SPARQL_Results_JSON",
    "application/sparql-results+xml": "SPARQL_Results_XML",
    "text/csv": "SPARQL_Results_CSV",
    "text/tab-separated-values": "SPARQL_Results_TSV",
    "text/turtle": "Turtle",
    "application/n-triples": "N-Triples",
    "application/trig": "TriG",
    "application/rdf+xml": "RDF_XML",
    "application/ld+json": "JSON-LD",
}


class QueryFunction(Protocol):
    """Answers a query with a media type chosen by an Accept header; may block."""

    def __call__(
        self,
        text: str,
        accept: str,
        *,
        default_graphs: Sequence[str],
        named_graphs: Sequence[str],
        at: str,
        valid_on: str,
        warn: Warn,
    ) -> tuple[str, bytes]: ...


class _Refused(Exception):
    """A request that never becomes a query."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def sparql_app(query: QueryFunction, *, path: str = "/sparql") -> Starlette:
    """Make an application that serves `query` at `path`."""

    async def endpoint(request: Request) -> Response:
        return await answer_sparql(request, query)

    every_method = ["GET", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"]
    return Starlette(routes=[Route(path, endpoint, methods=every_method)])


async def answer_sparql(request: Request, query: QueryFunction) -> Response:
    """Answer one request of the protocol; every outcome is a response."""
    try:
        response = await _answer(request, query)
    except _Refused as error:
        response = _problem(error.status, str(error))
        if error.status == 405:
            response.headers["Allow"] = _METHODS
    except (QueryRejected, IRIRejected, RequestRejected) as error:
        response = _problem(400, str(error))
    except RevisionUnknown as error:
        response = _problem(404, str(error))
    except FormatUnavailable as error:
        response = _problem(406, str(error))
    except ServiceFailed as error:
        response = _problem(502, str(error))
    except QueryOverBudget as error:
        response = _problem(503, str(error))
        response.headers["Retry-After"] = "30"
    except LogUnavailable as error:
        response = _problem(503, str(error))
        response.headers["Retry-After"] = "30"
    except KnowledgeError:
        _LOG.exception("a SPARQL query failed")
        response = _problem(500, "the query failed on our side; nothing is said about its answers")
    response.headers["Vary"] = "Accept"
    return for_every_origin(response)


def for_every_origin(response: Response) -> Response:
    """Let pages of any origin read a response; what it needs to ask stands in its headers."""
    response.headers.update(_CORS)
    return response


def preflight() -> Response:
    """Answer a browser that asks, without credentials, whether it may ask."""
    return for_every_origin(Response(status_code=204, headers={"Allow": _METHODS}))


async def _answer(request: Request, query: QueryFunction) -> Response:
    if request.method == "OPTIONS":
        return preflight()
    parameters = _parameters(request.url.query, 414, "query string")
    accept = ", ".join(request.headers.getlist("accept"))
    match request.method:
        case "GET" | "HEAD":
            if all(name != "query" for name, _ in parameters):
                _refuse_update(parameters)
                text = _description(str(request.url.replace(query="", fragment="")))
                return _success(await run_in_threadpool(_plain, query, text, accept))
        case "POST":
            content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if content_type == _FORM:
                body = await _body(request)
                parameters += _parameters(body, 413, "body")
            elif content_type == _QUERY:
                if any(name == "query" for name, _ in parameters):
                    raise _Refused(
                        400, "the query is both in the body and in the URL; expected one"
                    )
                parameters.append(("query", await _body(request)))
            elif content_type == "application/sparql-update":
                _refuse_update([("update", "")])
            else:
                raise _Refused(
                    415, f"the body has the type {content_type!r}; expected {_FORM} or {_QUERY}"
                )
        case method:
            raise _Refused(405, f"the endpoint has no {method}; expected one of {_METHODS}")
    _refuse_update(parameters)
    texts = [value for name, value in parameters if name == "query"]
    if len(texts) != 1:
        raise _Refused(400, f"the request has {len(texts)} queries; expected exactly one")
    default_graphs = [value for name, value in parameters if name == "default-graph-uri"]
    named_graphs = [value for name, value in parameters if name == "named-graph-uri"]

    at, valid_on = _only(parameters, "at"), _only(parameters, "valid-on")
    warnings: list[str] = []

    def run() -> tuple[str, bytes]:
        return query(
            texts[0],
            accept,
            default_graphs=default_graphs,
            named_graphs=named_graphs,
            at=at,
            valid_on=valid_on,
            warn=warnings.append,
        )

    return _success(await run_in_threadpool(run), warnings)


def _plain(query: QueryFunction, text: str, accept: str) -> tuple[str, bytes]:
    return query(
        text,
        accept,
        default_graphs=(),
        named_graphs=(),
        at="",
        valid_on="",
        warn=lambda _: None,
    )


def _only(parameters: list[tuple[str, str]], name: str) -> str:
    """Give the value of a parameter that may stand once; empty where it does not."""
    values = [value for key, value in parameters if key == name]
    if len(values) > 1:
        raise _Refused(400, f"the request has {len(values)} values of {name!r}; expected one")
    if values == [""]:
        raise _Refused(400, f"the parameter {name!r} is empty; expected a value, or no parameter")
    return values[0] if values else ""


def _success(answer: tuple[str, bytes], warnings: Sequence[str] = ()) -> Response:
    media_type, content = answer
    if media_type.startswith("text/"):
        media_type += "; charset=utf-8"
    response = Response(content, headers={"Content-Type": media_type})
    for warning in warnings[:MOST_WARNINGS]:
        # a header holds ASCII alone: the rest as in an IRI
        response.headers.append(WARNING, quote(warning[:LONGEST_WARNING], safe=_VISIBLE))
    return response


def _problem(status: int, message: str) -> Response:
    return PlainTextResponse(message + "\n", status_code=status)


def _refuse_update(parameters: list[tuple[str, str]]) -> None:
    if any(
        name in ("update", "using-graph-uri", "using-named-graph-uri") for name, _ in parameters
    ):
        raise _Refused(
            400,
            "updates are not served here; expected a query, since what is known changes only "
            "through documents and statements",
        )


def _parameters(text: str, status: int, where: str) -> list[tuple[str, str]]:
    if len(text) > MAX_REQUEST_BYTES:
        raise _Refused(status, f"the {where} is longer than {MAX_REQUEST_BYTES} bytes")
    try:
        return parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=1000)
    except ValueError as error:
        raise _Refused(400, f"the {where} is not form-encoded UTF-8: {error}") from error


async def _body(request: Request) -> str:
    """The body as text, not read further than allowed."""
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > MAX_REQUEST_BYTES:
            raise _Refused(413, f"the body is longer than {MAX_REQUEST_BYTES} bytes")
        parts.append(part)
    try:
        return b"".join(parts).decode()
    except UnicodeDecodeError as error:
        raise _Refused(400, f"the body is not UTF-8: {error}") from error


def _description(endpoint: str) -> str:
    """A query that constructs the description of the service, so that any RDF format serves it."""
    formats = " ,\n    ".join(
        f"<http://www.w3.org/ns/formats/{_FORMAT_NAMES[media_type]}>"
        for media_type in (*SOLUTION_FORMATS, *GRAPH_FORMATS)
    )
    functions = " , ".join(f"pw:{name}" for name in FUNCTIONS)
    return f"""PREFIX sd: <{_SERVICE}>
CONSTRUCT {{
  <{endpoint}> a sd:Service ;
    sd:endpoint <{endpoint}> ;
    sd:supportedLanguage sd:SPARQL11Query ;
    sd:feature sd:UnionDefaultGraph ;
    sd:extensionFunction {functions} ;
    sd:resultFormat {formats} .
}} WHERE {{}}"""
