"""The film knowledge base of MetaQA over a live server: 133,582 triples, questions of all types."""

from __future__ import annotations

import gzip
import hashlib
import itertools
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from live_server import Live, running
from proofweave.v1 import common_pb2, knowledge_pb2, reasoning_pb2

from reasoner.policy import parse_atom
from reasoner.verify import verify_bytes
from server.knowledge import create_knowledge
from server.settings import Settings

pytestmark = pytest.mark.shared

TYPES = {1: 13, 2: 21, 3: 15}
RELATIONS = {
    "director": "directed_by",
    "writer": "written_by",
    "actor": "starred_actors",
    "year": "release_year",
    "language": "in_language",
    "genre": "has_genre",
    "tag": "has_tags",
    "tags": "has_tags",
    "imdbrating": "has_imdb_rating",
    "imdbvotes": "has_imdb_votes",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of the data set with its type and answers."""

    question: str
    kind: str
    gold: frozenset[str]


class Triples:
    """The table itself, followed without any of our code: says where gold is complete."""

    def __init__(self, text: str) -> None:
        self.values: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.subjects: dict[tuple[str, str], set[str]] = defaultdict(set)
        for line in text.splitlines():
            subject, relation, value = line.split("|")
            self.values[subject, relation].add(value)
            self.subjects[value, relation].add(subject)

    def answers(self, topic: str, kind: str) -> frozenset[str]:
        """Follow a chain such as `movie_to_director_to_movie`, never back to where it began."""
        stations = kind.split("_to_")
        found = {topic}
        for source, target in itertools.pairwise(stations):
            table = self.values if source == "movie" else self.subjects
            relation = RELATIONS[target if source == "movie" else source]
            found = {value for name in found for value in table[name, relation]}
            if len(stations) > 2:
                found.discard(topic)
        return frozenset(found)


def _read(path: Path) -> str:
    return path.read_text() if path.exists() else gzip.open(f"{path}.gz", "rt").read()


def _questions(folder: Path, hops: int) -> Iterator[Asked]:
    lines = _read(folder / f"{hops}-hop" / "qa_dev.txt").splitlines()
    kinds = _read(folder / f"{hops}-hop" / "qa_dev_qtype.txt").splitlines()
    for line, kind in zip(lines, kinds, strict=True):
        question, _, answers = line.partition("\t")
        yield Asked(question, kind, frozenset(answers.split("|")))


@dataclass(frozen=True, slots=True)
class Films:
    """The server with the films, the text it read, and how its import ended."""

    live: Live
    text: str
    imported: knowledge_pb2.Operation


@pytest.fixture(scope="module")
def films(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Films]:
    data = (shared / "metaqa" / "kb.txt.gz").read_bytes()
    directory = tmp_path_factory.mktemp("films") / "kb"
    create_knowledge(directory, namespace="https://example.org/kb/", packs=("metaqa",))
    message = knowledge_pb2.ImportStatementsRequest
    start = knowledge_pb2.ImportStart(file=common_pb2.FileHeader(file_name="kb.txt.gz"))
    with running(directory, Settings()) as live:
        knowledge = live.services.knowledge
        pieces = (data[at : at + 500_000] for at in range(0, len(data), 500_000))
        messages = [message(start=start), *(message(chunk=piece) for piece in pieces)]
        operation = knowledge.ImportStatements(iter(messages)).operation
        while operation.state == knowledge_pb2.Operation.STATE_RUNNING:
            request = knowledge_pb2.GetOperationRequest(name=operation.name, wait_ms=10_000)
            operation = knowledge.GetOperation(request).operation
        yield Films(live, gzip.decompress(data).decode(), operation)


def test_every_triple_is_imported_by_the_mapping_of_the_pack(films: Films) -> None:
    operation = films.imported
    assert operation.state == knowledge_pb2.Operation.STATE_SUCCEEDED, operation.problem
    admitted = operation.outcome.admitted
    assert admitted.mapping == "metaqa/kb.mapping.yaml"
    assert (admitted.statements_inserted, dict(admitted.rejected_by_reason)) == (133_582, {})
    assert operation.done == operation.total == len(films.text)


@pytest.mark.parametrize("hops", TYPES)
def test_a_question_of_each_type_has_the_answers_of_gold(
    films: Films, shared: Path, hops: int
) -> None:
    """The first of each type in the file whose gold is complete: equal to the chain followed."""
    triples = Triples(films.text)
    first: dict[str, Asked] = {}
    for asked in _questions(shared / "metaqa", hops):
        topic = asked.question.partition("[")[2].partition("]")[0]
        if asked.kind not in first and triples.answers(topic, asked.kind) == asked.gold:
            first[asked.kind] = asked
    assert len(first) == TYPES[hops]
    wrong = {
        asked.question: found
        for _, asked in sorted(first.items())
        if (found := _answers(films, asked.question)) != asked.gold
    }
    assert wrong == {}


def _answers(films: Films, question: str) -> frozenset[str] | str:
    """Give the answers of the only reading, with its certificate checked against the table."""
    request = reasoning_pb2.AskQuestionRequest(question=question)
    (reading,) = films.live.services.reasoning.AskQuestion(request).readings
    decision = reading.decision
    if decision.verdict != common_pb2.VERDICT_CERTIFIED:
        return f"{common_pb2.AbstentionCode.Name(decision.code)}: {reading.plan.understood_as}"
    data = decision.certificate_content
    assert hashlib.sha256(data).hexdigest() == decision.certificate_sha256
    text_sha256 = hashlib.sha256(films.text.encode()).hexdigest()
    report = verify_bytes(data, {text_sha256: films.text}, expect_goal=reading.plan.goal)
    assert report.valid, report.message
    terms = [parse_atom(answer["atom"]).arguments[0] for answer in json.loads(data)["answers"]]
    return frozenset(str(term) for term in terms)


def test_a_film_that_is_not_there_is_an_abstention(films: Films) -> None:
    request = reasoning_pb2.AskQuestionRequest(question="who directed [Kismet of Proofweave]")
    for reading in films.live.services.reasoning.AskQuestion(request).readings:
        assert reading.decision.verdict == common_pb2.VERDICT_ABSTAINED
        assert reading.decision.open
