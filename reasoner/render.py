"""Readable text of a certificate: the proof from its goal down, or what is missing.

Quotes come with document, place and line; rules with their citation and sentence. Each step is
written once and pointed to afterwards; nothing recurses, and indentation has an end, so proofs may
be deep.
"""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = Mapping[str, Any]

MEANINGS = {
    "CERTIFIED": "The goal follows from the quoted sources under the cited rules.",
    "REFUTED": "The opposite of the goal follows from the quoted sources under the cited rules.",
    "ABSTAINED": "Neither proved nor refuted. This is not a no.",
}
CODES = {
    "BUDGET": "the work was cut by a limit, so nothing may be concluded",
    "CONFLICT": "sources contradict each other on something the proof needs",
    "UNDETERMINED": "the sources are not precise enough for a comparison",
    "UNVERIFIED_ENTITY": "candidates were found, none verified to be the entity",
    "GAP_IN_EXTRACTION": "passages name the entity, but no statement of this was read from them",
    "GAP_IN_CORPUS": "no source says anything about it",
    "OUT_OF_SCOPE": "the request lies outside what the rules cover",
    "EXCLUDED": "something holds that the rules exclude",
}
_BACKGROUND = frozenset(
    (
        *("valid_on", "stated_in", "document_kind", "issuer", "issued_on"),
        *("same_as", "same_name", "subclass_of"),
    )
)
"""Predicates whose lookups say little to people."""
_DEEPEST = 10
_LONGEST_QUOTE = 300
_VALUE = re.compile(r'@(?:decimal|date|quantity)\("([^"\\]*)"\)')


def render_text(certificate: Json, texts: Mapping[str, str] | None = None) -> str:
    """Write a certificate for people; `texts` by `text_sha256` give quotes their line numbers."""
    return "".join(f"{line}\n" for line in _Page(certificate, texts or {}).lines())


def plain_term(term: str) -> str:
    """Write a term without its wrapping: `5000000 EUR` for `@quantity("5000000 EUR")`."""
    wrapped = _VALUE.fullmatch(term)
    if wrapped is not None:
        return wrapped[1]
    if term.startswith('"'):
        try:
            return str(json.loads(term))
        except ValueError:
            return term
    return term


def sentence(template: str, bindings: Mapping[str, str]) -> str:
    """Fill the sentence of a rule with the values of its variables.

    >>> sentence("a {K} issued by {I}", {"K": '"Insurance certificate"', "I": '"Hanse"'})
    'an Insurance certificate issued by Hanse'
    """

    def value(match: re.Match[str]) -> str:
        term = bindings.get(match[1])
        return match[0] if term is None else plain_term(term)

    template = with_article(template, bindings)
    return re.sub(r"\{([A-Za-z_][A-Za-z0-9_]*)\}", value, template)


def with_article(template: str, bindings: Mapping[str, str]) -> str:
    """Write `an` in `a {K} issued by` where the kind of document begins with a vowel."""

    def article(match: re.Match[str]) -> str:
        kind = plain_term(bindings.get(match[1], ""))
        return f"an {match[0][2:]}" if kind.startswith(tuple("AEIOUaeiou")) else match[0]

    return re.sub(r"\ba \{([A-Za-z_][A-Za-z0-9_]*)\} issued by", article, template)


