"""Understand a question: tokens, chart, the one cheapest meaning, a typed plan (DESIGN 4, Plan).

Deterministic: lexical forms and productions come from packs, names from the knowledge base. What
is not understood is reported with its span; a question with two meanings is not guessed at.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum

from reasoner.errors import PlanInvalid
from reasoner.plan import Plan

from .logical_form import Name, Question
from .names import NameIndex, nearest_words
from .question_chart import Chart, Leaf, parse
from .question_forms import WORD, compile_grammar
from .question_lexicon import Lexicon, Role
from .question_operations import operations
from .question_plan import plan_of
from .question_tokens import Token, tokens_of
from .question_values import read_values


@dataclass(frozen=True, slots=True)
class Misunderstood:
    """A part of a question that was not understood: half-open span, and the nearest known words."""

    text: str
    start: int
    end: int
    nearest: tuple[str, ...] = ()


class RejectionKind(Enum):
    """Why there is no plan: words or order unknown, several readings, or nothing to decide by."""

    NOT_UNDERSTOOD = "not_understood"
    AMBIGUOUS = "ambiguous"
    UNDECIDABLE = "undecidable"


@dataclass(frozen=True, slots=True)
class PlanRejected:
    """Why a question has no plan; `message` says it in one sentence, with spans and near words."""

    question: str
    message: str
    kind: RejectionKind
    misunderstood: tuple[Misunderstood, ...] = ()
    readings: tuple[str, ...] = ()


class QuestionGrammar:
    """The compiled grammar of some packs; compile once, ask often."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self._grammar = compile_grammar(lexicon.grammar, lexicon.word_lists)
        self._operations = operations(lexicon.types)

    def plan(
        self, question: str, names: NameIndex, *, stated: Collection[str] | None = None
    ) -> Plan | PlanRejected:
        """Give the plan of a question, or why there is none.

        `stated` names the dimensions of which anything is known: among several that a word may
        mean, these are meant.
        """
        tokens = _without_end(tokens_of(question))
        if not tokens:
            return PlanRejected(question, "the question is empty", RejectionKind.NOT_UNDERSTOOD)
        outcome = self._plan(question, tokens, names, stated)
        if isinstance(outcome, PlanRejected) and tokens[-1].word in _ENDS:
            while tokens and tokens[-1].word in _ENDS:
                tokens = tokens[:-1]
            return self._plan(question, tokens, names, stated)
        return outcome

    def _plan(
        self,
        question: str,
        tokens: tuple[Token, ...],
        names: NameIndex,
        stated: Collection[str] | None,
    ) -> Plan | PlanRejected:
        capital = self._capital_cost(tokens)
        chart = parse(
            len(tokens),
            lambda start, end: self._leaves(question, tokens, start, end, names, capital),
            self._grammar,
            self._operations,
        )
        found = chart.meanings("question", 0, len(tokens))
        if not found:
            return self._explain(question, tokens, chart, names)
        cheapest = [meaning for cost, meaning in found if cost == found[0][0]]
        is_past = _is_past(tokens, self.lexicon)
        plans: dict[Plan, None] = {}
        rejected: PlanRejected | None = None
        for meaning in cheapest:
            assert isinstance(meaning, Question), "forms of `question` mean questions"
            try:
                plan = plan_of(
                    question, meaning, self.lexicon, names, is_past=is_past, stated=stated
                )
            except PlanInvalid as error:
                rejected = PlanRejected(question, str(error), RejectionKind.UNDECIDABLE)
                continue
            if isinstance(plan, Plan):
                plans[plan] = None
            else:
                rejected = PlanRejected(
                    question, plan.message, RejectionKind.AMBIGUOUS, readings=plan.readings
                )
        if len(plans) == 1:
            return next(iter(plans))
        if rejected is not None and not plans:
            return rejected
        readings = tuple(sorted(plan.understood_as for plan in plans))
        return PlanRejected(
            question,
            f"the question has {len(plans)} readings; expected one of: {' | '.join(readings)}",
            RejectionKind.AMBIGUOUS,
            readings=readings,
        )

    def _leaves(
        self,
        question: str,
        tokens: Sequence[Token],
        start: int,
        end: int,
        names: NameIndex,
        capital: int,
    ) -> list[Leaf]:
        words = tuple(token.word for token in tokens[start:end])
        shouted = sum(
            capital for index in range(max(start, 1), end) if tokens[index].text[:1].isupper()
        )
        leaves: list[Leaf] = []
        if len(words) == 1 and words[0] in self._grammar.literals:
            leaves.append((WORD + words[0], None, shouted))
        for role, phrases in self.lexicon.relations.items():
            if role not in (Role.LEAST, Role.GREATEST) and words in phrases:
                leaves.append((role.value, phrases[words], shouted))
        leaves += (("measure", each, shouted) for each in self.lexicon.criteria.get(words, ()))
        if words in self.lexicon.type_nouns:
            leaves.append(("type", self.lexicon.type_nouns[words], shouted))
        text = question[tokens[start].start : tokens[end - 1].end]
        if end - start <= _LONGEST_VALUE:
            leaves += (("value", value, 1) for value in read_values(text))
        cost = _name_cost(question, tokens, start, end, names)
        if cost is not None:
            first, last = tokens[start], tokens[end - 1]
            text = first.name or question[first.start : last.end]
            leaves.append(("name", Name(text, first.start, last.end, first.name is not None), cost))
        return leaves

    def _capital_cost(self, tokens: Sequence[Token]) -> int:
        """Give what a capitalised word costs as a word of the language rather than of a name.

        It is dear where the question writes such words small, as in "the wife in film Dream Wife".
        """
        known = self.lexicon.vocabulary | self._grammar.literals
        small = any(token.text.islower() and token.word in known for token in tokens[1:])
        return 7 if small else 1

    def _explain(
        self, question: str, tokens: Sequence[Token], chart: Chart, names: NameIndex
    ) -> PlanRejected:
        """Name the tokens that no form, phrase or name covers; else where the forms stop."""
        known = self.lexicon.vocabulary | self._grammar.literals
        covered = [token.name is not None or token.word in known for token in tokens]
        for start, end in chart.cells:
            if chart.cells[start, end].keys() & {"name", "value"}:
                covered[start:end] = [True] * (end - start)
        parts: list[Misunderstood] = []
        run: list[Token] = []

        def end_run() -> None:
            if run:
                text = question[run[0].start : run[-1].end]
                near = names.nearest(text)
                parts.append(Misunderstood(text, run[0].start, run[-1].end, near))
                run.clear()

        for token, is_covered in zip(tokens, covered, strict=True):
            near = () if is_covered else nearest_words(token.word, self.lexicon.vocabulary)
            if is_covered or near:
                end_run()
            if near:
                parts.append(Misunderstood(token.text, token.start, token.end, near))
            elif not is_covered:
                run.append(token)
        end_run()
        if parts:
            said = ", ".join(
                f"{part.text!r}" + (f" (near: {', '.join(part.nearest)})" if part.nearest else "")
                for part in parts
            )
            return PlanRejected(
                question, f"not understood: {said}", RejectionKind.NOT_UNDERSTOOD, tuple(parts)
            )
        return PlanRejected(
            question,
            "every word is known, but the question has none of the known forms",
            RejectionKind.NOT_UNDERSTOOD,
        )


