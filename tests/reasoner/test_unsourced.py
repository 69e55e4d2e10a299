"""A table that is declared complete and is not there: nothing follows from its silence."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.document import decode
from kb.statement import Evidence, Statement
from kb.table_mapping import TableMapping
from kb.tables import read_table
from reasoner.atom import Atom
from reasoner.certificate import canonical_bytes
from reasoner.contrast import Contrast
from reasoner.decide import Decision, Request, decide
from reasoner.evaluate import UNLIMITED, evaluate
from reasoner.facts import Fact, FactBase, facts_of
from reasoner.hypergraph.case import HypergraphSources
from reasoner.inquiry import Inquiry
from reasoner.policy import parse_atom, parse_policy
from reasoner.sources import SourceRecord, StatementRecord, facts_file_sources
from reasoner.verdict import AbstentionCode, Verdict
from reasoner.verify import Texts, verify_bytes

Json = dict[str, Any]
DAY = datetime.date(2026, 1, 1)
LIST = "name,sanctioned by\nEvil Corp,EU\n"
SUPPLIERS = "supplier,supplier_since\nNordwind,2019\nEvil Corp,2020\n"
POLICY = """
closed(sanctioned_by/2, "sanctions-list.csv").

clear(S) :- supplier_since(S, _), not sanctioned_by(S, _).
listed(S) :- sanctioned_by(S, _).
sound(S) :- supplier_since(S, _), not listed(S).
few(S) :- supplier_since(S, _), #count{ B : sanctioned_by(S, B) } < 2.
score(S, N) :- supplier_since(S, _), N = #count{ B : sanctioned_by(S, B) }.
low(S) :- score(S, N), N < 2.
known(S) :- supplier_since(S, _).
known(S) :- clear(S).
-clear(S) :- listed(S).
"""
CLEAR = 'clear("Nordwind")'


class Tables(HypergraphSources):
    """Tables by file name; those that are not there are missing."""

    def named(self, label: str) -> tuple[str, ...]:
        """Find a table by its file name."""
        return tuple(name for name, found in self.sources.items() if found.title in label)

    def lacks(self, label: str) -> bool:
        """Whether no such table is there."""
        return not self.named(label)

    def is_missing(self, label: str) -> bool:
        """Whether no such table is there."""
        return not self.named(label)


def world(*, with_list: bool) -> tuple[FactBase, Tables]:
    """Read the suppliers, and the list if it is there."""
    texts = {"suppliers.csv": SUPPLIERS} | ({"sanctions-list.csv": LIST} if with_list else {})
    records: dict[str, StatementRecord] = {}
    sources: dict[str, SourceRecord] = {}
    facts: list[Fact] = []
    decoded: dict[str, str] = {}
    for name, text in texts.items():
        document = decode(text.encode(), name=name)
        decoded[document.text_sha256] = document.text
        sources[document.source_sha256] = SourceRecord(
            document.media_type, document.title, document.decoder, document.text_sha256
        )
        for found in read_table(document, mapping=TableMapping()):
            assert isinstance(found, tuple)
            statement, evidence = found
            assert isinstance(statement, Statement)
            assert isinstance(evidence, Evidence)
            records[statement.id] = StatementRecord(None, statement, (evidence,))
            facts += facts_of(statement.id, statement, (evidence,))
    return FactBase(facts), Tables(records, sources, Texts(decoded))


def prove(goal: str = CLEAR, *, with_list: bool = False, engine: str = "linear") -> Decision:
    """Decide a goal, by default without the list."""
    facts, sources = world(with_list=with_list)
    policy = parse_policy(POLICY, name="policy.lp")
    request = Request(parse_atom(goal), DAY)
    return decide(request, policy=policy, facts=facts, sources=sources, engine=engine)


@pytest.mark.parametrize("engine", ["linear", "clingo", "pydatalog", "auto"])
@pytest.mark.parametrize(
    ("goal", "open_atom"),
    [
        (CLEAR, 'not sanctioned_by("Nordwind", _)'),
        ('sound("Nordwind")', 'not listed("Nordwind")'),
        ('few("Nordwind")', '2 > #count{B : sanctioned_by("Nordwind", B)}'),
        ('low("Nordwind")', 'N = #count{B : sanctioned_by("Nordwind", B)}'),
        ('score("Nordwind", N)', 'N = #count{B : sanctioned_by("Nordwind", B)}'),
        ('listed("Nordwind")', 'sanctioned_by("Nordwind", _)'),
    ],
)
def test_what_would_need_the_table_abstains_and_names_it(
    goal: str, open_atom: str, engine: str
) -> None:
    decision = prove(goal, engine=engine)
    assert decision.code is AbstentionCode.GAP_IN_CORPUS
    assert decision.open[0].atom == open_atom
    assert decision.open[0].code is AbstentionCode.GAP_IN_CORPUS
    assert "sanctions-list.csv" in decision.open[0].detail
    lookups = json.loads(decision.certificate)["witness"]["lookups"]
    assert "absent" in {item["basis"] for item in lookups}
    assert decision.certificate == prove(goal).certificate


def test_with_the_table_it_is_certified_and_without_it_the_rest_still_is() -> None:
    assert prove(with_list=True).verdict is Verdict.CERTIFIED
    assert prove('known("Nordwind")').verdict is Verdict.CERTIFIED
    refuted = prove('clear("Evil Corp")', with_list=True)
    assert refuted.verdict is Verdict.REFUTED
    assert prove('clear("Evil Corp")').code is AbstentionCode.GAP_IN_CORPUS


def test_the_report_says_what_was_not_there_and_a_folder_that_holds_it_tells(
    tmp_path: Path,
) -> None:
    decision = prove()
    (tmp_path / "suppliers.csv").write_text(SUPPLIERS)
    report = verify_bytes(decision.certificate, tmp_path)
    assert report.valid
    assert any("sanctions-list.csv" in item for item in report.trusted)
    (tmp_path / "sanctions-list.csv").write_text(LIST)
    assert verify_bytes(decision.certificate, tmp_path).rejection == "LOOKUP_MISMATCH"


def _claim_absent(certificate: Json) -> None:
    for lookup in certificate["witness"]["lookups"]:
        if lookup["pattern"].startswith("sanctioned_by"):
            lookup["basis"] = "absent"


def _stay_certain(certificate: Json) -> None:
    certificate["open"][0]["atom"] = 'supplier_since("Nordwind", _)'


def _declare(certificate: Json) -> None:
    for lookup in certificate["witness"]["lookups"]:
        if lookup["basis"] == "absent":
            lookup["basis"] = "declared"


def _of_all(certificate: Json) -> None:
    for lookup in certificate["witness"]["lookups"]:
        lookup["basis"] = "absent"


def _carry(certificate: Json) -> None:
    facts, sources = world(with_list=True)
    assert facts
    (digest,) = sources.named("sanctions-list.csv")
    record = sources.source(digest)
    certificate["sources"][digest] = {
        "media_type": record.media_type,
        "title": record.title,
        "decoder": record.decoder,
        "text_sha256": record.text_sha256,
    }


def _another_code(certificate: Json) -> None:
    certificate["code"] = certificate["open"][0]["code"] = "EXCLUDED"


@pytest.mark.parametrize(
    ("with_list", "forge", "classes"),
    [
        (True, _claim_absent, {"LOOKUP_MISMATCH", "COMPARISON"}),
        (False, _stay_certain, {"OPEN_MISMATCH"}),
        (False, _declare, {"WITNESS_INCOMPLETE", "OPEN_MISMATCH", "VERDICT_MISMATCH"}),
        (False, _of_all, {"LOOKUP_MISMATCH"}),
        (False, _carry, {"LOOKUP_MISMATCH"}),
        (False, _another_code, {"OPEN_MISMATCH"}),
    ],
)
def test_forgeries_about_what_is_there_are_rejected(
    with_list: bool, forge: Callable[[Json], None], classes: set[str]
) -> None:
    certificate = json.loads(prove(with_list=with_list).certificate)
    forge(certificate)
    _, sources = world(with_list=True)
    report = verify_bytes(canonical_bytes(certificate), sources.texts)
    assert report.rejection in classes


def test_a_clearance_is_not_forged_from_a_missing_table() -> None:
    """Take the clearance that the table gives, and let the table be missing from it."""
    certificate = json.loads(prove(with_list=True).certificate)
    _claim_absent(certificate)
    _, sources = world(with_list=False)
    (kept,) = sources.sources
    certificate["sources"] = {kept: certificate["sources"][kept]}
    report = verify_bytes(canonical_bytes(certificate), sources.texts)
    assert report.rejection == "COMPARISON"


def test_facts_of_a_request_stand_for_the_table() -> None:
    facts, sources = facts_file_sources(("facts.lp", 'supplier_since("Nordwind", 2019).'))
    policy = parse_policy(POLICY, name="policy.lp")
    request = Request(parse_atom(CLEAR), DAY)
    decision = decide(request, policy=policy, facts=facts, sources=sources, engine="linear")
    assert decision.verdict is Verdict.CERTIFIED
    certificate = json.loads(decision.certificate)
    _claim_absent(certificate)
    certificate.update(verdict="ABSTAINED", code="GAP_IN_CORPUS", answers=[])
    report = verify_bytes(canonical_bytes(certificate), sources.texts)
    assert report.rejection in ("COMPARISON", "LOOKUP_MISMATCH")


def test_a_contrast_names_the_missing_table() -> None:
    facts, sources = world(with_list=True)
    policy = parse_policy(POLICY, name="policy.lp")
    proved = decide(
        Request(parse_atom(CLEAR), DAY),
        policy=policy,
        facts=facts,
        sources=sources,
        engine="linear",
    )
    base, fewer = world(with_list=False)
    goal = parse_atom(CLEAR)
    inquiry = Inquiry(goal, policy, base, fewer, DAY, "linear", UNLIMITED)
    certificate = json.loads(proved.certificate)
    found = Contrast(certificate, inquiry).differences(certificate["answers"][0]["step"], goal)
    assert [item.counterpart for item in found] == ['not sanctioned_by("Nordwind", _)']
    assert "sanctions-list.csv" in found[0].detail


RULES = parse_policy(
    """
