"""Polarity and modality: does the source affirm, deny, doubt, plan or report what it says.

Negation, doubt and plan are looked for in the clause of the words that state a relation,
attribution anywhere in the sentence.
"""

from __future__ import annotations

import re

from kb.statement import Modality, Polarity

_NOT = re.compile(
    r"n['’]t\b|\b(?:not(?!\s+only\b|\s+(?:just|merely)\b)|never|no\s+longer|cannot|neither|nor"
    r"|(?:holds?|has|have|had|held|with|there\s+is|there\s+was)\s+no|no\s+evidence"
    r"|fail(?:s|ed)\s+to|refus(?:es|ed)\s+to|declin(?:es|ed)\s+to|ceased\s+to\s+be|lacks?"
    r"|den(?:y|ies|ied)|is\s+untrue|is\s+false)\b",
    re.IGNORECASE,
)
_NOT_A_DENIAL = re.compile(
    r"\bnot\s+(?:only|just|merely|least|withstanding)\b"
    r"|\b(?:(?:is|are|was|should|must)\s+)?not\s+(?:to\s+)?be\s+(?:confused|mistaken)\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"(?:who|what|when|where|which|why|how|is|are|was|were|do|does|did|has|have|can|will)\b.*\?\s*\Z",
    re.IGNORECASE | re.DOTALL,
)
_HEDGE = re.compile(
    r"\b(?:may(?!\s+\d)|might|could|would|should|possibly|perhaps|probably|presumably|likely"
    r"|hardly|barely|scarcely|allegedly|reportedly|supposedly|purportedly|apparently|rumou?red|believed|thought|suspected"
    r"|assumed|said\s+to|appears?\s+to|seems?\s+to|claim(?:s|ed)?\s+to|either|if|unless|whether"
    r"|provided\s+that|subject\s+to|in\s+case|pending|uncertain|unclear|unconfirmed|doubtful"
    r"|disputed|legend|myth\w*|traditionally)\b"
)
_PLAN = re.compile(
    r"\b(?:will(?!\s+of\b)|shall|plans?\s+to|planned|planning\s+to|intends?\s+to|intended\s+to|aims?\s+to"
    r"|expects?\s+to|expected\s+to|scheduled|upcoming|forthcoming|proposed|propose[sd]?\s+to"
    r"|is\s+to\s+be|are\s+to\s+be|to\s+be\s+(?:released|issued|certified|completed|directed)"
    r"|has\s+applied\s+for|have\s+applied\s+for|applied\s+for|in\s+preparation|is\s+seeking|has\s+been\s+requested"
    r"|going\s+to|hopes?\s+to|in\s+the\s+future)\b"
)
_ATTRIBUTION = re.compile(
    r"\b(?:according\s+to|in\s+the\s+(?:words|view|opinion)\s+of|claims?\s+that|claimed\s+that"
    r"|says?\s+that|said\s+that|states?\s+that|stated\s+that|reports?\s+that|reported\s+that"
    r"|alleges?\s+that|alleged\s+that|argues?\s+that|argued\s+that|asserts?\s+that|asserted\s+that"
    r"|suggests?\s+that|suggested\s+that|believes?\s+that|wrote\s+that|writes\s+that|denies\s+that"
    r"|(?:is|are|was|were)\s+(?:reported|alleged|said|claimed)\s+(?:to|that)"
    r"|rumou?rs?|hearsay|word\s+has\s+it)\b"
)
_CONDITION_AFTER = re.compile(
    r"\b(?:unless|if|provided|on\s+condition|conditional|pending|subject\s+to|in\s+case"
    r"|as\s+long\s+as|so\s+long\s+as)\b"
)
_RESTRICTION = re.compile(
    r"\b(?:(?:only|solely|exclusively|merely)\s+(?:in\s+(?:respect|relation|regard)\s+(?:of|to)"
    r"|with\s+(?:respect|regard)\s+to|as\s+(?:regards|concerns)|concerning|in\s?so\s?far\s+as"
    r"|to\s+the\s+extent|(?:for|at|through|via)\s+(?:its|the|their|his|her|one|two|some|parts?)\b)"
    r"|(?:limited|restricted|confined)\s+to\s+(?:its|the|their|one|two|some)\s+"
    r"(?!(?:amount|sum|maximum|total|limit|value)\b)"
    r"|(?:except(?:ing)?|excluding|excepted|with\s+the\s+exception\s+of)\s+(?:for\s+)?"
    r"(?:its|the|their|one|two|some)\b"
    r"|in\s+(?:respect|relation)\s+(?:of|to)\s+[^.;,]{1,60}\b(?:only|alone)\b"
    r"|in\s+part\b|partially\b|for\s+parts?\s+of\b)"
)
_NOT_YET = re.compile(r"\b(?:before|until|once|as\s+soon\s+as)\s+[^,]*\Z")
_BUT = re.compile(r"\bbut\b")
_ANOTHER_BEFORE = re.compile(r"\bor\s+(?:in\s+|by\s+|under\s+|of\s+|the\s+)*\Z")
_ANOTHER_AFTER = re.compile(r"\s*,?\s+or\b")
_RANGE_BEFORE = re.compile(r"\d\s*(?:to|and|[-–—])\s*\Z")
_RANGE_AFTER = re.compile(r"\s*(?:to|[-–—])\s*(?:[A-Z]{1,3}|[€$£])?\s*\d")
_NAME_FIRST = re.compile(r"(?:May|Will)\s+[A-Z]")
_CLAUSE_END = re.compile(r";|,\s+(?:but|and|while|whereas|although|though|who|which)\b|\bbut\b")
_INDEPENDENT = re.compile(r";|,\s+(?:but|while|whereas|although|though)\b")
_LABEL_PLAN = re.compile(
    r"\b(?:planned|expected|pending|applied\s+for|requested|in\s+preparation|proposed|to\s+follow)\b",
    re.IGNORECASE,
)
_LABEL_HEDGE = re.compile(
    r"\?|\b(?:provisional|unconfirmed|to\s+be\s+confirmed|tbc|estimated|approx(?:imately)?\.?|about"
    r"|only|solely|exclusively|except|excluding|excl\.|partly|partially"
    r"|circa|ca?\.|probably|possibly|presumably|not\s+verified|unverified|alleged(?:ly)?)(?!\w)",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"(?:n/?a|none|nil|unknown|not\s+(?:known|applicable|available|stated|specified|assessed|given)"
    r"|tbd|to\s+be\s+(?:determined|announced)|[-–—./?]+)\.?\Z",
    re.IGNORECASE,
)
_DENIED_VALUE = re.compile(r"(?:not|no\s+longer|never)\s+(?P<value>.+)\Z", re.IGNORECASE)


