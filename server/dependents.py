"""Recorded decisions that rest on a source, a statement or a policy, and each without it."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from proofweave.v1 import certificate_pb2 as pb
from proofweave.v1 import common_pb2

from kb.errors import NotFound, ProofweaveError
from kb.knowledge_base import KnowledgeBase
from kb.reading import Reading
from kb.verdicts import VerdictRecord
from reasoner.atom import Atom, Variable
from reasoner.decide import Decision, decide
from reasoner.evaluate import Budget
from reasoner.facts import FactBase, facts_of
from reasoner.policy import parse_atom
from reasoner.retraction import Retraction

from .errors import DeadlinePassed, RequestRejected
from .knowledge import Knowledge
from .names import policy_name, read_policy_name
from .nearest import nearest
from .policies import read_policy
from .proof_steps import Json
from .reasoning import Ground
from .recorded import check_kept, ground_of_certificate
from .sources import KnowledgeSources
from .status import problems_of
from .translate import CODES, VERDICTS, open_message

_NO_CODE = common_pb2.ABSTENTION_CODE_UNSPECIFIED
_SHORTEST = 8
"""Digits of a digest that are enough where only one source begins so."""

_STATEMENT_ID = re.compile(r"st:[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Subject:
    """What decisions may rest on: `kind` is source, statement or policy.

    `id` is a digest, a statement id or a policy id; `version` is that of a policy, if one is meant.
    """

    kind: str
    id: str
    version: str | None = None

    @property
    def name(self) -> str:
        """Its full name."""
        if self.kind != "policy":
            return self.id
        return f"policies/{self.id}" if self.version is None else policy_name(self.id, self.version)

    def cited_by(self, certificate: Json) -> tuple[str, ...] | None:
        """Give the statements that connect a certificate with it; None where nothing does."""
        if self.kind == "policy":
            found = [
                policy
                for policy in certificate["policies"]
                if policy["id"] == self.id and self.version in (None, policy["version"])
            ]
            return () if found else None
        if self.kind == "statement":
            return (self.id,) if self.id in certificate["statements"] else None
        if self.id not in certificate["sources"]:
            return None
        return tuple(
            name
            for name, statement in certificate["statements"].items()
            if any(evidence["source_sha256"] == self.id for evidence in statement["evidence"])
        )


def find_subject(text: str, base: Reading) -> Subject:
    """Read what is meant: a policy, a statement, or a source by digest, name or title.

    Raises NotFound with the nearest names, and RequestRejected where several could be meant.
    """
    if not text:
        raise RequestRejected("no subject is given; expected a source, a statement or a policy")
    if text.startswith("policies/"):
        policy, version = read_policy_name(text)
        versions = [record.version for record in base.policies() if record.id == policy]
        if not versions:
            names = {record.id for record in base.policies()}
            raise NotFound(f"there is no policy {policy!r}{nearest(policy, names)}")
        if version is not None and version not in versions:
            raise NotFound(
                f"policy {policy} has no version {version!r}; it has {', '.join(versions)}"
            )
        return Subject("policy", policy, version)
    name = text.rpartition("/")[2] if text.startswith("knowledgeBases/") else text
    if name.startswith("st:"):
        if not _STATEMENT_ID.fullmatch(name):
            raise NotFound(f"{name!r} is no statement; expected st: and 32 hexadecimal digits")
        return Subject("statement", name)  # withdrawn, perhaps
    records = base.documents()
    found = {record.source_sha256 for record in records if name in (record.name, record.title)}
    if len(name) >= _SHORTEST:
        found |= {r.source_sha256 for r in records if r.source_sha256.startswith(name)}
    if len(found) > 1:
        raise RequestRejected(f"{text!r} may be any of the sources {', '.join(sorted(found))}")
    if found:
        return Subject("source", found.pop())
    if len(name) == 64 and all(digit in "0123456789abcdef" for digit in name):
        return Subject("source", name)  # retracted, perhaps; recorded decisions may quote it
    names = {word for record in records for word in (record.name, record.title)}
    near = nearest(text, names) or "; one that was withdrawn goes by its whole digest"
    raise NotFound(f"{text!r} is no source, statement (st:...) or policy (policies/ID){near}")


def resting_on(
    subject: Subject, base: KnowledgeBase, check: Callable[[], None] = lambda: None
) -> tuple[list[tuple[VerdictRecord, tuple[str, ...]]], dict[str, Json]]:
    """Give the decisions that rest on something, in order, and their certificates by digest.

    `check` is called for each decision, and may raise.
    """
    certificates: dict[str, Json] = {}
    cited: dict[str, tuple[str, ...] | None] = {}
    found = []
    needle = subject.id.encode()
    for record in base.certificates():
        check()
        if record.digest not in cited:
            data = base.certificate(record.digest)
            form: Json | None = json.loads(data) if needle in data else None
            cited[record.digest] = None if form is None else subject.cited_by(form)
            if form is not None and cited[record.digest] is not None:
                certificates[record.digest] = form
        statements = cited[record.digest]
        if statements is not None:
            found.append((record, statements))
    return found, certificates


class Recheck:
    """Decides certificates again from what is known now, without one thing; each once."""

    def __init__(
        self, subject: Subject, knowledge: Knowledge, budget: Callable[[], Budget]
    ) -> None:
        self._subject = subject
        self._newest = knowledge.at()
        self._budget = budget
        self._known: dict[str, pb.Dependent] = {}
        self._left: tuple[tuple[Retraction, ...], tuple[tuple[str, str], ...]] | None = None

    def outcome(self, digest: str, certificate: Json) -> pb.Dependent:
        """Say what becomes of a certificate: outcome, verdict, what is open, or why unknown."""
        if digest not in self._known:
            try:
                decision = self._decide(certificate)
            except DeadlinePassed:
                raise
            except ProofweaveError as error:
                self._known[digest] = pb.Dependent(
                    outcome=pb.OUTCOME_UNKNOWN, problem=problems_of(error)[0]
                )
            else:
                stands = decision.verdict.value == certificate["verdict"]
                self._known[digest] = pb.Dependent(
                    outcome=pb.OUTCOME_STANDS if stands else pb.OUTCOME_FALLS,
                    verdict=VERDICTS[decision.verdict],
                    code=CODES[decision.code] if decision.code is not None else _NO_CODE,
                    open=[open_message(requirement) for requirement in decision.open],
                    detail=_unread(certificate, json.loads(decision.certificate)),
                )
        return self._known[digest]

    def _decide(self, certificate: Json) -> Decision:
        check_kept(certificate)
        ground = self._without(ground_of_certificate(certificate, self._newest), certificate)
        return decide(
            ground.request(parse_atom(certificate["goal"])),
            policy=ground.policy,
            facts=ground.facts,
            sources=ground.sources,
            budget=self._budget(),
            known=ground.known,
        )

    def _without(self, ground: Ground, certificate: Json) -> Ground:
        subject, newest = self._subject, self._newest
        base = newest.known
        if subject.kind == "policy":
            (version,) = [p["version"] for p in certificate["policies"] if p["id"] == subject.id]
            others = [
                record
                for record in base.policies()
                if record.id == subject.id and record.version != version
            ]
            if not others:
                raise NotFound(f"policy {subject.id} has no version beside {version}")
            policy = read_policy(others[-1].text, f"{subject.id}.lp")
            return dataclasses.replace(ground, policy=policy)
        if subject.kind == "statement":
            retracted = tuple(_retraction(subject.id, base))
            return dataclasses.replace(ground, retractions=(*ground.retractions, *retracted))
        if self._left is None:
            self._left = _left_out(subject.id, base, ground.facts)
        return dataclasses.replace(
            ground,
            facts=ground.facts.without(*self._left),
            sources=KnowledgeSources(
                base,
                newest.names(),
                newest.dimensions(),
                titles=newest.unlinked_titles,
                excluded=subject.id,
            ),
        )


def _unread(before: Json, after: Json) -> str:
    """Name the look-ups that were read in a source before and are only declared complete now."""
    read = {found["pattern"] for found in before["witness"]["lookups"] if found["basis"] == "table"}
    left = [
        found["pattern"]
        for found in after["witness"]["lookups"]
        if found["basis"] == "declared" and found["pattern"] in read
    ]
    return f"no source would show that {'; '.join(left)} is complete" if left else ""


def _retraction(statement_id: str, base: Reading) -> Iterator[Retraction]:
    try:
        statement = base.statement(statement_id)
    except NotFound:
        return  # it is retracted already
    for fact in facts_of(statement_id, statement, ())[:1]:
        yield Retraction(statement_id, fact.atom)


def _left_out(
    source: str, base: Reading, facts: FactBase
) -> tuple[tuple[Retraction, ...], tuple[tuple[str, str], ...]]:
    """Give the statements that only a source makes, and the places of others in it."""
    retracted: list[Retraction] = []
    places: list[tuple[str, str]] = []
    for name, statement, _ in base.every_statement(source_sha256=source):
        if len(facts.match(Atom("stated_in", (name, Variable("D"))), None)) > 1:
            places.append((name, source))
        else:
            retracted += (Retraction(name, f.atom) for f in facts_of(name, statement, ())[:1])
    return tuple(retracted), tuple(places)


def stream_dependents(
    subject: Subject,
    knowledge: Knowledge,
    *,
    describe: Callable[[VerdictRecord], pb.RecordedDecision],
    recheck: Recheck | None,
    check: Callable[[], None],
) -> Iterator[pb.StreamDependentsResponse]:
    """Give how many decisions rest on something, then each, oldest first.

    `check` raises where the caller has left.
    """
    found, certificates = resting_on(subject, knowledge.base, check)
    start = pb.DependentsStart(
        kind=subject.kind,
        name=subject.name,
        count=len(found),
        title=_title(subject, certificates),
    )
    yield pb.StreamDependentsResponse(start=start)
    yield from _dependents(found, certificates, describe, recheck)


def _title(subject: Subject, certificates: Mapping[str, Json]) -> str:
    for certificate in certificates.values():
        if subject.id in certificate["sources"]:
            return str(certificate["sources"][subject.id]["title"])
    return ""


def _dependents(
    found: Iterable[tuple[VerdictRecord, tuple[str, ...]]],
    certificates: Mapping[str, Json],
    describe: Callable[[VerdictRecord], pb.RecordedDecision],
    recheck: Recheck | None,
) -> Iterator[pb.StreamDependentsResponse]:
    for record, statements in found:
        dependent = pb.Dependent()
        if recheck is not None:
            dependent.CopyFrom(recheck.outcome(record.digest, certificates[record.digest]))
        dependent.decision.CopyFrom(describe(record))
        dependent.statements.extend(statements)
        yield pb.StreamDependentsResponse(dependent=dependent)
