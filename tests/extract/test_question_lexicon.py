"""Reading packs' questions.yaml: every faulty entry is reported."""

from __future__ import annotations

from pathlib import Path

import pytest
from question_world import PACKS

from extract.errors import PackRejected
from extract.question_grammar import QuestionGrammar
from extract.question_lexicon import Role, load_lexicon
from reasoner.hop import Hop, ValueKind


def folder(path: Path, text: str) -> Path:
    path.mkdir()
    (path / "questions.yaml").write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("pack", ["wiki", "metaqa", "supplier"])
def test_shipped_packs_compile(pack: str) -> None:
    lexicon = load_lexicon([PACKS / "english", PACKS / pack])
    assert QuestionGrammar(lexicon).lexicon.relations[Role.NOUN]


def test_the_dimensions_of_a_pack_are_refined_by_its_questions() -> None:
    types = load_lexicon([PACKS / "english", PACKS / "wiki"]).types
    born = types.dimension("date_of_birth")
    assert (born.kind, born.functional, born.value_types) == (ValueKind.TIME, True, ("time",))


def test_a_derived_dimension_is_a_chain_or_the_time_between(tmp_path: Path) -> None:
    lexicon = load_lexicon(
        [
            folder(
                tmp_path / "tiny",
                """
                dimensions:
                  father: {kind: entity, subject: person, value: person, functional: true}
                  born: {kind: time, subject: person}
                  died: {kind: time, subject: person}
                derived:
                  grandfather: {chain: [father, father]}
                  grandchild: {chain: [-father, -father]}
                  age: {years: [born, died]}
                """,
            )
        ]
    )
    grandfather = lexicon.types.definitions["grandfather"]
    assert grandfather.alternatives == ((Hop("father"), Hop("father")),)
    assert grandfather.type.functional
    assert not lexicon.types.definitions["grandchild"].type.functional
    assert lexicon.types.definitions["age"].type.kind is ValueKind.NUMBER


def test_every_problem_is_reported(tmp_path: Path) -> None:
    faulty = folder(
        tmp_path / "faulty",
        """
        words: {be: [is, on]}
        types: {film: movie}
        dimensions: {director: {kind: enity}}
        derived: {twice: {chain: [directr]}, empty: {}}
        lexicon:
          directer: {noun: [director]}
          director: {nouns: [director], takes: [no]}
        """,
    )
    with pytest.raises(PackRejected) as caught:
        load_lexicon([faulty])
    said = str(caught.value)
    for part in ("True", "'film'", "'enity'", "'directr'", "'empty'", "'directer'", "'nouns'"):
        assert part in said, part
    assert "False" in said