def sentence_polarity(sentence: str, start: int, end: int) -> Polarity:
    """Tell whether the clause around the half-open span of a sentence denies what it states."""
    clause_start, clause_end = _clause(sentence, start, end)
    clause = sentence[clause_start:clause_end]
    return Polarity.DENIED if _NOT.search(_NOT_A_DENIAL.sub("", clause)) else Polarity.AFFIRMED


def sentence_modality(sentence: str, start: int, end: int) -> Modality:
    """Tell how a sentence says what it states in a half-open span.

    Attribution outranks doubt, doubt outranks a plan. What holds of a part only is in doubt as to
    the whole: `certified only in respect of its branch`.
    """
    # A capital within a sentence is a name (May, Will); at its beginning it may be a cue.
    named = _NAME_FIRST.match(sentence) is not None
    lowered = sentence if named else sentence[:1].lower() + sentence[1:]
    if _ATTRIBUTION.search(lowered):
        return Modality.ATTRIBUTED
    clause_start, clause_end = _clause(lowered, start, end)
    clause = lowered[clause_start:clause_end]
    clause = _NOT_A_DENIAL.sub("", clause)
    if _QUESTION.match(lowered) or _HEDGE.search(clause):
        return Modality.HEDGED
    if _CONDITION_AFTER.search(lowered, end) or _NOT_YET.search(lowered[:start]):
        return Modality.HEDGED
    if _RESTRICTION.search(clause_around(lowered, start, end)):
        return Modality.HEDGED
    if _PLAN.search(clause):
        return Modality.PLANNED
    return Modality.ASSERTED


def is_one_of_several(sentence: str, start: int, end: int, *, amount: bool) -> bool:
    """Whether a value, a half-open span, is left open: `Germany or Austria`, `3 to 8 million`."""
    before, after = sentence[:start], sentence[end:]
    if _ANOTHER_BEFORE.search(before) or _ANOTHER_AFTER.match(after):
        return True
    return amount and bool(_RANGE_BEFORE.search(before) or _RANGE_AFTER.match(after))


def _clause(sentence: str, start: int, end: int) -> tuple[int, int]:
    """Give the clause that holds a span, without what stands in brackets after it."""
    clause_start = 0
    for match in _CLAUSE_END.finditer(sentence, 0, start):
        clause_start = match.end()
    for match in _BUT.finditer(sentence, start, end):  # "not this but that"
        clause_start = match.end()
    following = _CLAUSE_END.search(sentence, end)
    return clause_start, following.start() if following else end


def clause_around(sentence: str, start: int, end: int) -> str:
    """Give the independent clause that holds a half-open span of a sentence."""
    first = max((match.end() for match in _INDEPENDENT.finditer(sentence, 0, start)), default=0)
    following = _INDEPENDENT.search(sentence, end)
    return sentence[first : following.start() if following else len(sentence)]


def value_modality(value: str) -> Modality:
    """Tell how the value of a label line is said: `5 million (planned)`, `about 12 kg`."""
    if _LABEL_HEDGE.search(value):
        return Modality.HEDGED
    return Modality.PLANNED if _LABEL_PLAN.search(value) else Modality.ASSERTED


def says_nothing(value: str) -> bool:
    """Whether a label line or cell leaves its value open: `n/a`, `unknown`, `-`."""
    return not value.strip() or _NOTHING.match(value.strip()) is not None


def denied_value(value: str) -> str | None:
    """Give the value that a label line denies (`not ISO 9001`), or None."""
    match = _DENIED_VALUE.match(value.strip())
    return match["value"] if match else None
