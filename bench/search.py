"""How many of the passages that support an answer are found, how fast, among how many.

python -m bench.search --json                      the questions that are reported
python -m bench.search --train --sizes 0           those to develop on
python -m bench.search --embeddings --sizes 0      also with dense vectors (extra `embeddings`)

Each data set is searched alone, then the passages of all together, then these among recombined ones
up to each size. `named` searches words, titles and names of the question; `linked` also follows the
names in the best passages; `directed` follows the hops of the question's plan and is given where
the pack has the relations (2WikiMultihopQA), with `linked` for questions without a plan. Beside
them stands Tantivy alone, asked for the same words. Recall is the share of a question's supporting
passages among the first 5, 10, 20, averaged over questions.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.report import goal, publish
from bench.search_data import DATASETS, Corpus, Passage, Question, Recombined, load_corpus
from bench.search_directed import Directed
from bench.search_peers import bare_tantivy, cold
from extract.names import NameIndex
from extract.packs import load_pack
from extract.question_grammar import QuestionGrammar
from extract.question_lexicon import load_lexicon
from kb.document import Document
from kb.document import Passage as Span
from kb.embedding import MiniLM
from kb.search import Place, Reach, TextIndex
from kb.vectors import WEIGHED, VectorIndex

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("PROOFWEAVE_SHARED", ROOT.parent / "shared")) / "data"
CUTS = (5, 10, 20)
LIMIT_MS = 20.0
BEFORE = 0.66
"""Recall at 5 on 2WikiMultihopQA of words alone, as measured before names were searched."""

Found = Callable[[Question], Sequence[Place]]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dataset", choices=DATASETS, action="append", help="default: all")
    parser.add_argument("--data", type=Path, default=SHARED, help="folder with one per data set")
    parser.add_argument("--sizes", type=int, nargs="*", default=[100_000, 1_000_000])
    parser.add_argument("--train", action="store_true", help="questions to develop on")
    parser.add_argument("--embeddings", action="store_true", help="also with dense vectors")
    parser.add_argument("--out", type=Path, help="write one JSON line per question and method")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    names = options.dataset or DATASETS
    corpora = [load_corpus(name, options.data / name, train=options.train) for name in names]
    bench = _Bench(options.embeddings)
    for corpus in corpora:
        bench.measure(f"{corpus.name} alone", [corpus], 0)
    bench.measure("together", corpora, 0)
    for size in options.sizes:
        if size:
            bench.measure("together", corpora, size)
    if options.out is not None:
        lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in bench.records)
        options.out.write_text("".join(lines), encoding="utf-8")
    report = {"bench": "search", "rows": bench.rows, "goals": bench.goals()}
    publish(report, as_json=options.json)


@dataclass(slots=True)
class _Pages:
    """The passages of one index by number: the real ones, then recombined ones."""

    real: tuple[Passage, ...]
    size: int
    recombined: Recombined
    made_in: float = 0.0
    _numbers: dict[str, int] = field(default_factory=dict)

    def documents(self) -> Iterator[Document]:
        """Give each passage as a document; the time it takes to make them is kept apart."""
        for number in range(self.size):
            started = time.thread_time()
            title, text = self.passage(number)
            source = hashlib.sha256(str(number).encode()).hexdigest()
            self._numbers[source] = number
            span = Span(title, 0, len(text))
            document = Document(source, "", title, "text/plain", "bench", text, (span,))
            self.made_in += time.thread_time() - started
            yield document

    def passage(self, number: int) -> Passage:
        """Give a passage."""
        if number < len(self.real):
            return self.real[number]
        return self.recombined.passage(number)

    def at(self, place: Place) -> Passage:
        """Give the passage of a place."""
        return self.passage(self._numbers[place.source_sha256])


class _ReadOnce:
    """An embedder that remembers: the same passages stand in several corpora here."""

    def __init__(self) -> None:
        self._model = MiniLM()
        self.name = self._model.name
        self.cpu = 0.0
        self.read = 0
        self._known: dict[str, bytes] = {}

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Give the vectors of some texts."""
        unknown = [text for text in dict.fromkeys(texts) if text not in self._known]
        started = time.process_time()
        self._known.update(zip(unknown, self._model.embed(unknown), strict=True))
        self.cpu += time.process_time() - started
        self.read += len(unknown)
        return [self._known[text] for text in texts]


