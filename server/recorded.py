"""A recorded certificate as the request it answered: on what its goal can be decided again."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from reasoner.clause import Policy
from reasoner.facts import Fact, FactBase
from reasoner.policy import parse_atom
from reasoner.prelude import prelude
from reasoner.retraction import Retraction

from .errors import RequestRejected
from .policies import read_policy
from .proof_steps import Json
from .reasoning import Ground
from .snapshot import Snapshot
from .sources import KnowledgeSources


def ground_of_certificate(certificate: Json, known: Snapshot) -> Ground:
    """Give the rules, day, assumptions and retractions of a certificate over what is known.

    Of facts that its request brought along, only those it cites are there.
    """
    own = {name for name, found in certificate["statements"].items() if "atom" in found}
    brought = [
        fact
        for fact in facts_of_certificate(certificate).facts()
        if fact.leaf in own or fact.leaf == "identity"
    ]
    return Ground(
        policy_of(certificate),
        known.facts().with_facts(brought),
        KnowledgeSources(
            known.known,
            known.names(),
            known.dimensions(),
            titles=known.unlinked_titles,
        ),
        day_of_certificate(certificate),
        tuple(map(parse_atom, certificate["assumptions"])),
        known=known.predicates(),
        retractions=tuple(_retractions(certificate)),
    )


def _is_identity(step: Json) -> bool:
    return step["kind"] == "identity" and "rule" not in step


def check_kept(certificate: Json) -> None:
    """Raise RequestRejected where a certificate rests on facts that its request brought along.

    These are not kept, so what follows from all of them cannot be found out again.
    """
    named = {
        source["title"]
        for source in certificate["sources"].values()
        if source["decoder"].startswith("facts/")
    }
    for statement in certificate["statements"].values():
        if "atom" in statement:
            for evidence in statement["evidence"]:
                named.add(certificate["sources"][evidence["source_sha256"]]["title"])
    if named:
        raise RequestRejected(
            f"the decision rests on facts of its request, {', '.join(sorted(named))}, "
            "which are not kept"
        )


def policy_of(certificate: Json) -> Policy:
    """Give the policy a certificate was decided under; an empty one where it used none."""
    for record in certificate["policies"]:
        if record["digest"] != prelude().digest:
            return read_policy(record["text"], f"{record['id']}.lp")
    return read_policy("", "request")


def day_of_certificate(certificate: Json) -> datetime.date | None:
    """Give the day for which facts counted."""
    day = certificate["valid_on"]
    return None if day is None else datetime.date.fromisoformat(day)


def _retractions(certificate: Json) -> Iterator[Retraction]:
    for item in certificate.get("retractions", ()):
        yield Retraction(item["statement"], parse_atom(item["atom"]))


def facts_of_certificate(certificate: Json) -> FactBase:
    """Give what a certificate cites or assumes as facts."""

    def facts() -> Iterator[Fact]:
        for step in certificate["steps"]:
            if step["kind"] == "stated":
                yield Fact(parse_atom(step["conclusion"]), step["statement"])
            elif step["kind"] in ("provenance", "assumed") or _is_identity(step):
                yield Fact(parse_atom(step["conclusion"]), step["kind"])

    return FactBase(facts())