@dataclass(slots=True)
class _Page:
    certificate: Json
    texts: Mapping[str, str]
    steps: dict[str, Json] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    line_starts: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.steps = {step["id"]: step for step in self.certificate["steps"]}

    def lines(self) -> Iterator[str]:
        yield from self._head()
        certificate = self.certificate
        for title, answers in (
            ("Proof of", certificate["answers"]),
            ("Refuted:", certificate["refuted"]),
        ):
            for answer in answers:
                yield ""
                yield f"{title} {answer['atom']}"
                yield from self._names(answer["atom"])
                yield from self._proof(answer["step"])
        for conflict in certificate["witness"]["contested"]:
            yield ""
            yield f"Cannot both hold ({conflict['reason']}):"
            for side in conflict["sides"]:
                yield from self._proof(side["step"])
        if certificate["open"]:
            yield ""
            yield "Open:"
            for requirement in certificate["open"]:
                yield from self._requirement(requirement)
        if certificate["verdict"] == "ABSTAINED":
            yield from self._looked_up()
        yield from self._foot()

    def _head(self) -> Iterator[str]:
        certificate = self.certificate
        verdict, code = certificate["verdict"], certificate["code"]
        yield (
            f"{verdict} ({code}): {certificate['goal']}"
            if code
            else (f"{verdict}: {certificate['goal']}")
        )
        if certificate["question"]:
            yield f"Question: {certificate['question']}"
        if certificate["understood_as"]:
            yield f"Understood as: {certificate['understood_as']}"
        yield MEANINGS.get(verdict, "") + (f" Reason: {CODES[code]}." if code in CODES else "")
        for policy in certificate["policies"]:
            if policy["id"] != "prelude":
                always = policy["effective"] == "../.."
                when = "" if always else f", in effect {policy['effective']}"
                yield f"Policy: {policy['id']} version {policy['version']}{when}"
        if certificate["valid_on"]:
            yield f"On: {certificate['valid_on']}"
        if certificate["assumptions"]:
            yield "Assuming, without a source:"
            yield from (f"  - {atom}" for atom in certificate["assumptions"])
        if "retractions" in certificate:
            yield "Leaving out, on request:"
            yield from (f"  - {item['atom']}" for item in certificate["retractions"])
        if not certificate["complete"]:
            yield "Incomplete: a limit cut the work; there may be more answers."

    def _proof(self, root: str) -> Iterator[str]:
        """Write a step and below it, indented, what it follows from."""
        stack = [(root, 1)]
        while stack:
            name, depth = stack.pop()
            step = self.steps[name]
            pad = "  " * min(depth, _DEEPEST)
            if name in self.written and step["premises"]:
                yield f"{pad}{name} {step['conclusion']} (see above)"
                continue
            self.written.add(name)
            yield f"{pad}{name} {step['conclusion']}"
            yield from (f"{pad}    {line}" for line in self._reason(step))
            stack.extend((premise, depth + 1) for premise in reversed(step["premises"]))

    def _names(self, answer: str) -> Iterator[str]:
        """Write the other names of entities in an answer."""
        for demand in self.certificate["witness"]["demands"]:
            name = demand["pattern"].removeprefix("alias(").removesuffix(", _)")
            if demand["pattern"] == f"alias({name}, _)" and name in answer:
                others = [item["atom"][len(f"alias({name}, ") : -1] for item in demand["answers"]]
                yield f"  {name} is also named {', '.join(others)}"

    def _reason(self, step: Json) -> Iterator[str]:
        if "rule" in step:
            rule = self.certificate["rules"][step["rule"]]
            cite = f", {rule['cite']}" if rule["cite"] else ""
            yield f"by rule {step['rule']}{cite}"
            if rule["says"]:
                yield sentence(rule["says"], step["bindings"])
            return
        match step["kind"]:
            case "stated":
                yield from self._evidence(self.certificate["statements"][step["statement"]])
            case "provenance":
                yield "where the statement stands"
            case "request":
                yield "the day of the request"
            case "declared":
                yield "declared by the policy or the dimension"
            case "assumed":
                yield "assumed by the request"
            case "identity":
                yield "the same name, but for case and spacing"
            case "closed":
                yield "from all rows of a closed predicate"
            case "comparison" | "arithmetic" | "conversion":
                yield "computed exactly"

    def _evidence(self, statement: Json) -> Iterator[str]:
        for item in statement["evidence"]:
            source = self.certificate["sources"].get(item["source_sha256"], {})
            quote = " ".join(item["quote"].split())
            if len(quote) > _LONGEST_QUOTE:
                quote = f"{quote[:_LONGEST_QUOTE]}…"
            yield f"stated in {source.get('title', 'a source')}, {self._place(item)}: “{quote}”"

    def _place(self, item: Json) -> str:
        digest = item["text_sha256"]
        text = self.texts.get(digest)
        if text is None:
            return f"characters {item['start']}-{item['end']}"
        starts = self.line_starts.get(digest)
        if starts is None:
            starts = [0, *(match.end() for match in re.finditer("\n", text))]
            self.line_starts[digest] = starts
        first = bisect.bisect_right(starts, item["start"])
        last = bisect.bisect_right(starts, max(item["start"], item["end"] - 1))
        return f"line {first}" if first == last else f"lines {first}-{last}"

    def _requirement(self, requirement: Json) -> Iterator[str]:
        yield f"  - {requirement['atom']} ({requirement['code']})"
        rule = self.certificate["rules"].get(requirement["rule"], {})
        cite = f", {rule['cite']}" if rule.get("cite") else ""
        for label, text in (
            ("", requirement["detail"]),
            ("needed by rule ", f"{requirement['rule']}{cite}" if requirement["rule"] else ""),
            ("search for: ", requirement["query"]),
            ("expected: ", requirement["expected"]),
            ("entity check: ", requirement["entity_test"]),
            ("candidates refused: ", "; ".join(requirement["rejected"])),
        ):
            if text:
                yield f"      {label}{text}"

    def _looked_up(self) -> Iterator[str]:
        """Write what was looked up for the goal: what is known, and what nothing answers."""
        lookups: Sequence[Json] = [
            lookup
            for lookup in self.certificate["witness"]["lookups"]
            if lookup["pattern"].lstrip("-").partition("(")[0] not in _BACKGROUND
        ]
        known = [answer for lookup in lookups for answer in lookup["answers"]]
        if known:
            yield ""
            yield "Known:"
        for answer in known:
            yield f"  {answer['step']} {answer['atom']}"
            if answer["step"] not in self.written:
                self.written.add(answer["step"])
                yield from (f"      {line}" for line in self._reason(self.steps[answer["step"]]))
        empty = [lookup["pattern"] for lookup in lookups if not lookup["answers"]]
        if empty:
            yield ""
            yield "Nothing answers:"
            yield from (f"  - {pattern}" for pattern in empty)

    def _foot(self) -> Iterator[str]:
        absent = [
            lookup["pattern"]
            for lookup in self.certificate["witness"]["lookups"]
            if not lookup["answers"]
            and lookup["basis"] in ("facts", "table", "declared")
            and lookup["pattern"].partition("(")[0] not in _BACKGROUND
        ]
        if absent and self.certificate["verdict"] != "ABSTAINED":
            yield ""
            yield "Not found, in a source declared complete:"
            yield from (f"  - {pattern}" for pattern in absent)
        change = self.certificate["validity"]["next_change"]
        if change:
            yield ""
            yield f"This can change on {change}."
