"""What `decide` weighs: conflicts and precedence, budgets, engines, scope, what is missing."""

from __future__ import annotations

import datetime
import hashlib
import itertools
import json
from typing import Any

import pytest
from golden import load

from kb.statement import (
    Entity,
    Evidence,
    Polarity,
    Statement,
    TaxonClass,
    Text,
    Validity,
    Value,
)
from reasoner.atom import Atom
from reasoner.decide import Decision, Request, decide
from reasoner.errors import EngineUnknown, GoalRejected
from reasoner.evaluate import Budget
from reasoner.facts import Fact, FactBase, facts_of
from reasoner.policy import parse_atom, parse_policy
from reasoner.sources import Candidates, SourceRecord, StatementRecord
from reasoner.verdict import AbstentionCode, Verdict
from reasoner.verify import Texts

DAY = datetime.date(2026, 3, 1)


class Shelf:
    """Sources in memory: each statement stands in a text of its own lines."""

    def __init__(self, *, functional: tuple[str, ...] = (), about: str = "") -> None:
        self.functional = frozenset(functional)
        self.disjoint = frozenset({("acid", "base")})
        self.fact_sources: tuple[str, ...] = ()
        self.facts: list[Fact] = []
        self.about = about
        self.asked: list[tuple[str, str]] = []
        self._statements: dict[str, StatementRecord] = {}
        self._sources: dict[str, SourceRecord] = {}
        self._texts: dict[str, str] = {}
        self.texts = Texts(self._texts)

    def put(
        self,
        text: str,
        subject: str,
        dimension: str,
        value: Value,
        *,
        denied: bool = False,
        validity: Validity | None = None,
        kind: str = "",
    ) -> str:
        """Add a document with one statement; give its digest."""
        digest = hashlib.sha256(text.encode()).hexdigest()
        self._texts[digest] = text
        self._sources[digest] = SourceRecord("text/plain", text.split(":")[0], "text/1", digest)
        polarity = Polarity.DENIED if denied else Polarity.AFFIRMED
        statement = Statement(subject, dimension, value, polarity, validity=validity or Validity())
        evidence = Evidence(statement.id, digest, digest, 0, len(text), text, "test/1")
        known = self._statements.get(statement.id)
        both = (*(known.evidence if known else ()), evidence)
        self._statements[statement.id] = StatementRecord(None, statement, both)
        self.facts += facts_of(statement.id, statement, both)
        if kind:
            label = f"kind of {text}"
            self.put(label, f"doc:{digest}", "document_kind", TaxonClass(kind))
        return digest

    def statement(self, statement_id: str) -> StatementRecord:
        """Give a statement."""
        return self._statements[statement_id]

    def source(self, source_sha256: str) -> SourceRecord:
        """Give a source."""
        return self._sources[source_sha256]

    def named(self, label: str) -> tuple[str, ...]:
        """Know no tables."""
        assert label
        return ()

    def lacks(self, label: str) -> bool:
        """Have every table that is named."""
        assert label
        return False

    def is_missing(self, label: str) -> bool:
        """Have every table that is named."""
        assert label
        return False

    def candidates(self, query: str, entity: str) -> Candidates:
        """Find what the test says."""
        self.asked.append((query, entity))
        match self.about:
            case "accepted":
                return Candidates(("A page",), ())
            case "rejected":
                return Candidates((), ("Nordwand (A page)",))
        return Candidates()

    def refused(self, dimension: str, entity: str) -> tuple[str, ...]:
        """Know one candidate that was refused."""
        if (dimension, entity) == ("weight", "Nordwind"):
            return ("'heavy' is no quantity of weight (letter, line 3)",)
        return ()

    def decide(self, rules: str, goal: str, **options: Any) -> Decision:
        """Decide a goal from the shelf."""
        return decide(
            Request(parse_atom(goal), DAY),
            policy=parse_policy(rules, name="rules"),
            facts=FactBase(self.facts),
            sources=self,
            engine=options.pop("engine", "linear"),
            **options,
        )


SEAT = 'domestic(S) :- seat(S, "DE").\n'


def test_two_values_of_a_functional_dimension_are_a_conflict() -> None:
    shelf = Shelf(functional=("seat",))
    shelf.put("register: DE", "Nordwind", "seat", Text("DE"))
    shelf.put("letter: AT", "Nordwind", "seat", Text("AT"))
    decision = shelf.decide(SEAT, 'domestic("Nordwind")')
    assert decision.code is AbstentionCode.CONFLICT
    assert len(decision.open[0].conflicting) == 2


def test_without_a_declaration_two_values_may_stand_side_by_side() -> None:
    shelf = Shelf()
    shelf.put("register: DE", "Nordwind", "seat", Text("DE"))
    shelf.put("letter: AT", "Nordwind", "seat", Text("AT"))
    assert shelf.decide(SEAT, 'domestic("Nordwind")').verdict is Verdict.CERTIFIED


