"""A certificate as one self-contained HTML file for reviewers: readable, printable, no scripts."""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from .outline import Line, outline
from .quotation import Quotation, quotation
from .wording import plain_atom, plain_term, sentence, shortened

# A certificate is JSON whose schema the verifier checks; here its members are read as they are.
Json = dict[str, Any]

MEANING = {
    "CERTIFIED": "The goal follows from the quoted sources under the cited rules.",
    "REFUTED": "The opposite of the goal follows from the quoted sources under the cited rules.",
    "ABSTAINED": "Neither proved nor refuted. This is not a no: what is missing is listed below.",
}

CODE_MEANING = {
    "BUDGET": "The work was cut by a deadline or a limit; nothing may be concluded.",
    "CONFLICT": "The sources contradict each other on a fact the proof needs.",
    "UNDETERMINED": "The sources are not precise enough to decide a comparison.",
    "UNVERIFIED_ENTITY": "Candidates were found, but none is verified to be the entity.",
    "GAP_IN_EXTRACTION": "A passage is about the entity, but no statement could be read from it.",
    "GAP_IN_CORPUS": "No source says anything about it.",
    "OUT_OF_SCOPE": "The question or the date lies outside what the rules cover.",
    "EXCLUDED": "Something holds that the rules exclude; no further source would help.",
}

GENERAL = frozenset(
    {"same_as", "subclass_of", "stated_in", "document_kind", "issuer", "issued_on", "valid_on"}
)

CONFLICT_WORDS = {
    "denied": "One side is affirmed, the other denied.",
    "disjoint": "The two classes exclude each other.",
}

KIND_LABEL = {
    "stated": "quoted",
    "provenance": "where it is stated",
    "request": "given by the request",
    "assumed": "assumption",
    "identity": "same entity",
    "subsumption": "class hierarchy",
    "rule": "by rule",
    "comparison": "comparison",
    "arithmetic": "calculation",
    "conversion": "conversion",
    "closed": "complete source read",
    "declared": "declaration",
    "meet": "constraints met",
    "compare": "compared",
}


@dataclass(frozen=True, slots=True)
class QuoteView:
    """One piece of evidence: its quotation and the document it stands in."""

    title: str
    media_type: str
    source: str
    extractor: str
    place: Quotation


@dataclass(frozen=True, slots=True)
class StepView:
    """One line of the drawn proof."""

    id: str
    kind: str
    label: str
    plain: str
    conclusion: str
    rule: str
    cite: str
    bindings: tuple[tuple[str, str], ...]
    quotes: tuple[QuoteView, ...]
    line: Line


def render_html(certificate: Json, texts: Mapping[str, str], *, digest: str = "") -> str:
    """Write the page from the certificate and the decoded texts of its sources, by `text_sha256`.

    A source without a text shows its quotes without their context. Deterministic.
    """
    rules: Mapping[str, Json] = certificate["rules"]
    steps: Mapping[str, Json] = {step["id"]: step for step in certificate["steps"]}
    quotes = {
        name: tuple(
            _quote(certificate["sources"].get(found["source_sha256"], {}), found, texts)
            for found in statement["evidence"]
        )
        for name, statement in certificate["statements"].items()
    }
    contested = (certificate.get("witness") or {}).get("contested", ())
    refuted = certificate.get("refuted", ())
    sides = [side for conflict in contested for side in conflict["sides"]]
    roots = tuple(
        dict.fromkeys(
            found["step"] for found in (*certificate["answers"], *refuted, *sides) if found["step"]
        )
    )
    lookups = (certificate.get("witness") or {}).get("lookups", ())
    empty = [found for found in lookups if not found.get("answers")]
    titles = {name: source["title"] for name, source in certificate["sources"].items()}
    drawn = outline(roots, {name: tuple(step["premises"]) for name, step in steps.items()})
    return _template().render(
        certificate=certificate,
        digest=digest or hashlib.sha256(_canonical(certificate)).hexdigest(),
        meaning=MEANING.get(certificate["verdict"], ""),
        code_meaning=CODE_MEANING,
        title=_title(certificate, steps, rules, titles),
        proof=[_step(steps[line.step], line, rules, quotes, titles) for line in drawn],
        rules=sorted(
            (name, rule)
            for name, rule in rules.items()
            if not name.startswith("prelude.") or rule.get("cite")
        ),
        shipped_rules=sorted(name for name in rules if name.startswith("prelude.")),
        answers=[_answer(answer, steps, rules, titles) for answer in certificate["answers"]],
        refuted=[_answer(answer, steps, rules, titles) for answer in refuted],
        contested=[
            {
                "words": _conflict_words(conflict["reason"]),
                "sides": [_answer(side, steps, rules, titles) for side in conflict["sides"]],
            }
            for conflict in contested
        ],
        quotes=quotes,
        lookups=[found for found in empty if not _is_general(found)],
        general_lookups=[found for found in empty if _is_general(found)],
        plain_atom=plain_atom,
        plain_term=plain_term,
        shortened=shortened,
    )


