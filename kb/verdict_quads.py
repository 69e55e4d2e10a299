"""What certificates, decisions and sign-offs say in RDF, as triples of the graph `pw:verdicts`.

A certificate has its verdict, goal and policies; each answer is a node with the statements its
proof uses and the documents they stand in; each open requirement is a node with its atom and code.
A decision is one time that a certificate was given: asked again, only the decision is new.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyoxigraph as ox

from . import vocabulary as iri
from .errors import IRIRejected
from .rdf_quads import STATED_IN, TYPE, Triple, pw
from .rdf_terms import typed
from .verdicts import SignOffRecord, VerdictRecord

# Certificates are JSON whose schema the verifier checks; here members are read as they are.
_Json = Mapping[str, Any]

FORMAT = "proofweave.certificate/1"

_POLICY = pw("policy")
_CERTIFICATE = pw("certificate")
_CONSTANT = re.compile(r'(@\w+\()?("(?:[^"\\]|\\.)*")')
"""A quoted text in an atom, with what stands before it where it is no name but a date or such."""
_CLOSED = re.compile(r'^\s*closed\(\s*([a-z]\w*/\d+)\s*,\s*("(?:[^"\\]|\\.)*")\s*\)', re.MULTILINE)
_PRELUDE = "prelude"
_OF_CERTIFICATE = {"code": "code", "question": "question", "understood_as": "understoodAs"}
_OF_REQUIREMENT = {
    "atom": "atom",
    "code": "code",
    "rule": "rule",
    "query": "searchFor",
    "expected": "expected",
    "detail": "detail",
}


def certificate_triples(namespace: str, digest: str, certificate: bytes) -> Iterator[Triple]:
    """A certificate with its policies, answers and open requirements.

    Of another format than ours only that it is one.
    """
    node = ox.NamedNode(iri.certificate_iri(namespace, digest))
    yield node, TYPE, pw("Certificate")
    form: _Json = json.loads(certificate)
    if form.get("format") != FORMAT:
        return
    yield node, pw("verdict"), ox.Literal(form["verdict"])
    yield node, pw("goal"), ox.Literal(form["goal"])
    for name, predicate in _OF_CERTIFICATE.items():
        if form[name]:
            yield node, pw(predicate), ox.Literal(form[name])
    if form["valid_on"]:
        yield node, pw("validOn"), typed(form["valid_on"], "date")
    if form["validity"]["next_change"]:
        yield node, pw("nextChange"), typed(form["validity"]["next_change"], "date")
    yield node, pw("complete"), typed("true" if form["complete"] else "false", "boolean")
    yield from _about(namespace, node, form["goal"])
    for text in form["assumptions"]:
        yield node, pw("assumption"), ox.Literal(text)
    for retraction in form.get("retractions", ()):
        yield node, pw("retraction"), ox.Literal(retraction["atom"])
    for policy in form["policies"]:
        if policy["id"] != _PRELUDE:
            yield from _policy(namespace, node, policy)
    for name in sorted(_complete_sources(form)):
        yield node, pw("takesAsComplete"), ox.Literal(name)
    for digest_of_source in form["sources"]:
        yield node, pw("consults"), ox.NamedNode(iri.source_iri(digest_of_source))
    yield from _answers(namespace, node, form)
    for number, requirement in enumerate(form["open"], start=1):
        yield from _requirement(namespace, node, number, requirement)


def decision_triples(namespace: str, record: VerdictRecord) -> Iterator[Triple]:
    """One time that a certificate was given: who asked, when, at which revision."""
    node = ox.NamedNode(iri.decision_iri(namespace, record.number))
    yield node, TYPE, pw("Decision")
    yield node, _CERTIFICATE, ox.NamedNode(iri.certificate_iri(namespace, record.digest))
    receipt = record.receipt
    if "time" in receipt:
        yield node, _prov("generatedAtTime"), typed(str(receipt["time"]), "dateTime")
    if "requester" in receipt:
        yield node, pw("requester"), ox.Literal(str(receipt["requester"]))
    if "revision" in receipt:
        yield node, pw("revision"), typed(str(receipt["revision"]), "integer")
    if receipt.get("hypothetical"):
        yield node, pw("hypothetical"), typed("true", "boolean")


def sign_off_triples(namespace: str, record: SignOffRecord) -> Iterator[Triple]:
    """A sign-off: which certificate, who reviewed, when, with which comment."""
    node = ox.NamedNode(iri.decision_iri(namespace, record.number))
    yield node, TYPE, pw("SignOff")
    yield node, _CERTIFICATE, ox.NamedNode(iri.certificate_iri(namespace, record.digest))
    form = record.sign_off
    if "time" in form:
        yield node, _prov("generatedAtTime"), typed(str(form["time"]), "dateTime")
    if "reviewer" in form:
        yield node, pw("reviewer"), ox.Literal(str(form["reviewer"]))
    if form.get("comment"):
        yield node, ox.NamedNode(iri.RDFS + "comment"), ox.Literal(str(form["comment"]))


def _policy(namespace: str, node: ox.NamedNode, policy: _Json) -> Iterator[Triple]:
    named = ox.NamedNode(iri.policy_iri(namespace, policy["id"], policy["version"]))
    yield node, _POLICY, named
    yield named, TYPE, pw("Policy")
    yield named, ox.NamedNode(iri.DCTERMS + "identifier"), ox.Literal(policy["id"])
    yield named, pw("version"), ox.Literal(policy["version"])
    yield named, pw("sha256"), ox.Literal(policy["digest"])


def _answers(namespace: str, node: ox.NamedNode, form: _Json) -> Iterator[Triple]:
    steps = {step["id"]: step for step in form["steps"]}
    number = 0
    for key, predicate in (("answers", "answer"), ("refuted", "refutedAnswer")):
        for found in form[key]:
            number += 1
            answer = ox.NamedNode(f"{node.value}/answer/{number}")
            yield node, pw(predicate), answer
            yield answer, TYPE, pw("Answer")
            yield answer, pw("atom"), ox.Literal(found["atom"])
            yield from _about(namespace, answer, found["atom"])
            identifiers, whole = _premises(form, steps, found["step"])
            sources = set(form["sources"]) if whole else set()
            for identifier in identifiers:
                statement = ox.NamedNode(iri.statement_iri(namespace, identifier))
                yield answer, pw("premise"), statement
                for evidence in form["statements"][identifier]["evidence"]:
                    source, start, end = (evidence[k] for k in ("source_sha256", "start", "end"))
                    yield statement, STATED_IN, ox.NamedNode(iri.span_iri(source, start, end))
                    sources.add(source)
            for source in sorted(sources):
                yield answer, pw("restsOn"), ox.NamedNode(iri.source_iri(source))


def _requirement(
    namespace: str, node: ox.NamedNode, number: int, requirement: _Json
) -> Iterator[Triple]:
    gap = ox.NamedNode(f"{node.value}/open/{number}")
    yield node, pw("openRequirement"), gap
    yield gap, TYPE, pw("OpenRequirement")
    for name, predicate in _OF_REQUIREMENT.items():
        if requirement[name]:
            yield gap, pw(predicate), ox.Literal(requirement[name])
    yield from _about(namespace, gap, requirement["atom"])
    for text in requirement["rejected"]:
        yield gap, pw("rejected"), ox.Literal(text)
    for identifier in requirement["conflicting"]:
        yield gap, pw("conflicting"), ox.NamedNode(iri.statement_iri(namespace, identifier))


def _premises(form: _Json, steps: Mapping[str, _Json], step: str) -> tuple[list[str], bool]:
    """The statements that the proof of a step uses, sorted, and whether it rests on an absence.

    Such a proof uses all that was looked at for it: all statements and sources of the certificate.
    """
    used: set[str] = set()
    stack, seen = [step], {step}
    while stack:
        found = steps[stack.pop()]
        if found["kind"] == "closed":
            return sorted(form["statements"]), True
        if "statement" in found:
            used.add(found["statement"])
        fresh = set(found["premises"]) - seen
        seen |= fresh
        stack.extend(fresh)
    return sorted(used), False


def _about(namespace: str, node: ox.NamedNode, atom: str) -> Iterator[Triple]:
    """The entities that an atom names in its arguments."""
    for kind, text in _CONSTANT.findall(atom):
        name = json.loads(text)
        if kind or name.startswith("st:"):
            continue
        try:
            entity = iri.entity_iri(namespace, name)
        except IRIRejected:
            continue
        yield node, pw("about"), ox.NamedNode(entity)


def _complete_sources(form: _Json) -> Iterable[str]:
    """Names of the sources whose completeness an absence in the certificate relies on."""
    looked_up = {
        _signature(found["pattern"])
        for found in (form["witness"] or {}).get("lookups", ())
        if found["basis"] in ("declared", "table")
    }
    for policy in form["policies"]:
        for signature, name in _CLOSED.findall(policy["text"]):
            if signature in looked_up:
                yield json.loads(name)


def _signature(pattern: str) -> str:
    """`p/2` of `p("a", _)`."""
    name, _, arguments = _CONSTANT.sub("_", pattern).partition("(")
    return f"{name}/{arguments.count(',') + 1 if arguments else 0}"


def _prov(name: str) -> ox.NamedNode:
    return ox.NamedNode(iri.PROV + name)
