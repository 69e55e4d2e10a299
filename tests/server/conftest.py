"""A live server on loopback, reached through the generated stubs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from live_server import DOCUMENTS, LIMITS, POLICY, Live, running, send
from proofweave.v1 import policy_pb2

from server.knowledge import create_knowledge
from server.settings import Settings


@pytest.fixture(scope="session")
def settings() -> Settings:
    """Small limits, so that tests reach them."""
    return Settings(limits=LIMITS)


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory, settings: Settings) -> Iterator[Live]:
    """A server with three documents and a policy; tests add to it and take nothing away."""
    directory = tmp_path_factory.mktemp("live") / "kb"
    create_knowledge(directory, namespace="https://example.org/kb/", packs=("supplier",))
    with running(directory, settings) as found:
        send(found.services, {name: text.encode() for name, text in DOCUMENTS.items()})
        request = policy_pb2.CreatePolicyVersionRequest(text=POLICY, file_name="onboarding.lp")
        found.services.policy.CreatePolicyVersion(request)
        yield found


@pytest.fixture
def empty(tmp_path: Path, settings: Settings) -> Iterator[Live]:
    """A server with a knowledge base of its own that knows nothing."""
    create_knowledge(tmp_path / "kb", namespace="https://example.org/kb/", packs=("supplier",))
    with running(tmp_path / "kb", settings) as found:
        yield found
