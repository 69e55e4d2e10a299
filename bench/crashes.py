"""Kill a server again and again while it ingests, and compare with a run that nobody disturbed.

A client sends documents one by one and counts one as acknowledged when the summary of its upload
has come; some of the time it searches and queries in between. The server is killed (SIGKILL) at
random moments from a seed, started again, and what was not acknowledged is sent again. At the end
nothing acknowledged may be missing, and the head of the log, the RDF export, the text index and the
lattice must be those of the undisturbed run. `python -m bench.crashes --kills 50 --json`.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
from proofweave.v1 import common_pb2, knowledge_pb2

from kb.knowledge_base import KnowledgeBase
from server.cli.connection import Services, services
from server.knowledge import create_knowledge

from .report import goal, publish

NAMESPACE = "https://example.org/kb/"
ROOT = Path(__file__).parents[1]
PLACES = ("Hamburg", "Bremen", "Kiel", "Emden", "Lübeck")
STANDARDS = ("ISO 9001", "ISO 14001", "ISO 27001")


def documents(count: int, chance: random.Random) -> tuple[tuple[str, bytes], ...]:
    """Make small documents: confirmations, letters and tables, some of which repeat each other."""
    made = []
    for number in range(count):
        name = f"Company {number % (count // 2 + 1)} GmbH"
        standard, place = chance.choice(STANDARDS), chance.choice(PLACES)
        match number % 3:
            case 0:
                file, text = (
                    "letter.txt",
                    (f"{name} is certified under {standard}.\n\n{name} is based in {place}.\n"),
                )
            case 1:
                file, text = (
                    "confirmation.md",
                    (
                        "# Insurance confirmation\n\nDocument kind: insurance confirmation\n"
                        f"Date: 2 January 2026\n\nInsured: {name}\n"
                        f"Liability cover: EUR {number + 1},000,000\nPolicy number: HV-{number}\n"
                    ),
                )
            case _:
                rows = "".join(f"{name},HRB {number}{row}\n" for row in range(5))
                file, text = "register.csv", f"company,registration_number\n{rows}"
        made.append((f"{number:03d}-{file}", text.encode()))
    return tuple(made)


class Server:
    """A server process on a free port, and stubs to it."""

    def __init__(self, directory: Path) -> None:
        command = [sys.executable, "-m", "server", "serve", "--kb", str(directory)]
        self.process = subprocess.Popen(
            [*command, "--port", "0", "--http-port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'protos'}"},
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if "gRPC " not in line:
            raise RuntimeError(f"the server did not start: {line!r}")
        self.channel = grpc.insecure_channel(line.partition("gRPC ")[2].partition(",")[0])
        self.services: Services = services(self.channel)

    def kill(self) -> None:
        """End it at once."""
        self.process.send_signal(signal.SIGKILL)
        self.leave()

    def stop(self) -> None:
        """Ask it to end, and wait."""
        self.process.terminate()
        self.leave()

    def leave(self) -> None:
        """Wait for its end."""
        self.process.wait()
        self.channel.close()
        assert self.process.stdout is not None
        self.process.stdout.close()


def upload(name: str, data: bytes) -> Iterator[knowledge_pb2.IngestDocumentsRequest]:
    """Give the messages that send one document."""
    message = knowledge_pb2.IngestDocumentsRequest
    yield message(start=knowledge_pb2.IngestStart())
    yield message(document=common_pb2.FileHeader(file_name=name))
    yield message(chunk=data)


def send(found: Services, name: str, data: bytes) -> str:
    """Ingest one document; gives its digest once it is acknowledged."""
    outcome, last = found.knowledge.IngestDocuments(upload(name, data))
    if not outcome.outcome.HasField("admitted") or not last.HasField("summary"):
        raise RuntimeError(f"{name}: {outcome.outcome.rejected.message}")
    return outcome.outcome.admitted.document.source_sha256


def look(found: Services, chance: random.Random) -> None:
    """Bring a projection up to date, some of the time."""
    if chance.random() < 0.5:
        query = chance.choice(PLACES)
        found.knowledge.SearchPassages(knowledge_pb2.SearchPassagesRequest(query=query))
    if chance.random() < 0.2:
        list(found.knowledge.QueryGraph(knowledge_pb2.QueryGraphRequest(query="ASK { ?s ?p ?o }")))


def undisturbed(directory: Path, files: Sequence[tuple[str, bytes]]) -> dict[str, str]:
    """Ingest everything in one life of a server; gives the digests of the state."""
    server = Server(directory)
    try:
        for name, data in files:
            send(server.services, name, data)
    finally:
        server.stop()
    return state(directory)


def disturbed(
    directory: Path, files: Sequence[tuple[str, bytes]], *, kills: int, chance: random.Random
) -> tuple[dict[str, str], dict[str, int]]:
    """Ingest everything with kills on the way; gives the digests of the state, and counts."""
    acknowledged: list[str] = []
    counts = {"kills": 0, "lost": 0, "sent_again": -len(files)}
    longest = 0.5
    while len(acknowledged) < len(files) or counts["kills"] < kills:
        server = Server(directory)
        dying = counts["kills"] < kills
        lives = -(-(len(files) - len(acknowledged)) // max(1, kills - counts["kills"]))
        timer: threading.Timer | None = None
        try:
            with suppress(grpc.RpcError):
                for served in range(len(files) - len(acknowledged)):
                    name, data = files[len(acknowledged)]
                    if dying and timer is None and served >= chance.randint(0, max(0, lives - 1)):
                        timer = threading.Timer(chance.uniform(0, longest), server.kill)
                        timer.start()
                    began = time.monotonic()
                    counts["sent_again"] += 1
                    acknowledged.append(send(server.services, name, data))
                    longest = min(longest, 4 * (time.monotonic() - began) + 0.05)
                    look(server.services, chance)
            if dying and timer is None:
                timer = threading.Timer(chance.uniform(0, longest), server.kill)
                timer.start()
        finally:
            if timer is not None:
                timer.join()
                counts["kills"] += 1
            else:
                server.stop()
        with KnowledgeBase.open(directory) as base:
            base.verify_log()
            present = {record.source_sha256 for record in base.documents()}
        counts["lost"] += len(set(acknowledged) - present)
    return state(directory), counts


def state(directory: Path) -> dict[str, str]:
    """Give the digests of the log's head and of each projection, caught up."""
    with KnowledgeBase.open(directory) as base:
        base.verify_log()
        words = (*PLACES, *STANDARDS, "insurance confirmation", "HV-1", "register", "Company")
        found = [
            [(hit.source_sha256, hit.start, hit.end, hit.score) for hit in base.search(word, 50)]
            for word in words
        ]
        lattice = base.lattice()
        extents = [
            (
                dimension.name,
                [(str(value), count) for value, count in lattice.values(dimension.name)],
            )
            for dimension in base.dimensions()
        ]
        return {
            "head": base.head,
            "rdf": hashlib.sha256(base.rdf().n_quads()).hexdigest(),
            "text": hashlib.sha256(repr(found).encode()).hexdigest(),
            "lattice": hashlib.sha256(repr(extents).encode()).hexdigest(),
        }


