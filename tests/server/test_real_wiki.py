"""The corpus of 2WikiMultihopQA over a live server: 6,119 passages, and questions about them."""

from __future__ import annotations

import datetime
import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from live_server import Live, running, upload
from proofweave.v1 import common_pb2, knowledge_pb2, reasoning_pb2

from kb.document import Document, decode
from kb.quantity import Date
from reasoner.policy import parse_atom
from reasoner.verify import verify_bytes
from server.knowledge import create_knowledge
from server.links import LINKER
from server.settings import Settings

pytestmark = pytest.mark.shared

PASSAGES = 6_119
TYPES = ("bridge_comparison", "comparison", "compositional", "inference")


@dataclass(frozen=True, slots=True)
class Corpus:
    """The server with the corpus, the document, and what the upload was answered with."""

    live: Live
    document: Document
    responses: list[knowledge_pb2.IngestDocumentsResponse]


@pytest.fixture(scope="module")
def corpus(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    """Ingest all passages once: two minutes of work."""
    data = (shared / "2wikimultihopqa" / "corpus.json.gz").read_bytes()
    directory = tmp_path_factory.mktemp("wiki") / "kb"
    create_knowledge(directory, namespace="https://example.org/kb/", packs=("wiki",))
    with running(directory, Settings()) as live:
        messages = upload([("corpus.json.gz", data)])
        next(messages)
        start = knowledge_pb2.IngestStart(progress=True)
        asked = [knowledge_pb2.IngestDocumentsRequest(start=start), *messages]
        responses = list(live.services.knowledge.IngestDocuments(iter(asked)))
        yield Corpus(live, decode(data, name="corpus.json.gz"), responses)


@pytest.fixture(scope="module")
def questions(shared: Path) -> dict[str, list[dict[str, Any]]]:
    """The questions that the corpus supports, by type and then by id, as the file has them."""
    file = shared / "2wikimultihopqa" / "dev_questions.jsonl.gz"
    found = defaultdict(list)
    for form in map(json.loads, gzip.decompress(file.read_bytes()).splitlines()):
        if form["support_in_corpus"]:
            found[form["type"]].append(form)
    return {kind: sorted(forms, key=lambda form: form["_id"]) for kind, forms in found.items()}


def test_every_passage_is_read_and_what_is_refused_is_counted(corpus: Corpus) -> None:
    *steps, outcome, last = corpus.responses
    admitted, summary = outcome.outcome.admitted, last.summary
    assert admitted.document.passage_count == PASSAGES
    assert admitted.statements_inserted > 20_000
    assert dict(summary.rejected_by_reason) == dict(admitted.rejected_by_reason)
    assert sum(summary.rejected_by_reason.values()) < 50
    done = [step.progress.done for step in steps]
    assert (done[0], done[-1], done) == (0, PASSAGES, sorted(done))


def test_names_are_linked_to_titles_with_the_quote_of_the_passage(corpus: Corpus) -> None:
    knowledge = corpus.live.services.knowledge
    assert corpus.responses[-1].summary.links_asserted > 30
    request = knowledge_pb2.ListStatementsRequest(dimension="same_as", page_size=1000)
    links = {
        one.subject: one
        for one in knowledge.ListStatements(request).statements
        if all(evidence.extractor == LINKER for evidence in one.evidence)
    }
    for link in links.values():
        name = link.value.entity
        assert link.subject.startswith(f"{name} (")
        for evidence in link.evidence:
            assert evidence.quote.startswith(link.subject)
            text = corpus.document.text[evidence.start : evidence.end]
            assert text == evidence.quote
    assert "Walter West (director)" in links
    assert not {title for title in links if title.startswith("William Brereton (")}, "two of them"


@pytest.mark.parametrize("kind", TYPES)
def test_the_first_questions_of_a_type_have_the_answer_or_name_what_is_open(
    corpus: Corpus, questions: dict[str, list[dict[str, Any]]], kind: str
) -> None:
    for form in questions[kind][:2]:
        decision = _decide(corpus, form["question"])
        if decision.verdict == common_pb2.VERDICT_ABSTAINED:
            assert decision.open, form["question"]
            assert all(item.atom and item.query for item in decision.open)
        else:
            assert _is_gold(decision, form["answer"]), form["question"]


def test_most_of_what_is_proved_is_gold(
    corpus: Corpus, questions: dict[str, list[dict[str, Any]]]
) -> None:
    """Of 159 questions that the corpus supports; the proofs that differ are few."""
    outcomes: Counter[str] = Counter()
    differing = []
    for form in (form for kind in TYPES for form in questions[kind]):
        decision = _decide(corpus, form["question"])
        if decision.verdict == common_pb2.VERDICT_ABSTAINED:
            outcomes["abstained"] += 1
        elif _is_gold(decision, form["answer"]):
            outcomes["gold"] += 1
        else:
            differing.append((form["question"], form["answer"], _answers(decision)))
    assert outcomes.total() + len(differing) == 159
    assert outcomes["gold"] >= 75, outcomes
    assert len(differing) <= 6, differing


def _decide(corpus: Corpus, question: str) -> common_pb2.Decision:
    """Give the decision of the first reading, with its certificate checked against the corpus."""
    request = reasoning_pb2.AskQuestionRequest(question=question)
    reading = corpus.live.services.reasoning.AskQuestion(request).readings[0]
    decision = reading.decision
    if decision.certificate_content:
        texts = {corpus.document.text_sha256: corpus.document.text}
        report = verify_bytes(decision.certificate_content, texts, expect_goal=reading.plan.goal)
        assert report.valid, (question, report.message)
    return decision


def _answers(decision: common_pb2.Decision) -> list[str]:
    if not decision.answers or not decision.answers[0].bindings:
        return ["yes" if decision.verdict == common_pb2.VERDICT_CERTIFIED else "no"]
    found = []
    for answer in decision.answers:
        (term,) = parse_atom(answer.atom).arguments
        if isinstance(term, Date) and term.is_exact:
            found.append(f"{term.first:%d %B %Y}".lstrip("0"))
        else:
            found.append(str(term))
    return found


def _is_gold(decision: common_pb2.Decision, gold: str) -> bool:
    """Whether one answer is the gold one, but for case, punctuation and what either adds."""
    wanted = _plain(_day_first(gold))
    return any(wanted in found or found in wanted for found in map(_plain, _answers(decision)))


def _day_first(text: str) -> str:
    """Write `August 10, 1960` as `10 August 1960`."""
    try:
        day = datetime.datetime.strptime(text, "%B %d, %Y").replace(tzinfo=datetime.UTC)
    except ValueError:
        return text
    return f"{day:%d %B %Y}".lstrip("0")


def _plain(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())
