"""What a request leaves out: facts or ids of statements, found among what is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from kb.errors import NotFound, ProofweaveError
from reasoner.atom import Atom, Variable
from reasoner.bodies import without_statement
from reasoner.facts import FactBase, facts_of
from reasoner.policy import parse_atom
from reasoner.retraction import Retraction
from reasoner.sources import Sources

from .errors import RequestRejected
from .nearest import nearest

_MOST_NAMES = 20_000
"""Facts of a predicate that are looked through for the nearest."""


def retractions_of(
    texts: Iterable[str], facts: FactBase, sources: Sources
) -> tuple[Retraction, ...]:
    """Find the statements that a request leaves out, by id.

    An atom means every statement of it, whenever it holds. Raises RequestRejected with all that
    cannot be found, each with the nearest names.
    """
    found: set[Retraction] = set()
    problems: list[str] = []
    for text in texts:
        try:
            given = text.strip()
            is_id = given.startswith("st:") or "/statements/" in given
            found.update(_by_id(given, facts, sources) if is_id else _by_atom(given, facts))
        except ProofweaveError as error:
            problems.append(str(error))
    if problems:
        raise RequestRejected("; ".join(problems))
    return tuple(sorted(found, key=lambda item: (item.statement, str(item.atom))))


def _by_id(text: str, facts: FactBase, sources: Sources) -> Iterator[Retraction]:
    name = text.rpartition("/")[2]
    try:
        record = sources.statement(name)
    except (NotFound, KeyError) as error:
        raise RequestRejected(
            f"the retraction {text!r} is no statement that is known; expected an id as proofs, "
            "certificates and ListStatements give it"
        ) from error
    if record.statement is None:
        assert record.atom is not None, "a statement without form is an atom"
        atoms = [record.atom]
    else:
        atoms = [fact.atom for fact in facts_of(name, record.statement, ())[:1]]
    known = [atom for atom in atoms if any(at.leaf == name for at in facts.match(atom, None))]
    if not known:
        raise RequestRejected(f"the statement {name} is none that rules see; nothing to retract")
    yield from (Retraction(name, atom) for atom in known)


def _by_atom(text: str, facts: FactBase) -> Iterator[Retraction]:
    atom = parse_atom(text)
    if not atom.is_ground:
        raise RequestRejected(f"the retraction {text!r} holds a variable; expected a ground atom")
    leaves = [fact for fact in facts.match(atom, None) if fact.leaf.startswith("st:")]
    if not leaves:
        raise RequestRejected(
            f"nothing states {atom}, so it cannot be retracted{_near(atom, facts)}"
        )
    yield from (Retraction(fact.leaf, without_statement(fact.atom)) for fact in leaves)


def _near(atom: Atom, facts: FactBase) -> str:
    """Name the nearest facts: of the same subject, else of the predicate, else predicates."""
    if atom.signature not in facts.signatures():
        names = {f"{name}/{arity}" for name, arity in facts.signatures()}
        return nearest("{}/{}".format(*atom.signature), names) or "; it may be concluded by rules"
    free = tuple(Variable(f"V{at}") for at in range(len(atom.arguments)))
    for kept in (1, 0):
        pattern = Atom(atom.predicate, (*atom.arguments[:kept], *free[kept:]), atom.negated)
        if not kept and facts.lookup(atom.signature, (), None)(())[_MOST_NAMES:]:
            return ""
        stated = (str(fact.atom) for fact in facts.match(pattern, None))
        near = nearest(str(atom), islice(stated, _MOST_NAMES))
        if near:
            return near
    return ""