def test_the_stronger_kind_of_source_prevails() -> None:
    shelf = Shelf(functional=("seat",))
    shelf.put("register: DE", "Nordwind", "seat", Text("DE"), kind="register")
    shelf.put("letter: AT", "Nordwind", "seat", Text("AT"), kind="letter")
    order = 'precedence("register", "notice").\nprecedence("notice", "letter").\n'
    assert shelf.decide(order + SEAT, 'domestic("Nordwind")').verdict is Verdict.CERTIFIED
    other = order + 'foreign(S) :- seat(S, "AT").\n'
    assert shelf.decide(other, 'foreign("Nordwind")').code is AbstentionCode.CONFLICT


def test_values_that_hold_at_different_times_are_no_conflict() -> None:
    shelf = Shelf(functional=("seat",))
    past = Validity(datetime.date(2000, 1, 1), datetime.date(2020, 1, 1))
    shelf.put("old register: AT", "Nordwind", "seat", Text("AT"), validity=past)
    shelf.put("register: DE", "Nordwind", "seat", Text("DE"))
    assert shelf.decide(SEAT, 'domestic("Nordwind")').verdict is Verdict.CERTIFIED


def test_two_names_of_one_entity_are_one_value() -> None:
    shelf = Shelf(functional=("insurer",))
    shelf.put("policy: Hanse", "Nordwind", "insurer", Entity("Hanse"))
    shelf.put("list: Hanse AG", "Nordwind", "insurer", Entity("Hanse AG"))
    shelf.put("names: Hanse is Hanse AG", "Hanse", "same_as", Entity("Hanse AG"))
    rules = 'covered(S) :- insurer(S, "Hanse").\n'
    assert shelf.decide(rules, 'covered("Nordwind")').verdict is Verdict.CERTIFIED


def test_disjoint_classes_are_a_conflict() -> None:
    shelf = Shelf()
    shelf.put("sheet: acid", "X 5", "substance", TaxonClass("acid"))
    shelf.put("label: base", "X 5", "substance", TaxonClass("base"))
    rules = 'careful(X) :- substance(X, "acid").\n'
    assert shelf.decide(rules, 'careful("X 5")').code is AbstentionCode.CONFLICT


def test_a_stated_denial_contests_what_is_stated() -> None:
    shelf = Shelf()
    shelf.put("a: certified", "Nordwind", "certified", Text("ISO 9001"))
    shelf.put("b: not certified", "Nordwind", "certified", Text("ISO 9001"), denied=True)
    rules = "assured(S) :- certified(S, _).\n"
    decision = shelf.decide(rules, 'assured("Nordwind")')
    assert decision.code is AbstentionCode.CONFLICT
    (conflict,) = json.loads(decision.certificate)["witness"]["contested"]
    assert conflict["reason"] == "denied"
    assert [side["atom"][:1] for side in conflict["sides"]] == ["-", "c"]


def test_a_three_place_atom_is_contested_like_its_statement() -> None:
    shelf = Shelf(functional=("seat",))
    shelf.put("register: DE", "Nordwind", "seat", Text("DE"))
    shelf.put("letter: AT", "Nordwind", "seat", Text("AT"))
    rules = 'domestic(S) :- seat(S, "DE", St), stated_in(St, _).\n'
    assert shelf.decide(rules, 'domestic("Nordwind")').code is AbstentionCode.CONFLICT


# What is missing


def test_an_expired_statement_is_named() -> None:
    shelf = Shelf()
    past = Validity(datetime.date(2024, 1, 1), datetime.date(2025, 1, 1))
    shelf.put("cover: 5", "Nordwind", "cover", Text("full"), validity=past)
    decision = shelf.decide("insured(S) :- cover(S, _).\n", 'insured("Nordwind")')
    (found,) = decision.open
    assert found.atom == 'cover("Nordwind", _)'
    assert found.detail == (
        'cover("Nordwind", "full") is stated for 2024-01-01..2025-01-01, not for 2026-03-01'
    )


@pytest.mark.parametrize(
    ("about", "code"),
    [
        ("accepted", AbstentionCode.GAP_IN_EXTRACTION),
        ("rejected", AbstentionCode.UNVERIFIED_ENTITY),
        ("", AbstentionCode.GAP_IN_CORPUS),
    ],
)
def test_the_search_decides_the_code(about: str, code: AbstentionCode) -> None:
    shelf = Shelf(about=about)
    decision = shelf.decide(
        "insured(S) :- cover(S, C), good(C).\n",
        'insured("Nordwind")',
        known=[("cover", 2), ("good", 1)],
    )
    assert decision.code is code
    assert [item.atom for item in decision.open] == ['cover("Nordwind", C)', "good(C)"]
    assert shelf.asked[0] == ("Nordwind cover", "Nordwind")
    assert decision.open[0].entity_test == "names Nordwind"
    assert decision.open[0].rejected == (("Nordwand (A page)",) if about == "rejected" else ())