closed(p/1, "p.csv").
closed(q/1, "q.csv").
closed(e/1, "e.csv").
r(X) :- e(X), not p(X).
s(X) :- r(X), not q(X).
t(X) :- e(X), not s(X).
c(X) :- e(X), #count{ Y : p(Y) } < 2.
d(X) :- q(X), not c(X).
""",
    name="rules.lp",
)
NAMES = st.sets(st.sampled_from("abc"))


@given(p=NAMES, q=NAMES, e=NAMES, more=NAMES, goal=st.sampled_from("rstcd"))
def test_what_is_certain_without_a_source_holds_whatever_it_states(
    p: set[str], q: set[str], e: set[str], more: set[str], goal: str
) -> None:
    def answers(rows: set[str], *, is_missing: bool) -> tuple[set[Atom], set[Atom]]:
        facts = FactBase(
            Fact(parse_atom(f"{name}({value})"), "st:0")
            for name, values in (("p", rows), ("q", q), ("e", e))
            for value in sorted(values)
        )
        part = evaluate(
            RULES,
            parse_atom(f"{goal}(X)"),
            facts,
            valid_on=None,
            unsourced=[("p", 1)] if is_missing else [],
        )
        return set(part.answers), set(part.answers) | set(part.possible)

    certain, possible = answers(p, is_missing=True)
    whole, _ = answers(p | more, is_missing=False)
    assert certain <= whole <= possible
