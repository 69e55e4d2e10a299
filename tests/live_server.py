"""A live server on loopback and what it is told, for end-to-end tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
from proofweave.v1 import common_pb2, knowledge_pb2

from server.cli.connection import Services, services
from server.knowledge import open_knowledge
from server.serving import serving
from server.settings import LimitsSection, Settings

LIMITS = LimitsSection(document_bytes=100_000, inline_certificate_bytes=8_000, page=10)

DOCUMENTS = {
    "acme-insurance.md": (
        "# Insurance confirmation\n\n"
        "Document kind: insurance confirmation\nIssuer: Hanse Insurance AG\n"
        "Date: 2 January 2026\n\nInsured: Acme GmbH\n"
        "Liability cover: EUR 5,000,000\nPolicy number: HV-1\n"
    ),
    "small-insurance.md": (
        "# Insurance confirmation\n\n"
        "Document kind: insurance confirmation\nIssuer: Hanse Insurance AG\n"
        "Date: 2 January 2026\n\nInsured: Tiny Ltd\n"
        "Liability cover: EUR 50,000\nPolicy number: HV-2\n"
    ),
    "certificates.md": (
        "# Certificates\n\nAcme GmbH is certified under ISO 9001.\n\n"
        "Tiny Ltd is not certified under ISO 9001.\n"
    ),
}

POLICY = """\
%! policy: onboarding
%! version: 1

%! rule: eligible
%! cite: Policy 1
%! says: "{S} may be onboarded"
eligible(S) :- insured(S), certified_under(S, "ISO 9001").

%! rule: insured
%! cite: Policy 4.2
%! says: "{S} is insured for {C}, at least {M}"
insured(S) :- liability_cover(S, C), required_cover(M), C >= M.

%! rule: required
%! cite: Policy 4.1
%! says: "at least 1 million euros are required"
required_cover(@quantity("1000000 EUR")).

%! rule: rejected
%! cite: Policy 9
%! says: "{S} may not be onboarded"
-eligible(S) :- -certified_under(S, "ISO 9001").
"""


@dataclass(frozen=True, slots=True)
class Live:
    """A running server: its stubs, its address, its directory."""

    services: Services
    address: str
    directory: Path


@contextmanager
def running(directory: Path, settings: Settings) -> Iterator[Live]:
    """Serve a knowledge base on a free loopback port."""
    bases = open_knowledge({"kb": directory})
    with ExitStack() as stack:
        stack.callback(bases.close)
        port = stack.enter_context(serving(bases, settings, "127.0.0.1:0"))
        address = f"127.0.0.1:{port}"
        channel = stack.enter_context(grpc.insecure_channel(address))
        yield Live(services(channel), address, directory)


def upload(files: Iterable[tuple[str, bytes]]) -> Iterator[knowledge_pb2.IngestDocumentsRequest]:
    """Give the messages of an upload, in small pieces."""
    message = knowledge_pb2.IngestDocumentsRequest
    yield message(start=knowledge_pb2.IngestStart())
    for name, data in files:
        yield message(document=common_pb2.FileHeader(file_name=name))
        for start in range(0, len(data), 10_000):
            yield message(chunk=data[start : start + 10_000])


def send(
    found: Services, files: dict[str, bytes]
) -> tuple[list[knowledge_pb2.DocumentOutcome], knowledge_pb2.IngestSummary]:
    """Ingest files; gives the outcomes and the summary."""
    responses = list(found.knowledge.IngestDocuments(upload(files.items())))
    assert responses[-1].HasField("summary")
    return [response.outcome for response in responses[:-1]], responses[-1].summary


POLICY_TESTS = """\
tests:
  - name: an insured supplier passes
    facts: |
      liability_cover(acme, @quantity("5000000 EUR")).
    goal: insured(acme)
    verdict: CERTIFIED
  - name: without a cover it is asked for
    goal: insured(acme)
    verdict: ABSTAINED
    open:
      - liability_cover(acme, C)
  - name: a wrong expectation
    goal: insured(acme)
    verdict: CERTIFIED
"""