def test_a_statement_in_the_wrong_kind_of_document_is_asked_for_again() -> None:
    shelf = Shelf()
    shelf.put("letter: cover", "Nordwind", "cover", Text("full"), kind="Letter")
    rules = 'insured(S) :- cover(S, C, St), stated_by(St, "Certificate", _, _).\n'
    decision = shelf.decide(rules, 'insured("Nordwind")')
    (found,) = decision.open
    assert found.atom == 'cover("Nordwind", C, St)'
    assert found.detail == 'stated_by(.., "Certificate", _, _) is needed; it is stated in: Letter'


def test_the_closest_rule_comes_first() -> None:
    facts, sources = load("a(1). b(1).")
    rules = (
        "goal(X) :- c(X), d(X).\n"
        "goal(X) :- a(X), middle(X).\n"
        "middle(X) :- b(X), e(X).\n"
        "middle(X) :- f(X), g(X).\n"
    )
    decision = decide(
        Request(parse_atom("goal(1)"), None),
        policy=parse_policy(rules, name="rules"),
        facts=facts,
        sources=sources,
        engine="linear",
    )
    assert [item.atom for item in decision.open] == ["e(1)", "c(1)", "d(1)", "f(1)", "g(1)"]
    assert len({item.id for item in decision.open}) == 5


def test_ids_of_requirements_do_not_change() -> None:
    one = Shelf().decide("p(X) :- q(X).\n", "p(1)", known=[("q", 1)])
    two = Shelf(about="accepted").decide("p(X) :- q(X).\n", "p(1)", known=[("q", 1)])
    digest = hashlib.sha256(b"q(1)\np.1").hexdigest()
    assert one.open[0].id == two.open[0].id == f"or:{digest[:16]}"


# Goals, budgets, engines


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ("insurd(1)", "no rule, fact or dimension is named 'insurd'; did you mean insured"),
        ("insured(1, 2)", "insured takes 1 argument; the goal insured(1, 2) has 2"),
    ],
)
def test_a_goal_that_nobody_knows_is_rejected(goal: str, message: str) -> None:
    with pytest.raises(GoalRejected, match="^" + message.replace("(", r"\(").replace(")", r"\)")):
        Shelf().decide("insured(S) :- cover(S, _).\n", goal)


RECURSIVE = "reaches(X, Y) :- edge(X, Y).\nreaches(X, Z) :- reaches(X, Y), edge(Y, Z).\n"
CHAIN = " ".join(f"edge({n}, {n + 1})." for n in range(60))


def reach(goal: str, **options: Any) -> Decision:
    """Decide a goal over a chain."""
    facts, sources = load(CHAIN)
    return decide(
        Request(parse_atom(goal), None),
        policy=parse_policy(RECURSIVE, name="reach"),
        facts=facts,
        sources=sources,
        **options,
    )


def test_a_deadline_ends_the_proofs_of_many_answers_and_says_so() -> None:
    ticks = itertools.count()
    budget = Budget(deadline_ms=1000, clock=lambda: next(ticks) / 10)
    cut = reach("reaches(0, X)", engine="linear", budget=budget)
    whole = reach("reaches(0, X)", engine="linear")
    assert not cut.complete
    assert whole.complete
    assert 1 <= len(cut.answers) < len(whole.answers)
    assert set(cut.answers) < set(whole.answers)


def test_a_spent_budget_concludes_nothing() -> None:
    decision = reach("reaches(0, 60)", engine="linear", budget=Budget(max_instances=5))
    assert (decision.verdict, decision.code) == (Verdict.ABSTAINED, AbstentionCode.BUDGET)
    assert not decision.complete
    assert [item.atom for item in decision.open] == ["reaches(0, 60)"]


def test_more_answers_than_asked_for_are_cut_and_said_to_be() -> None:
    decision = reach("reaches(0, X)", engine="linear", budget=Budget(max_answers=3))
    assert len(decision.answers) == 3
    assert not decision.complete
    assert json.loads(decision.certificate)["complete"] is False
    whole = reach("reaches(0, X)", engine="linear")
    assert len(whole.answers) == 60
    assert whole.complete


def test_the_bytes_do_not_depend_on_the_engine() -> None:
    found = {reach("reaches(3, 9)", engine=e).certificate for e in ("linear", "clingo", "auto")}
    assert len(found) == 1


def test_an_unknown_engine_is_an_error() -> None:
    with pytest.raises(EngineUnknown):
        reach("reaches(3, 9)", engine="steam")


def test_a_question_stands_in_its_certificate() -> None:
    facts, sources = load("p(1).")
    request = Request(parse_atom("p(X)"), DAY, question="Which p?", understood_as="all X with p(X)")
    policy = parse_policy("q(X) :- p(X).", name="rules")
    decision = decide(request, policy=policy, facts=facts, sources=sources, engine="linear")
    certificate = json.loads(decision.certificate)
    assert certificate["question"] == "Which p?"
    assert certificate["understood_as"] == "all X with p(X)"
    assert certificate["valid_on"] == "2026-03-01"
    assert decision.answers == (Atom("p", (parse_atom("p(1)").arguments[0],)),)