def _title(
    certificate: Json,
    steps: Mapping[str, Json],
    rules: Mapping[str, Json],
    titles: Mapping[str, str],
) -> str:
    """Give the question, or what was proved in words, or the goal."""
    if certificate["question"]:
        return str(certificate["question"])
    answers = certificate["answers"]
    if len(answers) == 1 and answers[0]["step"]:
        return _says(steps[answers[0]["step"]], rules, titles)
    return plain_atom(certificate["goal"])


def _conflict_words(reason: str) -> str:
    """Say why two sides exclude each other."""
    kind, _, name = reason.partition(" ")
    if kind == "functional" and name:
        return f"{name.replace('_', ' ')} has one value at a time, and the sources give two."
    return CONFLICT_WORDS.get(kind, reason)


def _is_general(lookup: Json) -> bool:
    """Whether a look-up belongs to the general rules rather than to the matter."""
    return str(lookup["pattern"]).lstrip("-").partition("(")[0] in GENERAL


def _canonical(certificate: Json) -> bytes:
    return json.dumps(
        certificate, ensure_ascii=False, sort_keys=True, separators=(",", ":")
    ).encode()


@functools.cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("certificate.html.j2")


def _quote(source: Json, found: Json, texts: Mapping[str, str]) -> QuoteView:
    return QuoteView(
        title=source.get("title", ""),
        media_type=source.get("media_type", ""),
        source=found["source_sha256"],
        extractor=found.get("extractor", ""),
        place=quotation(
            found["quote"], found["start"], found["end"], texts.get(found["text_sha256"])
        ),
    )


def _says(step: Json, rules: Mapping[str, Json], titles: Mapping[str, str]) -> str:
    """Give the rule's own sentence where it has one, else the conclusion without notation."""
    says = rules.get(step.get("rule") or "", {}).get("says", "")
    if says:
        return sentence(says, step.get("bindings") or {}, titles)
    return plain_atom(step["conclusion"], titles)


def _answer(
    answer: Json,
    steps: Mapping[str, Json],
    rules: Mapping[str, Json],
    titles: Mapping[str, str],
) -> Json:
    step = steps.get(answer.get("step") or "")
    return {
        "atom": answer["atom"],
        "step": answer.get("step"),
        "plain": _says(step, rules, titles) if step else plain_atom(answer["atom"], titles),
    }


def _step(
    step: Json,
    line: Line,
    rules: Mapping[str, Json],
    quotes: Mapping[str, tuple[QuoteView, ...]],
    titles: Mapping[str, str],
) -> StepView:
    rule = step.get("rule") or ""
    return StepView(
        id=step["id"],
        kind=step["kind"],
        label=KIND_LABEL.get(step["kind"], str(step["kind"])),
        plain=_says(step, rules, titles),
        conclusion=step["conclusion"],
        rule=rule,
        cite=rules.get(rule, {}).get("cite", ""),
        bindings=tuple(
            (name, plain_term(value, titles))
            for name, value in sorted((step.get("bindings") or {}).items())
        ),
        quotes=() if step["kind"] == "provenance" else quotes.get(step.get("statement") or "", ()),
        line=line,
    )