_ENDS = frozenset("?.!;")
_LONGEST_VALUE = 6  # tokens: "between the 3rd of March 1952"


def _without_end(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    """Drop one final sign; more may belong to a name ("Man's Favorite Sport?")."""
    return tokens[:-1] if tokens and tokens[-1].word in _ENDS else tokens


def _is_past(tokens: Sequence[Token], lexicon: Lexicon) -> bool:
    past = set(lexicon.word_lists.get("past", ()))
    return any(token.word in past for token in tokens)


_LINKS = frozenset(
    {"of", "the", "a", "an", "and", "in", "on", "at", "to", "for", "with", "from", "by", "de", "la"}
    | {"le", "der", "die", "das", "von", "van", "und", "et", "y", "ibn", "al", "el"}
)


def _name_cost(
    question: str, tokens: Sequence[Token], start: int, end: int, names: NameIndex
) -> int | None:
    """Give what a span costs as a name, or None where it can be none.

    A delimited name is free, a known name costs 1, an unknown one 3 a word and must look like a
    name: capitals or digits, with only linking words and signs between them.
    """
    span = tokens[start:end]
    if len(span) == 1 and span[0].name is not None:
        return 0
    if any(token.text.startswith("[") and token.name is not None for token in tokens):
        return None
    text = question[span[0].start : span[-1].end]
    if text in names:
        return 1
    if names.knows(text):
        return 2 if len(span) > 1 or text[:1].isupper() else 6
    if len(span) > _LONGEST_NAME or not _looks_like_name(span):
        return None
    cost = 2 + 3 * len(span) + (4 if span[-1].word == "'s" else 0)
    return cost - (2 if names.knows_bare(text) else 0)


_LONGEST_NAME = 16  # tokens of an unknown name


def _looks_like_name(span: Sequence[Token]) -> bool:
    """Whether a span has a name's capitals or digits, and between them only links and signs."""
    first, last = span[0], span[-1]
    if not (_is_proper(first) or (_is_sign(first) and first.text not in ",:;-)]'")):
        return False
    if last.text in ",:;-(¡¿" or (last.word in _LINKS and not _is_proper(last)):
        return False
    inside = 0  # parentheses, which may hold any words: "Home (the long version)"
    for token in span:
        inside += (token.text == "(") - (token.text == ")")
        fits = _is_proper(token) or _is_sign(token) or token.word in _LINKS or token.word == "'s"
        if not fits and inside <= 0:
            return False
    return any(map(_is_proper, span))


def _is_proper(token: Token) -> bool:
    initial = token.text[:1]
    return (
        token.name is not None
        or initial.isupper()
        or initial.isdigit()
        or (initial.isalpha() and _uncased(token))
    )


def _is_sign(token: Token) -> bool:
    return _uncased(token) and not token.text[:1].isalnum()


def _uncased(token: Token) -> bool:
    return token.text.upper() == token.text.lower()