class _Bench:
    def __init__(self, embeddings: bool) -> None:
        self.rows: list[dict[str, Any]] = []
        self.records: list[dict[str, Any]] = []
        self._embedder = _ReadOnce() if embeddings else None
        packs = [ROOT / "packs" / name for name in ("english", "wiki")]
        self._grammar = QuestionGrammar(load_lexicon(packs))
        self._packs = (load_pack(packs[1]),)

    def measure(self, label: str, corpora: Sequence[Corpus], size: int) -> None:
        """Index the passages of some corpora, filled up to a size, and ask their questions."""
        real = tuple(dict.fromkeys(p for corpus in corpora for p in corpus.passages))
        pages = _Pages(real, max(size, len(real)), Recombined(real))
        with TemporaryDirectory() as directory:
            index = TextIndex(Path(directory) / "text")
            wall, cpu = time.perf_counter(), time.process_time()
            index.add(pages.documents(), revision=1)
            wall, cpu = (
                time.perf_counter() - wall - pages.made_in,
                time.process_time() - cpu - pages.made_in,
            )
            stored = sum(file.stat().st_size for file in Path(directory).rglob("*"))
            self.rows.append(
                {
                    "measured": "index",
                    "corpus": label,
                    "passages": pages.size,
                    "per_second": round(pages.size / wall),
                    "per_cpu_second": round(pages.size / cpu),
                    "megabytes": round(stored / 1e6, 1),
                }
            )
            del index  # so that none of it need be in memory
            texts = [question.text for corpus in corpora for question in corpus.questions]
            self.rows.append(
                {"corpus": label, "passages": pages.size}
                | cold(Path(directory) / "text", texts[:: max(1, len(texts) // 20)], CUTS[-1])
            )
            index = TextIndex(Path(directory) / "text")
            bare = bare_tantivy(Path(directory) / "text")
            vectors = self._vectors(Path(directory), pages) if size == 0 else None
            for corpus in corpora:
                self._ask(label, corpus, pages, index, vectors)
                peer = partial(_asked, bare)
                self._row(label, corpus, pages, "words, bare Tantivy", peer)
            if vectors is not None:
                vectors.close()

    def _vectors(self, directory: Path, pages: _Pages) -> VectorIndex | None:
        if self._embedder is None:
            return None
        vectors = VectorIndex(directory / "vectors.sqlite", self._embedder)
        documents = dict(enumerate(pages.documents()))
        vectors.follow(documents.keys(), documents.__getitem__, revision=1)
        self.rows.append(
            {
                "measured": "vectors",
                "texts_read": self._embedder.read,
                "cpu_ms_per_text": round(self._embedder.cpu * 1000 / self._embedder.read, 1),
            }
        )
        return vectors

    def _ask(
        self,
        label: str,
        corpus: Corpus,
        pages: _Pages,
        index: TextIndex,
        vectors: VectorIndex | None,
    ) -> None:
        most = CUTS[-1]

        def text(place: Place) -> str:
            return pages.at(place)[1]

        def linked(question: Question) -> Sequence[Place]:
            return index.search(question.text, most, reach=Reach.LINKED, read=text)

        def weighed(question: Question) -> Sequence[Place]:
            assert vectors is not None
            found = index.search(question.text, WEIGHED, reach=Reach.LINKED, read=text)
            return vectors.weigh(question.text, found, most, read=text)

        methods: list[tuple[str, Found]] = [
            ("named", lambda question: index.search(question.text, most)),
            ("linked", linked),
        ]
        if vectors is not None:
            methods.append(("linked and vectors", weighed))
        planned: dict[str, bool] = {}
        if corpus.name == "2wikimultihopqa":
            directed = Directed(self._grammar, self._packs, index.search, pages.at)
            names = NameIndex(title for title, _ in pages.real)

            def by_plan(question: Question) -> Sequence[Place]:
                found = directed.find(question.text, names, most)
                planned[question.id] = found is not None
                return linked(question) if found is None else found

            methods.append(("directed", by_plan))
        for method, search in methods:
            self._row(label, corpus, pages, method, search)
        if planned:
            self.rows[-1]["with_plan"] = sum(planned.values())

    def _row(self, label: str, corpus: Corpus, pages: _Pages, method: str, search: Found) -> None:
        for question in corpus.questions[:3]:  # opens files and warms what is read once
            search(question)
        recalls: list[tuple[float, ...]] = []
        times: list[float] = []
        work: list[float] = []
        for question in corpus.questions:
            started, spent = time.perf_counter(), time.thread_time()
            found = search(question)
            work.append((time.thread_time() - spent) * 1000)
            times.append((time.perf_counter() - started) * 1000)
            passages = [pages.at(place) for place in found]
            recalls.append(tuple(_share(question.gold, passages[:cut]) for cut in CUTS))
            self.records.append(
                {
                    "id": question.id,
                    "corpus": label,
                    "passages": pages.size,
                    "method": method,
                    "question": question.text,
                    "found": [title for title, _ in passages],
                    "recall": dict(zip(map(str, CUTS), recalls[-1], strict=True)),
                    "ms": round(times[-1], 2),
                }
            )
        means = [statistics.fmean(each) for each in zip(*recalls, strict=True)]
        self.rows.append(
            {
                "measured": "recall",
                "corpus": label,
                "passages": pages.size,
                "questions_of": corpus.name,
                "split": corpus.split,
                "questions": len(corpus.questions),
                "method": method,
                **{f"recall_at_{c}": round(m, 4) for c, m in zip(CUTS, means, strict=True)},
                "ms_p50": round(statistics.median(times), 2),
                "ms_p95": round(sorted(times)[int(0.95 * (len(times) - 1))], 2),
                "cpu_ms_p50": round(statistics.median(work), 2),
                "cpu_ms_p95": round(sorted(work)[int(0.95 * (len(work) - 1))], 2),
            }
        )

    def goals(self) -> list[dict[str, Any]]:
        """Hold what was measured against the goals."""
        asked = [row for row in self.rows if row["measured"] == "recall"]
        largest = max(row["passages"] for row in asked)
        found = [
            goal(
                f"{row['method']}: ms at p95 among {largest}", row["ms_p95"], LIMIT_MS, at_most=True
            )
            for row in asked
            if row["passages"] == largest and row["method"] in ("named", "linked")
        ]
        found += [
            goal(f"{row['method']}: recall at 5", row["recall_at_5"], BEFORE, at_most=False)
            for row in asked
            if row["corpus"] == "2wikimultihopqa alone" and row["method"] != "named"
        ]
        return found


def _asked(search: Callable[[str, int], Sequence[Place]], question: Question) -> Sequence[Place]:
    return search(question.text, CUTS[-1])


def _share(gold: Iterable[Passage], found: Sequence[Passage]) -> float:
    wanted = set(gold)
    return len(wanted & set(found)) / len(wanted)


if __name__ == "__main__":
    main()
