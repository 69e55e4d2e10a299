"""How many questions are answered with a proof after the documents have been read.

python -m bench.answers --json                    2WikiMultihopQA: dev questions the corpus supports
python -m bench.answers --train --out F           training questions and their passages
python -m bench.answers --corpus F --questions F  others: passages {title, text}, questions {id,
                                                  question, answer, type}, as JSON or JSON lines

The passages are read with a pack into a new knowledge base (`--kb DIR` keeps it, or uses the one
that is there), then every question is planned and decided. An answer is right if one answer is the
gold one, but for case, marks, order of a date and what either adds, or is another word for the same
class. Every certificate is verified.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import hashlib
import json
import os
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from proofweave.v1 import common_pb2, knowledge_pb2

from bench.report import goal, publish
from bench.search_data import load_corpus, read_json
from extract.question_grammar import PlanRejected
from kb.quantity import Date
from reasoner.decide import Decision
from reasoner.evaluate import Budget
from reasoner.verdict import Verdict
from reasoner.verify import Texts, verify_bytes
from server.ingestion import Upload, ingest_upload
from server.knowledge import Knowledge, create_knowledge, open_knowledge
from server.questions import answer_question, read_question
from server.settings import Settings
from server.sources import StoredTexts

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("PROOFWEAVE_SHARED", ROOT.parent / "shared")) / "data"
MOST_WRONG = 0.03
DEADLINE_MS = 30_000


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its gold answer."""

    id: str
    kind: str
    question: str
    gold: str


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--train", action="store_true", help="questions to develop on")
    parser.add_argument("--corpus", type=Path, help="passages {title, text}; JSON, gzipped or not")
    parser.add_argument("--questions", type=Path, help="questions, JSON lines")
    parser.add_argument("--pack", default="wiki", help="shipped pack or folder (default: wiki)")
    parser.add_argument("--kb", type=Path, help="knowledge base to make, or to use if it is there")
    parser.add_argument("--valid-on", type=datetime.date.fromisoformat, default="2026-01-01")
    parser.add_argument("--limit", type=int, help="ask the first questions only")
    parser.add_argument("--out", type=Path, help="write one JSON line per question")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    if (options.corpus is None) != (options.questions is None):
        parser.error("--corpus and --questions go together")
    asked = list(_asked(options))[: options.limit]
    rows: list[dict[str, Any]] = []
    with TemporaryDirectory() as directory:
        kb = options.kb or Path(directory) / "kb"
        if not kb.exists():
            rows.append(_read(options, kb))
        bases = open_knowledge({"kb": kb})
        try:
            knowledge = bases.find("kb")
            knowledge.prepare()
            texts = Texts(StoredTexts(knowledge.base, {}))
            records = [_ask(each, knowledge, options.valid_on, texts) for each in asked]
        finally:
            bases.close()
    if options.out is not None:
        lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        options.out.write_text("".join(lines), encoding="utf-8")
    for kind in [*sorted({each.kind for each in asked}), "all"]:
        rows.append(_row(kind, [r for r in records if kind in ("all", r["type"])]))
    total = rows[-1]
    proved = max(total["right"] + total["wrong"], 1)
    goals = [
        goal("wrong among what is proved", total["wrong"] / proved, MOST_WRONG, at_most=True),
        goal("certificates verified", total["verified"], total["certificates"], at_most=False),
    ]
    publish({"bench": "answers", "rows": rows, "goals": goals}, as_json=options.json)


def _asked(options: argparse.Namespace) -> Iterator[Asked]:
    name = "train_with_context.jsonl.gz" if options.train else "dev_questions.jsonl.gz"
    file = options.questions or SHARED / "2wikimultihopqa" / name
    for form in map(json.loads, _bytes(file).decode().splitlines()):
        if form.get("support_in_corpus", True):
            identifier = str(form.get("_id") or form["id"])
            yield Asked(identifier, form.get("type", ""), form["question"], str(form["answer"]))


def _bytes(file: Path) -> bytes:
    data = file.read_bytes()
    return gzip.decompress(data) if file.suffix == ".gz" else data