def run(*, kills: int, count: int, seed: int) -> dict[str, Any]:
    """Run both and compare; gives the report."""
    files = documents(count, random.Random(seed))
    with tempfile.TemporaryDirectory() as name:
        places = Path(name, "undisturbed"), Path(name, "disturbed")
        for place in places:
            create_knowledge(place, namespace=NAMESPACE, packs=("supplier",))
        began, cpu = time.monotonic(), _cpu()
        expected = undisturbed(places[0], files)
        found, counts = disturbed(places[1], files, kills=kills, chance=random.Random(seed))
    different = [part for part in expected if expected[part] != found[part]]
    return {
        "bench": "crashes",
        "rows": [
            {
                "documents": count,
                **counts,
                "seed": seed,
                "different": ", ".join(different) or "nothing",
                "wall_s": round(time.monotonic() - began, 1),
                "cpu_s": round(_cpu() - cpu, 1),
            }
        ],
        "goals": [
            goal("kills survived", counts["kills"], kills, at_most=False),
            goal("acknowledged documents lost", counts["lost"], 0, at_most=True),
            goal("parts of the state that differ", len(different), 0, at_most=True),
        ],
    }


def _cpu() -> float:
    return sum(
        usage.ru_utime + usage.ru_stime
        for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark; gives 0 if every goal is met."""
    parser = argparse.ArgumentParser(prog="bench.crashes", description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--documents", type=int, default=60)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--out", type=Path, help="write the report to this file too")
    options = parser.parse_args(arguments)
    report = run(kills=options.kills, count=options.documents, seed=options.seed)
    publish(report, as_json=options.json, out=options.out)
    return 0 if all(entry["met"] for entry in report["goals"]) else 1


if __name__ == "__main__":
    sys.exit(main())
