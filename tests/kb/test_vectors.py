from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from kb.document import Document, decode
from kb.embedding import DIMENSIONS, LONGEST, SCALE, Embedder, MiniLM, likeness
from kb.errors import EmbeddingsUnavailable
from kb.knowledge_base import KnowledgeBase
from kb.search import Place
from kb.vectors import VectorIndex

NAMESPACE = "https://example.org/kb/"


class Letters:
    """An embedder in one line: a text is the counts of its letters, and it says what it read."""

    def __init__(self, name: str = "letters/1") -> None:
        self.name = name
        self.read: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.read.extend(texts)
        return [
            bytes(min(text.lower().count(letter), SCALE) for letter in "aeiouxyz") for text in texts
        ]


def admit(base: KnowledgeBase, text: str, name: str) -> Document:
    document = decode(text.encode(), name=name)
    base.admit(document, text.encode(), [], run="r1")
    return document


def opened(directory: Path, embedder: Embedder | None) -> KnowledgeBase:
    if not (directory / "knowledge.sqlite").exists():
        KnowledgeBase.create(directory, namespace=NAMESPACE).close()
    return KnowledgeBase.open(directory, embedder=embedder)


def test_likeness_brings_found_passages_into_another_order_and_finds_no_others(
    tmp_path: Path,
) -> None:
    with opened(tmp_path, None) as base:
        admit(base, "cover zzz zzz zzz zzz", "a.txt")
        admit(base, "cover aaa aaa aaa aaa", "b.txt")
        admit(base, "xxx xxx xxx", "c.txt")
    for query, first in (("cover a aaa ae", "aaa"), ("cover z zzz ze", "zzz")):
        with opened(tmp_path, Letters()) as base:
            texts = [hit.text for hit in base.search(query, 10)]
        assert first in texts[0]
        assert len(texts) == 2
        assert not any("xxx" in text for text in texts)


def test_a_passage_is_read_once_and_forgotten_with_its_document(tmp_path: Path) -> None:
    letters = Letters()
    with opened(tmp_path, letters) as base:
        kept = admit(base, "First words.", "a.txt")
        gone = admit(base, "Second words.", "b.txt")
        base.search("words", 5)
        base.search("words", 5)
        assert sorted(letters.read) == sorted(
            [f"{kept.passages[0].title}. First words.", f"{gone.passages[0].title}. Second words."]
            + ["words"] * 2
        )
        base.retract_document(gone.source_sha256)
        assert [hit.text for hit in base.search("words", 5)] == ["First words."]
    with opened(tmp_path, Letters()) as base:
        admit(base, "Second words.", "b.txt")
        again = Letters()
    with opened(tmp_path, again) as base:
        assert len(base.search("words", 5)) == 2
    assert [text for text in again.read if "First" in text] == []


def test_vectors_of_another_model_are_not_compared(tmp_path: Path) -> None:
    with opened(tmp_path, Letters()) as base:
        admit(base, "First words.", "a.txt")
        base.search("words", 1)
    other = Letters("letters/2")
    with opened(tmp_path, other) as base:
        base.search("words", 1)
    assert len(other.read) == 2


class Tired(Letters):
    """Gives up at its second document."""

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        if self.read:
            raise KeyboardInterrupt
        return super().embed(texts)


def test_what_was_computed_before_a_crash_is_kept_and_the_rest_caught_up(tmp_path: Path) -> None:
    with opened(tmp_path, Tired()) as base:
        admit(base, "First words.", "a.txt")
        admit(base, "Second words.", "b.txt")
        with pytest.raises(KeyboardInterrupt):
            base.search("words", 5)
    rested = Letters()
    with opened(tmp_path, rested) as base:
        assert len(base.search("words", 5)) == 2
    assert len(rested.read) == 2  # the other passage and the query


def test_the_order_does_not_depend_on_when_vectors_caught_up(tmp_path: Path) -> None:
    texts = [f"Supplier {n} has cover {'aeiou'[n % 5] * n}." for n in range(12)]
    found = []
    for name, order in (("one", texts), ("two", texts[::-1])):
        with opened(tmp_path / name, Letters()) as base:
            for text in order:
                admit(base, text, f"{texts.index(text)}.txt")
                if name == "one":
                    base.search("cover", 1)
            found.append(base.search("cover aaa", 12))
    assert found[0] == found[1]


def test_likeness_is_exact_and_largest_for_the_same() -> None:
    one, other = bytes([100, 20]), bytes([20, 256 - 100])
    assert likeness(one, [one, other]) == [10400, 0]
    assert likeness(one, []) == []


def test_a_missing_model_is_said_in_one_line_that_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['onnxruntime'] = None\n"
        "from kb.embedding import MiniLM\n"
        "from kb.errors import EmbeddingsUnavailable\n"
        "try: MiniLM()\n"
        "except EmbeddingsUnavailable as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == (
        "search.embeddings needs onnxruntime, which is not installed; "
        "expected: pip install 'proofweave[embeddings]'\n"
    )


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    try:
        return MiniLM()
    except EmbeddingsUnavailable as error:
        pytest.skip(str(error))


def test_the_model_tells_meaning_apart_whatever_stands_beside_a_text(minilm: MiniLM) -> None:
    texts = [
        "The film was directed by Ann Lee.",
        "Ann Lee made the movie.",
        "Steel is an alloy of iron and carbon.",
        "word " * (2 * LONGEST),
    ]
    together = minilm.embed(texts)
    assert together == [minilm.embed([text])[0] for text in texts]
    assert {len(vector) for vector in together} == {DIMENSIONS}
    near, far = likeness(together[0], together[1:3])
    assert near > 2 * far


def test_the_model_finds_what_other_words_say(tmp_path: Path, minilm: MiniLM) -> None:
    with opened(tmp_path, minilm) as base:
        admit(
            base, "The firm buys iron ore from the mine.\n\nThe firm employs 40 workers.", "a.txt"
        )
        assert [hit.text for hit in base.search("How many people work for the firm?", 1)] == [
            "The firm employs 40 workers."
        ]


def test_a_place_without_a_vector_keeps_the_score_of_its_words(tmp_path: Path) -> None:
    index = VectorIndex(tmp_path / "v.sqlite", Letters())
    places = (Place("s", "t", 0, 1, 2.0), Place("s", "t", 5, 6, 1.0))
    assert index.weigh("a", places, 5, read=lambda _: "") == places
    index.close()


def test_a_place_that_stands_no_longer_is_weighed_by_its_text(tmp_path: Path) -> None:
    index = VectorIndex(tmp_path / "v.sqlite", Letters())
    gone, other = Place("s", "t", 0, 1, 1.0), Place("s", "t", 5, 6, 1.0)
    texts = {gone: "zzz", other: "aaa"}
    ordered = index.weigh("a", (gone, other), 5, read=lambda place: texts[place])
    assert [place.start for place in ordered] == [other.start, gone.start]
    index.close()
