"""The benches of imports on small data: what they count and what they hold it against."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import load, metaqa_hops

FILMS = """\
Kismet|directed_by|Ann
Boom|directed_by|Ann
Boom|directed_by|Bob
Dusk|directed_by|Bob
Kismet|in_language|Danish
Boom|in_language|English
Dusk|in_language|Finnish
Dusk|release_year|1999
"""


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    """A folder with films and questions in the form of MetaQA."""
    asked = {
        1: [("when was [Dusk] released", "1999", "movie_to_year")],
        2: [("films by the director of [Kismet]", "Boom", "movie_to_director_to_movie")],
        3: [
            (
                "languages of films by the directors of [Boom]",
                "Danish|Finnish",
                "movie_to_director_to_movie_to_language",
            ),
            (
                "gold that lacks one",
                "Danish",
                "movie_to_director_to_movie_to_language",
            ),
        ],
    }
    for hops, lines in asked.items():
        folder = tmp_path / f"{hops}-hop"
        folder.mkdir()
        questions = [
            (text if "[" in text else f"{text} [Boom]", answers) for text, answers, _ in lines
        ]
        text = "".join(f"{question}\t{answers}\n" for question, answers in questions)
        (folder / "qa_dev.txt").write_text(text)
        (folder / "qa_dev_qtype.txt").write_text("".join(f"{kind}\n" for _, _, kind in lines))
    (tmp_path / "kb.txt").write_text(FILMS)
    return tmp_path


def test_chains_are_answered_with_witnesses_and_never_go_back(
    dataset: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--kb", str(dataset / "kb.txt"), "--questions", str(dataset), "--json"]
    metaqa_hops.main([*arguments, "--triples", "0", "--triples", "4"])
    report = json.loads(capsys.readouterr().out)
    rows = {(row["triples"], row["step"]): row for row in report["rows"]}
    assert report["split"] == "upstream dev"
    assert rows[8, "import"]["statements"] == 8
    whole = rows[8, "all"]
    assert (whole["questions"], whole["answers"], whole["any hit"]) == (4, 6, 1.0)
    assert (whole["equal"], whole["superset"], whole["equal with return"]) == (0.75, 0.25, 0.25)
    assert whole["witnesses"] == {"right": 6, "wrong": 0}
    part = rows[4, "all"]
    assert (part["as walked"], part["answers"], part["witnesses"]["right"]) == (1.0, 1, 1)
    names = {entry["name"]: entry["met"] for entry in report["goals"]}
    assert names["8 triples, all: equal to gold"] is False


def test_both_stores_give_the_same_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "kb.txt").write_text(FILMS.replace("Ann", "Dusk"))
    load.main(["--quads", "2400", "--kb", str(tmp_path / "kb.txt"), "--json"])
    report = json.loads(capsys.readouterr().out)
    rows = {row["step"]: row for row in report["rows"]}
    assert set(rows) == set(load.STEPS)
    assert {row["quads"] for row in rows.values()} == {24}
    assert rows["two hops"]["answers"] == rows["bare two hops"]["answers"] == 2
    assert len(report["goals"]) == 4
