"""The pattern language: what it accepts, and what it says of what it does not."""

from __future__ import annotations

import pytest

from extract.pack import Pattern, PatternKind, SubjectSource
from extract.phrase import (
    Gap,
    Optional,
    Path,
    Phrase,
    PhraseRejected,
    Slot,
    TextPattern,
    Word,
    compile_pattern,
)


def compiled(source: str, kind: PatternKind = PatternKind.PHRASE) -> Phrase | Path | TextPattern:
    return compile_pattern(Pattern(kind, source, SubjectSource.GOVERNOR, "p.yaml", 1))


def test_elements_of_a_phrase() -> None:
    phrase = compiled("{subject's} seat is|was [in | close to] .. ... {value}")
    assert isinstance(phrase, Phrase)
    assert phrase.elements == (
        Slot("subject", possessive=True),
        Word((("seat",),)),
        Word((("is",), ("was",))),
        Optional(((Word((("in",),)),), (Word((("close",),)), Word((("to",),))))),
        Gap(3, plain=True),
        Gap(12, plain=False),
        Slot("value"),
    )
    assert phrase.triggers == {"seat"}
    assert phrase.has_subject


def test_a_gap_may_end_a_bracket_and_hyphens_join_tokens() -> None:
    phrase = compiled("co-directed [by ..] {value}")
    assert isinstance(phrase, Phrase)
    assert phrase.elements[0] == Word((("co", "-", "directed"),))
    assert phrase.elements[1] == Optional(((Word((("by",),)), Gap(3, plain=True)),))


def test_a_path_has_steps() -> None:
    path = compiled("{subject} <nsubjpass register >prep:in >pobj {value}", PatternKind.PATH)
    assert isinstance(path, Path)
    assert [(step.up, sorted(step.arcs), sorted(step.words)) for step in path.steps] == [
        (True, ["nsubjpass"], ["register"]),
        (False, ["prep"], ["in"]),
        (False, ["pobj"], []),
    ]


@pytest.mark.parametrize(
    ("source", "kind", "words"),
    [
        ("registered in", PatternKind.PHRASE, "needs {value} once"),
        ("{value} {value} in", PatternKind.PHRASE, "needs {value} once"),
        ("{subject} {value}", PatternKind.PHRASE, "one word that is not optional"),
        ("in [the {value}", PatternKind.PHRASE, "is not closed"),
        ("in the] {value}", PatternKind.PHRASE, "closes nothing"),
        ("in {valu}", PatternKind.PHRASE, "is no slot; expected one of {date}"),
        ("a | b {value}", PatternKind.PHRASE, "outside of [..]"),
        ("{subject} >pobj", PatternKind.PATH, "from {subject} to {value}"),
        ("{subject} in {value}", PatternKind.PATH, "does not follow an arc"),
        ("(born", PatternKind.TEXT, "is no regular expression"),
        ("born {date}", PatternKind.TEXT, "needs the group"),
    ],
)
def test_what_cannot_be_read_is_explained(source: str, kind: PatternKind, words: str) -> None:
    with pytest.raises(PhraseRejected, match=words.replace("{", r"\{").replace("[", r"\[")):
        compiled(source, kind)
