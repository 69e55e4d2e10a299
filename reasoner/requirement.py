"""Writes open requirements: what is missing, with code, query, expected answer and entity test."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence

from kb.quantity import Date, Quantity, Truth

from .atom import Atom, Constant, Symbol, Variable, render_pattern, render_term
from .clause import Clause
from .closed_slice import close_slice
from .comparison import UNKNOWN
from .doubt import why_undetermined
from .facts import FactBase, Signature
from .missing import Missing
from .slice import AbsencePremise, AggregatePremise, ComparisonPremise, Instance, Slice
from .sources import Sources
from .verdict import AbstentionCode, OpenRequirement, requirement_id


def write_requirement(
    missing: Missing, *, facts: FactBase, sources: Sources, valid_on: datetime.date | None
) -> OpenRequirement:
    """Turn something missing into an open requirement, with code, query and entity test."""
    atom = missing.atom
    text = missing.text
    entity = next((a for a in atom.arguments if isinstance(a, (str, Symbol))), None)
    name = entity.name if isinstance(entity, Symbol) else entity or ""
    query = _query(atom)
    detail = missing.detail or _hidden(atom, facts, valid_on)
    rejected: tuple[str, ...] = ()
    if missing.excluding:
        return OpenRequirement(
            id=requirement_id(text, missing.rule),
            atom=text,
            code=AbstentionCode.EXCLUDED,
            rule=missing.rule,
            query="",
            expected="absence",
            entity_test="",
            detail=detail,
        )
    if missing.source:
        code, query = AbstentionCode.GAP_IN_CORPUS, missing.source
    elif missing.undetermined:
        code = AbstentionCode.UNDETERMINED
    else:
        found = sources.candidates(query, name)
        names = _names(name, facts, valid_on)
        refused = [text for each in names for text in sources.refused(atom.predicate, each)]
        rejected = found.rejected
        if refused:
            shown = f"a candidate was refused here: {'; '.join(refused)}"
            detail = f"{detail}; {shown}" if detail else shown
        if found.accepted:
            detail = (
                detail or f"passages that name it, none stating this: {'; '.join(found.accepted)}"
            )
        if rejected:
            code = AbstentionCode.UNVERIFIED_ENTITY
        elif found.accepted or refused:
            code = AbstentionCode.GAP_IN_EXTRACTION
        else:
            code = AbstentionCode.GAP_IN_CORPUS
    return OpenRequirement(
        id=requirement_id(text, missing.rule),
        atom=text,
        code=code,
        rule=missing.rule,
        query=query,
        expected=missing.expected or _expected(atom, facts),
        entity_test=f"names {name}" if name else "",
        detail=detail,
        rejected=rejected,
    )


def _names(name: str, facts: FactBase, valid_on: datetime.date | None) -> list[str]:
    """Give all names of an entity, the one in question first."""
    names, other = [name], Variable("V")
    for known in names:
        for at, pair in ((1, (known, other)), (0, (other, known))):
            for fact in facts.match(Atom("same_as", pair), valid_on):
                found = fact.atom.arguments[at]
                if isinstance(found, str) and found not in names:
                    names.append(found)
    return names


def _query(atom: Atom) -> str:
    words = [atom.predicate.replace("_", " ")]
    for argument in atom.arguments:
        match argument:
            case Variable():
                continue
            case Symbol(name):
                words.insert(-1, name)
            case str():
                words.insert(-1, argument)
            case other:
                words.append(_plain(other))
    return " ".join(words)


def _plain(value: Constant) -> str:
    return str(value) if isinstance(value, (Date, Quantity)) else render_term(value)


def _hidden(atom: Atom, facts: FactBase, valid_on: datetime.date | None) -> str:
    """Tell of a statement that would do but does not hold on the day of the request."""
    if valid_on is None:
        return ""
    for fact in facts.match(atom, None):
        if not fact.validity.holds_on(valid_on):
            start, end = fact.validity.start or "", fact.validity.end or ""
            return f"{fact.atom} is stated for {start}..{end}, not for {valid_on}"
    return ""


def _expected(atom: Atom, facts: FactBase) -> str:
    """Guess the kind of the open argument from what is stated of others."""
    open_at = [at for at, a in enumerate(atom.arguments) if isinstance(a, Variable)]
    if not open_at:
        return "statement"
    rows = facts.lookup(atom.signature, (), None)(())
    if not rows:
        return "value"
    seen = facts.facts_at(atom.signature, rows[0], None)[0].atom
    match seen.arguments[open_at[0]]:
        case Date():
            return "date"
        case Quantity():
            return "quantity"
        case str() | Symbol():
            return "name"
    return "number"


def undetermined_requirements(
    part: Slice,
    clauses: Sequence[Clause],
    sources_below: Callable[[Signature], tuple[str, ...]] = lambda _: (),
) -> tuple[OpenRequirement, ...]:
    """Name the undetermined comparisons of a slice whose goal is possible only, and why.

    `clauses` are those of the slice. Where nothing is undetermined, the absences that would need
    one of the missing `sources_below`.
    """
    found: dict[str, Instance] = {}
    closed = close_slice(part)
    for instance in part.instances:
        if closed.derives(instance.head):
            continue
        for premise in instance.premises:
            if (
                isinstance(premise, (ComparisonPremise, AggregatePremise))
                and premise.truth is Truth.UNDETERMINED
                and UNKNOWN.name not in premise.text
            ):
                found.setdefault(premise.text, instance)
    if not found:
        return _unsourced_requirements(part, sources_below)
    return tuple(
        OpenRequirement(
            id=requirement_id(text, instance.rule_id),
            atom=text,
            code=AbstentionCode.UNDETERMINED,
            rule=instance.rule_id,
            query="",
            expected="a more precise value",
            entity_test="",
            detail=why_undetermined(instance, text, clauses),
        )
        for text, instance in sorted(found.items(), key=lambda item: item[0])
    )


def _unsourced_requirements(
    part: Slice, sources_below: Callable[[Signature], tuple[str, ...]]
) -> tuple[OpenRequirement, ...]:
    found: dict[tuple[str, str], str] = {}
    for instance in part.instances:
        for premise in instance.premises:
            if isinstance(premise, AbsencePremise) and premise.truth is Truth.UNDETERMINED:
                lost = sources_below(premise.atom.signature)
                if lost:
                    found[f"not {render_pattern(premise.atom)}", instance.rule_id] = " and ".join(
                        lost
                    )
    return tuple(
        OpenRequirement(
            id=requirement_id(text, rule),
            atom=text,
            code=AbstentionCode.GAP_IN_CORPUS,
            rule=rule,
            query=lost,
            expected="a table",
            entity_test="",
            detail=f"{lost}, declared complete: missing",
        )
        for (text, rule), lost in sorted(found.items())
    )
