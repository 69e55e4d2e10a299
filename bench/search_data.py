"""Questions with the passages that support them, and passages recombined to make a corpus large.

A recombined passage has sentences of real passages with their names exchanged for names of other
real passages, and a title put together from two. It is the same wherever it is asked for.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Passage = tuple[str, str]
"""Title and text."""

DATASETS = ("2wikimultihopqa", "hotpotqa", "musique")

_NAME = re.compile(r"[^\W\d_a-zß-öø-ÿ][\w’'-]+(?:\s[^\W\d_a-zß-öø-ÿ][\w’'-]+)*")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the passages that support its answer."""

    id: str
    text: str
    gold: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Corpus:
    """The passages of one data set, without doubles, and questions about them."""

    name: str
    split: str
    passages: tuple[Passage, ...]
    questions: tuple[Question, ...]


def load_corpus(name: str, folder: Path, *, train: bool) -> Corpus:
    """Read the training questions, to develop on, or the questions to report, of a data set.

    The passages are those given with the questions, and the corpus of the data set.
    """
    match name, train:
        case "2wikimultihopqa", True:
            rows = read_lines(folder / "train_with_context.jsonl.gz")
            return _contexts(name, "train, 500 with contexts", rows, [])
        case "2wikimultihopqa", False:
            pages = [(row["title"], row["text"]) for row in _json(folder / "corpus.json.gz")]
            rows = read_lines(folder / "dev_questions.jsonl.gz")
            supported = [row for row in rows if row["support_in_corpus"]]
            return _contexts(name, "dev, shared half, supported by the corpus", supported, pages)
        case "hotpotqa", _:
            corpus = _json(folder / "train100_corpus.json")
            pages = [(title, " ".join(sentences)) for title, sentences in corpus.items()]
            file = "train100_distractor.jsonl" if train else "dev_distractor.jsonl"
            split = "train, 100" if train else "dev distractor, shared half"
            return _contexts(name, split, read_lines(folder / file), pages)
        case "musique", _:
            rows = read_lines(folder / "train100_corpus.jsonl")
            pages = [(row["title"], row["text"]) for row in rows]
            file = "train100" if train else "dev"
            rows = read_lines(folder / f"{file}_with_paragraphs.jsonl.gz")
            split = "train, 100" if train else "dev with paragraphs, shared half"
            return _paragraphs(name, split, rows, pages)
    raise ValueError(f"there is no data set {name!r}; expected one of {', '.join(DATASETS)}")


def _contexts(name: str, split: str, rows: list[Any], pages: list[Passage]) -> Corpus:
    known = dict.fromkeys(pages)
    for row in rows:
        for title, sentences in row.get("context", ()):
            known.setdefault((title, " ".join(sentences)))
    by_title: dict[str, Passage] = {}
    for passage in known:
        by_title.setdefault(passage[0], passage)
    questions = []
    for row in rows:
        titles = sorted({title for title, _ in row["supporting_facts"]})
        gold = tuple(by_title[title] for title in titles)
        questions.append(Question(row["_id"], row["question"], gold))
    return Corpus(name, split, tuple(known), tuple(questions))


def _paragraphs(name: str, split: str, rows: list[Any], pages: list[Passage]) -> Corpus:
    known = dict.fromkeys(pages)
    questions = []
    for row in rows:
        found = [(p["title"], p["paragraph_text"]) for p in row["paragraphs"]]
        known.update(dict.fromkeys(found))
        gold = {f for f, p in zip(found, row["paragraphs"], strict=True) if p["is_supporting"]}
        questions.append(Question(row["id"], row["question"], tuple(sorted(gold))))
    return Corpus(name, split, tuple(known), tuple(questions))


class Recombined:
    """Passages made of the sentences and names of real ones, by number."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._titles = sorted({title for title, _ in passages})
        self._sentences: list[tuple[str, ...]] = []
        names: dict[str, None] = {}
        self._counts: list[int] = []
        for _, text in passages:
            sentences = [s for s in _SENTENCE.split(text) if s]
            self._counts.append(min(len(sentences), 8) or 1)
            for sentence in sentences:
                self._sentences.append(tuple(_NAME.split(sentence)))
                names.update(dict.fromkeys(_NAME.findall(sentence)))
        self._names = sorted(names)

    def passage(self, number: int) -> Passage:
        """Give a passage; the same number always gives the same."""
        source = random.Random(number)
        one, other = source.choice(self._titles).split(), source.choice(self._titles).split()
        title = " ".join([*one[: (len(one) + 1) // 2], *other[len(other) // 2 :]])
        pieces = [title]
        for place in range(source.choice(self._counts)):
            frame = source.choice(self._sentences)
            words = [frame[0]]
            for part in frame[1:]:
                words += [source.choice(self._names), part]
            pieces.append("".join(words) if place else "".join(words[2:] or words))
        return title, " ".join(pieces)


def read_lines(file: Path) -> list[Any]:
    """Read JSON lines, gzipped or not."""
    return [json.loads(line) for line in _text(file).splitlines()]


def _json(file: Path) -> Any:  # what the file holds
    return json.loads(_text(file))


def _text(file: Path) -> str:
    data = file.read_bytes()
    return (gzip.decompress(data) if file.suffix == ".gz" else data).decode()
