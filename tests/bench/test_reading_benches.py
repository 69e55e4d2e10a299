"""The benches of reading count what they say they count, on a corpus of three passages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bench import answers, extraction, search
from bench.search_data import Recombined
from extract.packs import load_pack

PACK = Path(__file__).resolve().parents[2] / "packs" / "wiki"
PAGES = {
    "The Lantern Road (film)": "The Lantern Road is a 1987 Irish film directed by Maeve Corrigan.",
    "Maeve Corrigan": "Maeve Corrigan (born 4 May 1950) is a Welsh film director.",
    "Tom Hale": "Tom Hale (born 1960) is a painter who dislikes films.",
}
QUESTION = "When was the director of film The Lantern Road (Film) born?"


def test_a_recombined_passage_is_the_same_whenever_it_is_asked_for() -> None:
    made = Recombined(tuple(PAGES.items()))
    again = Recombined(tuple(PAGES.items()))
    assert [made.passage(n) for n in range(50)] == [again.passage(n) for n in range(49, -1, -1)][
        ::-1
    ]
    titles = {made.passage(n)[0] for n in range(50)}
    assert len(titles) > 3
    assert not any(text in PAGES.values() for _, text in map(made.passage, range(50)))


def test_extraction_counts_found_wrong_and_unsaid_triples() -> None:
    row = {
        "_id": "q",
        "context": [[title, [text]] for title, text in PAGES.items()],
        "supporting_facts": [["The Lantern Road (film)", 0], ["Maeve Corrigan", 0]],
        "evidences": [
            ["The Lantern Road", "director", "Maeve Corrigan"],
            ["Maeve Corrigan", "date of birth", "1950"],
            ["Maeve Corrigan", "country of citizenship", "United Kingdom"],
            ["Maeve Corrigan", "place of birth", "Cork"],
            ["The Lantern Road", "publication date", "1986"],
        ],
    }
    found = {each.relation: each for each in extraction.measure([row], load_pack(PACK))}
    assert {name: (each.hits, each.wrong) for name, each in found.items()} == {
        "director": (1, 0),
        "date_of_birth": (1, 0),
        "country_of_citizenship": (1, 0),
        "place_of_birth": (0, 0),
        "publication_date": (0, 1),
    }
    assert found["place_of_birth"].stated == 0


def test_answers_are_proved_abstained_from_and_compared(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages = [{"title": title, "text": text} for title, text in PAGES.items()]
    (tmp_path / "pages.json").write_text(json.dumps(pages), encoding="utf-8")
    asked = [
        {"id": "1", "type": "a", "question": QUESTION, "answer": "May 4, 1950"},
        {"id": "2", "type": "a", "question": QUESTION, "answer": "May 4, 1951"},
        {"id": "3", "type": "b", "question": "Where was Tom Hale born?", "answer": "Cork"},
        {"id": "4", "type": "b", "question": "Why is the sky?", "answer": "blue"},
    ]
    lines = "".join(json.dumps(each) + "\n" for each in asked)
    (tmp_path / "questions.jsonl").write_text(lines, encoding="utf-8")
    arguments = ["--corpus", "pages.json", "--questions", "questions.jsonl", "--out", "out.jsonl"]
    paths = [str(tmp_path / each) if "." in each else each for each in arguments]
    answers.main([*paths, "--json"])
    report = json.loads(capsys.readouterr().out)
    (total,) = [row for row in report["rows"] if row.get("type") == "all"]
    assert (total["right"], total["wrong"], total["abstained"]) == (1, 1, 2)
    assert total["certificates"] == total["verified"] == 3
    records = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [record["result"] for record in records] == ["right", "wrong", "abstained", "abstained"]
    assert records[2]["open"][0][1].startswith("place_of_birth")


def test_recall_counts_the_supporting_passages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "hotpotqa"
    folder.mkdir()
    row: dict[str, Any] = {
        "_id": "q",
        "question": "When was the director of the film The Lantern Road born?",
        "supporting_facts": [["The Lantern Road (film)", 0], ["Maeve Corrigan", 0]],
        "context": [[title, [text]] for title, text in PAGES.items()],
    }
    (folder / "train100_corpus.json").write_text("{}", encoding="utf-8")
    (folder / "dev_distractor.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    arguments = ["--data", str(tmp_path), "--dataset", "hotpotqa", "--sizes", "40", "--json"]
    search.main(arguments)
    rows = json.loads(capsys.readouterr().out)["rows"]
    recalls = {
        (each["passages"], each["method"]): each["recall_at_5"]
        for each in rows
        if each["measured"] == "recall"
    }
    methods = {"named", "linked", "words, bare Tantivy"}
    assert set(recalls) == {(size, method) for size in (3, 40) for method in methods}
    assert recalls[3, "linked"] == 1.0
    assert all(0 <= recall <= 1 for recall in recalls.values())
