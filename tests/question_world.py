"""A tiny world of films and persons, and questions decided in it from end to end."""

from __future__ import annotations

import datetime
from functools import cache
from pathlib import Path

from extract.names import NameIndex
from extract.question_grammar import PlanRejected, QuestionGrammar
from extract.question_lexicon import load_lexicon
from reasoner.atom import render_term
from reasoner.decide import Decision, Request, decide
from reasoner.plan import Plan
from reasoner.plan_policy import compile_plan
from reasoner.sources import facts_file_sources

PACKS = Path(__file__).resolve().parents[1] / "packs"
DAY = datetime.date(2026, 3, 1)

FILMS = """
director("Night Ferry", "Ada Moreau").
director("Salt Road", "Bruno Keller").
director("Grey Harbour", "Ada Moreau").
director("The Twin", "Ada Moreau").
director("The Twin", "Carla Voss").
date_of_birth("Ada Moreau", @date("1901-05-03")).
date_of_birth("Bruno Keller", @date("1920")).
date_of_birth("Carla Voss", @date("1950-01-01")).
date_of_birth("Dora Lind", @date("1920-06-01")).
date_of_death("Ada Moreau", @date("1980-05-03")).
date_of_death("Dora Lind", @date("1950-06-01")).
place_of_birth("Ada Moreau", "Lyon").
place_of_birth("Bruno Keller", "Basel").
country_of_citizenship("Ada Moreau", "France").
country_of_citizenship("Bruno Keller", "Switzerland").
country_of_citizenship("Carla Voss", "France").
country_of_citizenship("Carla Voss", "Germany").
country("Lyon", "France").
country("Basel", "Switzerland").
father("Ada Moreau", "Emil Moreau").
father("Emil Moreau", "Felix Moreau").
mother("Emil Moreau", "Greta Sand").
publication_date("Night Ferry", @date("1931")).
publication_date("Grey Harbour", @date("1940-02-01")).
publication_date("Salt Road", @date("1955")).
-spouse("Ada Moreau", "Bruno Keller").
spouse("Felix Moreau", "Hanna Berg").
"""

NAMES = (
    "Night Ferry", "Salt Road", "Grey Harbour", "The Twin", "Ada Moreau", "Bruno Keller",
    "Carla Voss", "Dora Lind", "Emil Moreau", "Felix Moreau", "Greta Sand",
    "Hanna Berg", "Lyon", "Basel",
)  # fmt: skip


@cache
def grammar(*packs: str) -> QuestionGrammar:
    """Compile the grammar of some shipped packs."""
    return QuestionGrammar(load_lexicon([PACKS / "english", *(PACKS / pack for pack in packs)]))


def plan(question: str, *names: str, pack: str = "wiki") -> Plan:
    """Understand a question, or fail with what was not understood."""
    outcome = grammar(pack).plan(question, NameIndex(names or NAMES))
    assert isinstance(outcome, Plan), outcome
    return outcome


def rejected(question: str, *names: str, pack: str = "wiki") -> PlanRejected:
    """Expect that a question has no plan."""
    outcome = grammar(pack).plan(question, NameIndex(names or NAMES))
    assert isinstance(outcome, PlanRejected), outcome
    return outcome


def rules(question: str, *names: str, pack: str = "wiki") -> list[str]:
    """Give the rules a question compiles to."""
    policy, _, _ = compile_plan(plan(question, *names, pack=pack))
    return [clause.text for clause in policy.clauses]


def ask(question: str, facts: str = FILMS, *, pack: str = "wiki") -> Decision:
    """Decide a question from a facts file; its certificate has passed our checker."""
    understood = plan(question, pack=pack)
    policy, goal, extra = compile_plan(understood)
    base, sources = facts_file_sources(("world.lp", facts))
    return decide(
        Request(goal, DAY, question=question, understood_as=understood.understood_as),
        policy=policy,
        facts=base.with_facts(extra),
        sources=sources,
        known={(known.name, 2) for known in grammar(pack).lexicon.types.dimensions.values()},
    )


def answers(question: str, facts: str = FILMS, *, pack: str = "wiki") -> tuple[str, list[str]]:
    """Give the verdict of a question and its answers, texts bare and other values canonical."""
    decision = ask(question, facts, pack=pack)
    values = [atom.arguments[0] for atom in decision.answers]
    return decision.verdict.value, [
        value if isinstance(value, str) else render_term(value) for value in values
    ]
