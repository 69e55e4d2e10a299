"""The server a command speaks to: at an address, or a private one on a Unix socket."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
from proofweave.v1 import (
    certificate_pb2_grpc,
    knowledge_pb2_grpc,
    policy_pb2_grpc,
    reasoning_pb2_grpc,
)

from ..errors import RequestRejected, ServerUnreachable
from ..settings import Settings
from .credentials import TokenInterceptor

CONNECT_SECONDS = 5.0

LARGEST_PORT = 65535


@dataclass(frozen=True, slots=True)
class Services:
    """Stubs of the four services."""

    knowledge: knowledge_pb2_grpc.KnowledgeServiceStub
    reasoning: reasoning_pb2_grpc.ReasoningServiceStub
    policy: policy_pb2_grpc.PolicyServiceStub
    certificate: certificate_pb2_grpc.CertificateServiceStub


def services(channel: grpc.Channel) -> Services:
    """Make the stubs over a channel."""
    return Services(
        knowledge_pb2_grpc.KnowledgeServiceStub(channel),
        reasoning_pb2_grpc.ReasoningServiceStub(channel),
        policy_pb2_grpc.PolicyServiceStub(channel),
        certificate_pb2_grpc.CertificateServiceStub(channel),
    )


@dataclass(frozen=True, slots=True)
class Target:
    """Where a command finds its server: exactly one of `server` and `kb`."""

    server: str | None
    kb: Path | None
    token: str | None = None


@contextmanager
def connect(target: Target, settings: Settings) -> Iterator[Services]:
    """Open a channel to the target, starting a private server on a Unix socket for `kb`.

    Raises RequestRejected without a target, and ServerUnreachable where nobody answers.
    """
    if target.server is not None and target.kb is not None:
        raise RequestRejected("--kb and --server are both given; expected one of them")
    if target.server is None and target.kb is None:
        raise RequestRejected("say where the knowledge is: --kb DIR or --server HOST:PORT")
    if target.server is not None:
        port = target.server.rpartition(":")[2]
        if port.isdecimal() and int(port) > LARGEST_PORT:
            raise RequestRejected(
                f"--server {target.server} has the port {port}; expected one of 1 to {LARGEST_PORT}"
            )
        with _channel(target.server, settings, target.token) as channel:
            yield services(channel)
        return
    from ..serving import private_server  # loads the engines; an address needs none of them

    assert target.kb is not None
    with (
        tempfile.TemporaryDirectory(prefix="proofweave-") as directory,
        private_server(target.kb, Path(directory) / "socket", settings) as address,
        _channel(address, settings, None) as channel,
    ):
        yield services(channel)


@contextmanager
def _channel(address: str, settings: Settings, token: str | None) -> Iterator[grpc.Channel]:
    options = [
        ("grpc.max_receive_message_length", settings.server.max_receive_bytes),
        ("grpc.primary_user_agent", "proofweave"),
        ("grpc.enable_http_proxy", 0),
    ]
    with grpc.insecure_channel(address, options=options) as plain:
        try:
            grpc.channel_ready_future(plain).result(timeout=CONNECT_SECONDS)
        except grpc.FutureTimeoutError as error:
            raise ServerUnreachable(
                f"no server answers at {address}; start one with 'proofweave serve --kb DIR'"
            ) from error
        yield plain if token is None else grpc.intercept_channel(plain, TokenInterceptor(token))
