"""Writes open requirements: what is missing, with code, query, expected answer and entity test."""

from __future__ import annotations

import datetime

from kb.quantity import Date, Quantity, Truth

from .arithmetic import UNKNOWN
from .atom import Atom, Constant, Symbol, Variable, render_term
from .closed_slice import close_slice
from .facts import FactBase
from .missing import Missing
from .slice import AggregatePremise, ComparisonPremise, Slice
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
    if missing.undetermined:
        code = AbstentionCode.UNDETERMINED
    else:
        found = sources.candidates(query, name)
        refused = sources.refused(atom.predicate, name)
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
        expected=_expected(atom, facts),
        entity_test=f"names {name}" if name else "",
        detail=detail,
        rejected=rejected,
    )


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


def undetermined_requirements(part: Slice) -> tuple[OpenRequirement, ...]:
    """Name the undetermined comparisons of a slice whose goal is possible only."""
    found: dict[str, str] = {}
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
                found.setdefault(premise.text, instance.rule_id)
    return tuple(
        OpenRequirement(
            id=requirement_id(text, rule),
            atom=text,
            code=AbstentionCode.UNDETERMINED,
            rule=rule,
            query="",
            expected="a more precise value",
            entity_test="",
            detail="the sources are not precise enough",
        )
        for text, rule in sorted(found.items())
    )
