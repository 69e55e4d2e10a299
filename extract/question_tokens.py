"""Questions as tokens with their spans; bracketed and quoted names are one token each."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Token:
    """A word, sign or delimited name, with its half-open span in the question.

    `word` is the case-folded form that is matched; `name` the content where the token is a name
    the question itself delimits: `[Kismet]`, `"Kismet"`, `“Kismet”`.
    """

    text: str
    word: str
    start: int
    end: int
    name: str | None = None


_TOKEN = re.compile(
    r"\[(?P<bracketed>[^\[\]]+)\]"
    r"|“(?P<curly>[^“”]+)”"
    r"|\"(?P<straight>[^\"]+)\""
    r"|(?P<possessive>(?:['’]|&apos;)s\b)"
    r"|(?P<word>\w+(?:[-.&/]\w+)*)"
    r"|(?P<sign>\S)",
    re.IGNORECASE,
)


def tokens_of(question: str) -> tuple[Token, ...]:
    """Split a question into tokens, in order."""
    tokens = []
    for match in _TOKEN.finditer(question):
        name = match["bracketed"] or match["curly"] or match["straight"]
        text = match.group()
        word = text.casefold().replace("’", "'").replace("&apos;", "'")
        tokens.append(Token(text, word, match.start(), match.end(), name))
    return tuple(tokens)


def words_of(phrase: str) -> tuple[str, ...]:
    """Split a lexical phrase as questions are split, giving the words that are matched."""
    return tuple(token.word for token in tokens_of(phrase))
