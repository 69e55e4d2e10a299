"""The service in one process: gRPC with health and reflection, and HTTP beside it."""

from __future__ import annotations

import datetime
import logging
import signal
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from types import FrameType

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection
from proofweave.v1 import (
    certificate_pb2,
    certificate_pb2_grpc,
    knowledge_pb2,
    knowledge_pb2_grpc,
    policy_pb2,
    policy_pb2_grpc,
    reasoning_pb2,
    reasoning_pb2_grpc,
)

from kb.embedding import Embedder, MiniLM

from .calls import Desk
from .certificate_service import CertificateService
from .errors import SettingsRejected
from .imports import import_upload
from .interceptors import CallInterceptor
from .knowledge import KnowledgeBases, open_knowledge
from .knowledge_service import KnowledgeService
from .occupancy import occupied
from .operations import Operations
from .policy_service import PolicyService
from .reasoning_service import ReasoningService
from .settings import Settings

LOG = logging.getLogger("proofweave")

SERVICES = tuple(
    file.DESCRIPTOR.services_by_name[name].full_name
    for file, name in (
        (knowledge_pb2, "KnowledgeService"),
        (reasoning_pb2, "ReasoningService"),
        (policy_pb2, "PolicyService"),
        (certificate_pb2, "CertificateService"),
    )
)

GRACE_SECONDS = 5.0

WAKES_SECONDS = 0.2
"""How often a server looks whether it is to stop."""

WAIT_SECONDS = 60.0
"""How long a command waits for another one on the same knowledge base."""


@contextmanager
def serving(bases: KnowledgeBases, settings: Settings, address: str) -> Iterator[int]:
    """Serve gRPC at an address while the block runs; gives the port (0 on a Unix socket).

    Raises SettingsRejected where the address cannot be had.
    """
    desk = Desk(bases, settings, lambda: datetime.datetime.now(datetime.UTC), time.sleep)
    work = partial(import_upload, limit=settings.limits.document_bytes)
    operations = Operations(desk.timestamp, work)
    options = [
        ("grpc.max_receive_message_length", settings.server.max_receive_bytes),
        ("grpc.so_reuseport", 0),
    ]
    server = grpc.server(
        ThreadPoolExecutor(settings.server.workers, thread_name_prefix="call"),
        interceptors=[CallInterceptor(settings.auth)],
        options=options,
    )
    knowledge_pb2_grpc.add_KnowledgeServiceServicer_to_server(
        KnowledgeService(desk, operations), server
    )
    reasoning_pb2_grpc.add_ReasoningServiceServicer_to_server(ReasoningService(desk), server)
    policy_pb2_grpc.add_PolicyServiceServicer_to_server(PolicyService(desk), server)
    certificate_pb2_grpc.add_CertificateServiceServicer_to_server(CertificateService(desk), server)
    status = health.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(status, server)
    reflection.enable_server_reflection((*SERVICES, reflection.SERVICE_NAME), server)
    try:
        port = server.add_insecure_port(address)
    except RuntimeError as error:
        raise SettingsRejected(f"the address {address} cannot be had: {error}") from error
    server.start()
    for name in ("", *SERVICES):
        status.set(name, health_pb2.HealthCheckResponse.SERVING)
    try:
        yield port
    finally:
        status.enter_graceful_shutdown()
        server.stop(GRACE_SECONDS).wait()
        operations.close()


def _embedder(settings: Settings) -> Embedder | None:
    """Load the model of dense vectors, if the settings want them."""
    return MiniLM() if settings.search.embeddings else None


@contextmanager
def private_server(directory: Path, socket: Path, settings: Settings) -> Iterator[str]:
    """Serve one knowledge base on a Unix socket while the block runs; gives the address."""
    open_settings = settings.model_copy(update={"auth": type(settings.auth)()})
    with ExitStack() as stack:
        stack.enter_context(occupied(directory, wait_seconds=WAIT_SECONDS))
        bases = open_knowledge({directory.resolve().name: directory}, embedder=_embedder(settings))
        stack.callback(bases.close)
        stack.enter_context(serving(bases, open_settings, f"unix:{socket}"))
        yield f"unix:{socket}"


def run(directories: Mapping[str, Path], settings: Settings) -> None:
    """Serve until a signal comes, then end calls in flight and leave."""
    import uvicorn

    from .http import web_application

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    host = settings.server.host
    with ExitStack() as stack:
        places = dict.fromkeys(path.resolve() for path in directories.values())
        telling = [stack.enter_context(occupied(place)) for place in places]
        bases = open_knowledge(directories, embedder=_embedder(settings))
        stack.callback(bases.close)
        with serving(bases, settings, f"{host}:{settings.server.port}") as port:
            for tell in telling:
                tell(f"{host}:{port}")
            application = web_application(bases, settings, f"{host}:{port}")
            web = uvicorn.Server(
                uvicorn.Config(
                    application,
                    host=host,
                    port=settings.server.http_port,
                    log_level="warning",
                    lifespan="off",
                )
            )
            for knowledge in bases.bases.values():
                threading.Thread(target=knowledge.prepare, name="prepare", daemon=True).start()
            with web_server(web) as http_port:
                names = ", ".join(sorted(bases.bases))
                print(f"serving {names}: gRPC {host}:{port}, HTTP {host}:{http_port}", flush=True)
                wait_for_signal()
                LOG.info("stopping")


@contextmanager
def web_server(web: object) -> Iterator[int]:
    """Run the HTTP server in a thread while the block runs; gives its port."""
    import uvicorn

    assert isinstance(web, uvicorn.Server)
    thread = threading.Thread(target=web.run, name="http", daemon=True)
    thread.start()
    while not web.started and thread.is_alive():
        time.sleep(0.01)
    if not web.started:
        raise SettingsRejected(
            f"the address {web.config.host}:{web.config.port} cannot be had for HTTP"
        )
    try:
        yield int(web.servers[0].sockets[0].getsockname()[1])
    finally:
        web.should_exit = True
        thread.join(GRACE_SECONDS)


def wait_for_signal() -> None:
    """Wait for SIGINT or SIGTERM.

    The system may hand a signal to any thread; Python runs its handler in this one, once it wakes.
    """
    received: list[int] = []

    def stop(number: int, _: FrameType | None) -> None:
        received.append(number)

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    while not received:
        time.sleep(WAKES_SECONDS)
