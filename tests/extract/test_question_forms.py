"""The notation of forms, and what is wrong with faulty ones."""

from __future__ import annotations

import pytest

from extract.errors import PackRejected
from extract.question_forms import Call, Grammar, Node, compile_grammar


def sequences(grammar: Grammar) -> set[tuple[str, ...]]:
    found: set[tuple[str, ...]] = set()

    def walk(node: Node, path: tuple[str, ...]) -> None:
        if node.complete:
            found.add(path)
        for symbol, following in node.following.items():
            walk(following, (*path, symbol))

    walk(grammar.root, ())
    return found


def test_options_alternatives_and_word_lists_are_expanded() -> None:
    grammar = compile_grammar(
        (("question", "(who|which person)? @be {np} => ask(np)"),), {"be": ("is", "was")}
    )
    assert sequences(grammar) == {
        ("=who", "=is", "np"),
        ("=who", "=was", "np"),
        ("=which", "=person", "=is", "np"),
        ("=which", "=person", "=was", "np"),
        ("=is", "np"),
        ("=was", "np"),
    }
    assert grammar.literals == {"who", "which", "person", "is", "was"}


def test_groups_nest() -> None:
    grammar = compile_grammar((("q", "{np} (in (a few|some) words)? => np"),), {})
    assert sequences(grammar) == {
        ("np",),
        ("np", "=in", "=a", "=few", "=words"),
        ("np", "=in", "=some", "=words"),
    }


def test_a_repeated_constituent_is_counted() -> None:
    grammar = compile_grammar((("q", "{np} or {np} => several(np2, np)"),), {})
    (production,) = grammar.root.following["np"].following["=or"].following["np"].complete
    assert production.meaning == Call("several", (1, 0))


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ("{np} or => several(np, np2)", "'np2', which its pattern lacks"),
        ("{np} (or => np", "lacks a closing parenthesis"),
        ("{np} @bee => np", "no word list 'bee'"),
        ("who? => any()", "may be empty"),
        ("{np} => ask(np", "lacks a closing parenthesis"),
        ("{np} => ask(np) np", "goes on with"),
    ],
)
def test_faulty_forms_are_explained(form: str, reason: str) -> None:
    with pytest.raises(PackRejected, match=reason):
        compile_grammar((("q", form),), {"be": ("is",)})


def test_all_faulty_forms_are_reported_together() -> None:
    with pytest.raises(PackRejected) as caught:
        compile_grammar((("q", "{np} => x"), ("q", "{np} => y")), {})
    assert len(caught.value.findings) == 2
