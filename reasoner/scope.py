"""Open requirements in words: lost sources, statements left out, and what nothing covers."""

from __future__ import annotations

import difflib
from dataclasses import replace

from .atom import Atom, Variable, render_term
from .inquiry import Inquiry
from .missing import Missing
from .prelude import built_in
from .requirement import write_requirement
from .verdict import AbstentionCode, OpenRequirement


def write_missing(inquiry: Inquiry, missing: Missing) -> OpenRequirement:
    """Write what is missing as an open requirement of an inquiry.

    Where the knowledge base gives its vocabulary, what no rule, fact, dimension or taxonomy of it
    covers is `OUT_OF_SCOPE`: no document could close it.
    """
    found = write_requirement(
        missing, facts=inquiry.facts, sources=inquiry.sources, valid_on=inquiry.valid_on
    )
    if missing.excluding or missing.undetermined:
        return found
    outside = _outside(inquiry, missing)
    if outside:
        return replace(found, code=AbstentionCode.OUT_OF_SCOPE, detail=outside, rejected=())
    source = inquiry.unsourced.get(missing.atom.signature)
    if source is not None and not found.detail:
        found = replace(found, detail=f"{source}, declared complete for this, is missing")
    left_out = _left_out(inquiry, missing.atom)
    return replace(found, detail=left_out) if left_out else found


def _outside(inquiry: Inquiry, missing: Missing) -> str:
    """Say why nothing covers an atom; empty where something does, or nobody can tell."""
    if not inquiry.vocabulary:
        return ""
    name, arity = missing.atom.signature
    if missing.unknown_class is not None:
        shown = render_term(missing.unknown_class)
        wanted = Atom(missing.atom.predicate, (Variable("E"), missing.unknown_class))
        if arity == 2 and inquiry.facts.match(wanted, None):
            return ""
        return f"no taxonomy holds {shown}, and nothing states it"
    if _is_covered(inquiry, missing.atom):
        return ""
    names = {known.removeprefix("-") for known, _ in inquiry.vocabulary}
    near = difflib.get_close_matches(name.removeprefix("-"), sorted(names), 1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"no rule, source or dimension gives {name}/{arity}{hint}"


def _is_covered(inquiry: Inquiry, atom: Atom) -> bool:
    """Whether facts, rules, declarations or dimensions give a predicate or its complement."""
    policy, vocabulary = inquiry.policy, inquiry.vocabulary
    closed = {(item.predicate, item.arity) for item in policy.closed}
    return any(
        signature in vocabulary
        or signature in closed
        or signature in built_in()
        or inquiry.is_defined(signature)
        for signature in (atom.signature, atom.complement.signature)
    )


def _left_out(inquiry: Inquiry, pattern: Atom) -> str:
    """Say of what is missing that the request itself leaves it out."""
    found = sorted(
        str(atom)
        for atom in set(inquiry.retracted)
        if atom.signature == pattern.signature
        and all(
            isinstance(wanted, Variable) or wanted == given
            for wanted, given in zip(pattern.arguments, atom.arguments, strict=True)
        )
    )
    return f"left out by the request: {'; '.join(found)}" if found else ""
