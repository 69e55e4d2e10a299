"""The small language of relation patterns, compiled to elements.

A *phrase* runs over the words of one sentence:

    {subject} is|was registered in [the] {value}

| form | matches |
|---|---|
| `word`, `a\\|b` | the word, or one of the words, in any case; `co-director` is one word |
| `<marry>` | any form of the verb or noun (`marries`, `married`) |
| `[..]` | what stands inside, or nothing; ` | ` in spaces parts alternatives of several words |
| `..`, `...`, `....` | up to 3, 12 or 60 words without a semicolon; `..` takes no preposition |
| `^` | the beginning of the sentence |
| `{subject}` | a name, pronoun or description that resolves to an entity |
| `{subject's}` | the same as a possessive: `Ann's`, `her` |
| `{value}` | what the dimension holds: a name, date, amount, number or class |
| `{name}`, `{date}` | any name or date, passed over |

A *path* walks the dependency tree: `{subject} <nsubjpass register >prep:in >pobj {value}` goes
from the subject up an `nsubjpass` arc to a form of "register", then down. A *text* is a regular
expression over the sentence in which `{date}`, `{name}` and `{amount}` stand for the forms that are
read, and the group `value` (and, if it is there, `subject`) is taken.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from .amounts import AMOUNT_PATTERN
from .normalize import DATE_PATTERN
from .pack import Pattern, PatternKind

LONGEST_GAP = 60
LONG_GAP = 12
SHORT_GAP = 3
_SLOTS = {"subject", "subject's", "value", "name", "date"}


class PhraseRejected(ValueError):
    """A pattern that does not follow the language; packs report it with its line."""


@dataclass(frozen=True, slots=True)
class Word:
    """One of several words (each a sequence of tokens), or any form of one of several lemmas."""

    forms: tuple[tuple[str, ...], ...]
    lemma: bool = False


@dataclass(frozen=True, slots=True)
class Gap:
    """At most `longest` tokens; a short gap has no punctuation."""

    longest: int
    plain: bool


@dataclass(frozen=True, slots=True)
class Slot:
    """A place taken by a subject, a value, or something passed over."""

    name: str
    possessive: bool = False


@dataclass(frozen=True, slots=True)
class Optional:
    """One of several sequences, or nothing."""

    alternatives: tuple[tuple[Element, ...], ...]


@dataclass(frozen=True, slots=True)
class Start:
    """The beginning of the sentence."""


Element = Word | Gap | Slot | Optional | Start


@dataclass(frozen=True, slots=True)
class Step:
    """A move along a dependency arc (`up` or down) and tests of the word it reaches."""

    up: bool
    arcs: frozenset[str]
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class Phrase:
    """Compiled phrase; a sentence without any of `triggers` cannot match."""

    elements: tuple[Element, ...]
    triggers: frozenset[str]
    has_subject: bool


@dataclass(frozen=True, slots=True)
class Path:
    """Compiled path from the subject to the value."""

    steps: tuple[Step, ...]
    triggers: frozenset[str]


@dataclass(frozen=True, slots=True)
class TextPattern:
    """Compiled regular expression."""

    expression: re.Pattern[str]
    has_subject: bool


Compiled = Phrase | Path | TextPattern

_ELEMENT = re.compile(
    r"(?P<slot>\{[^}]*\})|(?P<gap>\.{2,4}(?![^\s\]]))|(?P<open>\[)|(?P<close>\])|(?P<start>\^)"
    r"|(?P<lemma><[^>]+>)|(?P<word>[^\s\[\]{}<>^]+)"
)
_TOKEN = re.compile(r"\w+(?:'\w+)?|[^\w\s]")
_NAME_FORM = (
    r"(?:[A-ZÀ-ÖØ-ÞŠŽŁİ][\w’'.-]*(?:\s(?:(?:of|the|de|la|von|van|der|den|di|da|del|du|al|ibn|bin|y|zu)\s"
    r"){0,2}[A-ZÀ-ÖØ-ÞŠŽŁİ0-9][\w’'.-]*)*)"
)


@lru_cache(maxsize=4096)
def compile_pattern(pattern: Pattern) -> Compiled:
    """Compile a pattern of a pack.

    Raises PhraseRejected.
    """
    match pattern.kind:
        case PatternKind.PHRASE:
            return _compile_phrase(pattern.source)
        case PatternKind.PATH:
            return _compile_path(pattern.source)
        case PatternKind.TEXT:
            return _compile_text(pattern.source)


def _compile_phrase(source: str) -> Phrase:
    stack: list[list[list[Element]]] = [[[]]]
    position = 0
    for match in _ELEMENT.finditer(source):
        if source[position : match.start()].strip():
            raise PhraseRejected(f"{source[position : match.start()].strip()!r} cannot be read")
        position = match.end()
        match match.lastgroup:
            case "open":
                stack.append([[]])
            case "close":
                if len(stack) == 1:
                    raise PhraseRejected("a ']' closes nothing")
                inner = tuple(tuple(alternative) for alternative in stack.pop())
                stack[-1][-1].append(Optional(inner))
            case "word" if match.group() == "|":
                if len(stack) == 1:
                    raise PhraseRejected("a '|' in spaces stands outside of [..]")
                stack[-1].append([])
            case _:
                stack[-1][-1].append(_element(match))
    if source[position:].strip():
        raise PhraseRejected(f"{source[position:].strip()!r} cannot be read")
    if len(stack) > 1:
        raise PhraseRejected("a '[' is not closed")
    elements = tuple(stack[0][0])
    slots = [slot.name for slot in _slots(elements)]
    if slots.count("value") != 1 or slots.count("subject") > 1:
        raise PhraseRejected("a phrase needs {value} once and {subject} at most once")
    triggers = next(
        (_first_forms(element) for element in elements if isinstance(element, Word)), frozenset()
    )
    if not triggers:
        raise PhraseRejected("a phrase needs at least one word that is not optional")
    return Phrase(elements, triggers, "subject" in slots)


def _element(match: re.Match[str]) -> Element:
    text = match.group()
    match match.lastgroup:
        case "slot":
            name = text[1:-1]
            if name not in _SLOTS:
                raise PhraseRejected(
                    f"{text} is no slot; expected one of "
                    + ", ".join(f"{{{slot}}}" for slot in sorted(_SLOTS))
                )
            return Slot(name.removesuffix("'s"), possessive=name.endswith("'s"))
        case "gap":
            return {
                "..": Gap(SHORT_GAP, plain=True),
                "...": Gap(LONG_GAP, plain=False),
                "....": Gap(LONGEST_GAP, plain=False),
            }[text]
        case "start":
            return Start()
        case "lemma":
            return Word(tuple((form,) for form in text[1:-1].lower().split("|")), lemma=True)
        case _:
            forms = tuple(tuple(_TOKEN.findall(form.lower())) for form in text.split("|"))
            if not all(forms):
                raise PhraseRejected(f"{text!r} has an empty alternative")
            return Word(forms)


def _first_forms(word: Word) -> frozenset[str]:
    return frozenset(form[0] for form in word.forms)


def _slots(elements: tuple[Element, ...]) -> list[Slot]:
    found: list[Slot] = []
    for element in elements:
        match element:
            case Slot():
                found.append(element)
            case Optional(alternatives):
                for alternative in alternatives:
                    found.extend(_slots(alternative))
            case _:
                pass
    return found


def _compile_path(source: str) -> Path:
    parts = source.split()
    if len(parts) < 3 or parts[0] != "{subject}" or parts[-1] != "{value}":
        raise PhraseRejected("a path goes from {subject} to {value}")
    steps: list[Step] = []
    triggers: frozenset[str] = frozenset()
    for part in parts[1:-1]:
        if part[0] in "<>":
            arcs, _, words = part[1:].partition(":")
            if not arcs:
                raise PhraseRejected(
                    f"{part!r} names no arc; expected a form such as <nsubj or >prep:in"
                )
            steps.append(
                Step(
                    part[0] == "<",
                    frozenset(arcs.split("|")),
                    frozenset(filter(None, words.split("|"))),
                )
            )
        elif not steps or steps[-1].words:
            raise PhraseRejected(f"the word {part!r} does not follow an arc")
        else:
            last = steps[-1]
            words_here = frozenset(part.lower().split("|"))
            steps[-1] = Step(last.up, last.arcs, words_here)
            triggers = triggers or words_here
    if not triggers:
        triggers = next((step.words for step in steps if step.words), frozenset())
    if not triggers:
        raise PhraseRejected("a path needs at least one word")
    return Path(tuple(steps), triggers)


def _compile_text(source: str) -> TextPattern:
    expression = (
        source.replace("{date}", f"(?i:{DATE_PATTERN})")
        .replace("{name}", _NAME_FORM)
        .replace("{amount}", f"(?i:{AMOUNT_PATTERN})")
    )
    try:
        compiled = re.compile(expression)
    except re.error as error:
        raise PhraseRejected(f"the text pattern is no regular expression: {error}") from error
    if "value" not in compiled.groupindex:
        raise PhraseRejected("a text pattern needs the group (?P<value>..)")
    return TextPattern(compiled, "subject" in compiled.groupindex)