def _read(options: argparse.Namespace, kb: Path) -> dict[str, Any]:
    """Make the knowledge base and read the passages into it, as an upload is read."""
    if options.corpus is not None:
        pages = read_json(options.corpus)
    else:
        corpus = load_corpus("2wikimultihopqa", SHARED / "2wikimultihopqa", train=options.train)
        pages = [{"title": title, "text": text} for title, text in corpus.passages]
    data = json.dumps(pages, ensure_ascii=False).encode()
    wall, cpu = time.perf_counter(), time.process_time()
    create_knowledge(kb, namespace="https://example.org/kb/", packs=(options.pack,))
    bases = open_knowledge({"kb": kb})
    settings = Settings()
    try:
        knowledge = bases.find("kb")
        upload = Upload(common_pb2.FileHeader(file_name="corpus.json"), len(data) + 1)
        upload.add(data)
        outcome = knowledge_pb2.DocumentOutcome()
        for response in ingest_upload(
            knowledge, upload, index=0, run="bench", extraction=settings.extraction
        ):
            if response.HasField("outcome"):
                outcome = response.outcome
        linked = knowledge.link_titles(run="bench")
    finally:
        bases.close()
    return {
        "measured": "ingest",
        "passages": len(pages),
        "statements": outcome.admitted.statements_inserted,
        "links": linked.asserted,
        "wall_s": round(time.perf_counter() - wall, 1),
        "cpu_s": round(time.process_time() - cpu, 1),
    }


def _ask(
    asked: Asked, knowledge: Knowledge, valid_on: datetime.date, texts: Texts
) -> dict[str, Any]:
    started = time.perf_counter()
    record: dict[str, Any] = {
        "id": asked.id,
        "type": asked.kind,
        "question": asked.question,
        "gold": asked.gold,
        "plan": None,
        "verdict": "ABSTAINED",
        "answers": [],
        "open": [],
        "certificate": None,
        "verified": None,
        "result": "abstained",
    }
    known = knowledge.at()
    reading = read_question(asked.question, knowledge.grammar, known)
    if isinstance(reading, PlanRejected):
        record["open"] = [["OUT_OF_SCOPE", reading.message, ""]]
        return record | {"ms": round((time.perf_counter() - started) * 1000, 1)}
    budget = Budget(deadline_ms=DEADLINE_MS, clock=time.monotonic)
    decision = answer_question(reading, known, valid_on=valid_on, engine="auto", budget=budget)
    elapsed = (time.perf_counter() - started) * 1000
    record |= {
        "plan": reading.plan.understood_as,
        "verdict": decision.verdict.value,
        "open": [[each.code.value, each.atom, each.detail] for each in decision.open],
        "ms": round(elapsed, 1),
    }
    if decision.certificate:
        report = verify_bytes(decision.certificate, texts, expect_goal=str(reading.goal))
        digest = hashlib.sha256(decision.certificate).hexdigest()
        record |= {"certificate": digest, "verified": report.valid}
    if decision.verdict is not Verdict.ABSTAINED:
        answers = _answers(decision)
        right = any(_is_same(asked.gold, answer, knowledge) for answer in answers)
        record |= {"answers": answers, "result": "right" if right else "wrong"}
    return record


def _answers(decision: Decision) -> list[str]:
    """Give the answers as people write them; yes or no where nothing is asked for."""
    if not any(atom.arguments for atom in decision.answers):
        return ["yes" if decision.verdict is Verdict.CERTIFIED else "no"]
    found = []
    for atom in decision.answers:
        (term,) = atom.arguments
        if isinstance(term, Date) and term.is_exact:
            found.append(f"{term.first:%d %B %Y}".lstrip("0"))
        else:
            found.append(str(term))
    return found


def _row(kind: str, records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    counted = Counter(record["result"] for record in records)
    codes = Counter(r["open"][0][0] for r in records if r["result"] == "abstained" and r["open"])
    return {
        "measured": "answers",
        "type": kind,
        "questions": len(records),
        "right": counted["right"],
        "wrong": counted["wrong"],
        "abstained": counted["abstained"],
        "codes": dict(sorted(codes.items())),
        "certificates": sum(record["certificate"] is not None for record in records),
        "verified": sum(record["verified"] is True for record in records),
        "ms_p50": round(statistics.median(record["ms"] for record in records), 1),
    }


def _is_same(gold: str, answer: str, knowledge: Knowledge) -> bool:
    wanted, found = _plain(_day_first(gold)), _plain(answer)
    return wanted in found or found in wanted or _is_same_class(gold, answer, knowledge)


def _is_same_class(gold: str, answer: str, knowledge: Knowledge) -> bool:
    """Whether both are words for one class, as `American` and `United States` are."""
    taxonomies = (
        dimension.taxonomy
        for pack in knowledge.packs.packs
        for dimension in pack.dimensions
        if dimension.taxonomy is not None
    )
    classes = ((taxonomy.read(gold), taxonomy.read(answer)) for taxonomy in taxonomies)
    return any(one is not None and one == other for one, other in classes)


def _day_first(text: str) -> str:
    """Write `August 10, 1960` as `10 August 1960`."""
    try:
        day = datetime.datetime.strptime(text, "%B %d, %Y").replace(tzinfo=datetime.UTC)
    except ValueError:
        return text
    return f"{day:%d %B %Y}".lstrip("0")


def _plain(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum())


if __name__ == "__main__":
    main()
