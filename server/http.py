"""HTTP beside gRPC: SPARQL 1.1 Protocol, vocabulary, and every method as JSON over POST.

`GET /vocabulary` defines our terms, `GET /knowledgeBases/NAME/vocabulary` the dimensions, as OWL.
`POST /v1/ReasoningService/ProveGoal` with the request as protobuf JSON answers with the response as
protobuf JSON, or with lines of it for a method that streams. The call goes to the gRPC service with
the credentials of the HTTP request, so there is one place that answers.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import Any

import grpc
from google.protobuf import json_format
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message_factory import GetMessageClass
from proofweave.v1 import certificate_pb2, knowledge_pb2, policy_pb2, reasoning_pb2
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from kb.errors import FormatUnavailable, ProofweaveError
from kb.query_budget import QueryOptions, Warn

from .auth import permit, requester
from .errors import RequestRejected
from .json_message import read_message
from .knowledge import Knowledge, KnowledgeBases
from .names import ANY
from .settings import Settings, services_of
from .sparql import answer_sparql, for_every_origin, preflight
from .status import code_of, failure_of
from .translate import day_of
from .vocabulary import dimensions_document, terms_document

HTTP_STATUS = {
    grpc.StatusCode.INVALID_ARGUMENT: HTTPStatus.BAD_REQUEST,
    grpc.StatusCode.UNAUTHENTICATED: HTTPStatus.UNAUTHORIZED,
    grpc.StatusCode.PERMISSION_DENIED: HTTPStatus.FORBIDDEN,
    grpc.StatusCode.NOT_FOUND: HTTPStatus.NOT_FOUND,
    grpc.StatusCode.ALREADY_EXISTS: HTTPStatus.CONFLICT,
    grpc.StatusCode.RESOURCE_EXHAUSTED: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    grpc.StatusCode.UNIMPLEMENTED: HTTPStatus.NOT_IMPLEMENTED,
    grpc.StatusCode.UNAVAILABLE: HTTPStatus.SERVICE_UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED: HTTPStatus.GATEWAY_TIMEOUT,
}

SPARQL_METHODS = ["GET", "POST", "OPTIONS", "PUT", "PATCH", "DELETE"]

METHODS: dict[tuple[str, str], MethodDescriptor] = {
    (service.name, method.name): method
    for file in (knowledge_pb2, reasoning_pb2, policy_pb2, certificate_pb2)
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
    if not method.client_streaming
}


def web_application(bases: KnowledgeBases, settings: Settings, address: str) -> Starlette:
    """Make the application; `address` is the gRPC service it passes calls on to."""
    channel = grpc.insecure_channel(
        address, options=[("grpc.max_receive_message_length", settings.server.max_receive_bytes)]
    )

    async def call(request: Request) -> Response:
        found = METHODS.get((request.path_params["service"], request.path_params["method"]))
        if found is None:
            return _problem(HTTPStatus.NOT_FOUND, "NOT_FOUND", "there is no such method")
        try:
            message = read_message(await request.body(), found.input_type)
        except RequestRejected as error:
            return _failed(error)
        token = request.headers.get("authorization")
        metadata = (("authorization", token),) if token else ()
        path = f"/{found.containing_service.full_name}/{found.name}"
        answer = GetMessageClass(found.output_type)
        try:
            if found.server_streaming:
                stream = channel.unary_stream(path, _serialize, answer.FromString)(
                    message, metadata=metadata
                )
                return StreamingResponse(_lines(stream), media_type="application/x-ndjson")
            method = channel.unary_unary(path, _serialize, answer.FromString)
            response = await run_in_threadpool(method, message, metadata=metadata)
        except grpc.RpcError as error:
            failure = failure_of(error)
            status = HTTP_STATUS.get(failure.status, HTTPStatus.INTERNAL_SERVER_ERROR)
            return _problem(status, failure.reason, failure.message)
        return Response(json_format.MessageToJson(response), media_type="application/json")

    def permitted(request: Request) -> Knowledge:
        who = requester(settings.auth, request.headers.items())
        knowledge = bases.find(request.path_params.get("name", ANY))
        permit(settings.auth, who, knowledge.name)
        return knowledge

    async def sparql(request: Request) -> Response:
        if request.method == "OPTIONS":
            return preflight()
        try:
            knowledge = permitted(request)
        except ProofweaveError as error:
            return for_every_origin(_failed(error))

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
            # catching up with the log may take seconds: here, not on the event loop
            known = knowledge.at(at).known if at else knowledge.base
            options = QueryOptions(
                tuple(default_graphs), tuple(named_graphs), services_of(settings), warn
            )
            day = day_of(valid_on, field="valid-on")
            return known.query(text, accept, valid_on=day, options=options)

        return await answer_sparql(request, query)

    async def terms(request: Request) -> Response:
        try:
            return _document(terms_document(request.headers.get("accept", "")))
        except FormatUnavailable as error:
            return _problem(HTTPStatus.NOT_ACCEPTABLE, error.code, str(error))

    async def dimensions(request: Request) -> Response:
        def write() -> tuple[str, bytes]:
            knowledge = permitted(request)
            accept = request.headers.get("accept", "")
            return dimensions_document(knowledge.dimensions(), knowledge.base.namespace, accept)

        try:
            return _document(await run_in_threadpool(write))
        except FormatUnavailable as error:
            return _problem(HTTPStatus.NOT_ACCEPTABLE, error.code, str(error))
        except ProofweaveError as error:
            return _failed(error)

    async def alive(_: Request) -> Response:
        return JSONResponse({"status": "serving"})

    return Starlette(
        routes=[
            Route("/healthz", alive),
            Route("/v1/{service}/{method}", call, methods=["POST"]),
            Route("/vocabulary", terms),
            Route("/knowledgeBases/{name}/vocabulary", dimensions),
            Route("/sparql", sparql, methods=SPARQL_METHODS),
            Route("/knowledgeBases/{name}/sparql", sparql, methods=SPARQL_METHODS),
        ]
    )


def _serialize(message: Any) -> bytes:  # any message class: grpc serializers are not generic
    return bytes(message.SerializeToString())


def _lines(stream: Any) -> Iterator[str]:  # a response iterator of any message class
    try:
        for message in stream:
            yield json_format.MessageToJson(message, indent=None) + "\n"
    except grpc.RpcError as error:
        failure = failure_of(error)
        problem = {"reason": failure.reason, "message": failure.message}
        yield json.dumps({"error": problem}, ensure_ascii=False) + "\n"


def _document(written: tuple[str, bytes]) -> Response:
    media_type, content = written
    headers = {"Content-Type": media_type, "Vary": "Accept", "Access-Control-Allow-Origin": "*"}
    if media_type.startswith("text/"):
        headers["Content-Type"] += "; charset=utf-8"
    return Response(content, headers=headers)


def _failed(error: ProofweaveError) -> Response:
    status = HTTP_STATUS.get(code_of(error), HTTPStatus.INTERNAL_SERVER_ERROR)
    response = _problem(status, error.code, str(error))
    if status is HTTPStatus.UNAUTHORIZED:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def _problem(status: HTTPStatus, reason: str, message: str) -> Response:
    return JSONResponse({"error": {"reason": reason, "message": message}}, status_code=status)
