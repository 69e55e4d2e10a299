"""The manual of the policy language: its examples do what it says."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import pytest

from reasoner.arithmetic import FUNCTIONS
from reasoner.clause import Policy
from reasoner.decide import Decision, Request, decide
from reasoner.lint import check_policy
from reasoner.metadata import HEADER_KEYS, RULE_KEYS
from reasoner.policy import parse_atom, parse_policy
from reasoner.policy_tests import run_tests
from reasoner.prelude import built_in
from reasoner.sources import facts_file_sources
from reasoner.syntax import DECLARATIONS
from reasoner.verdict import AbstentionCode, Verdict

MANUAL = (Path(__file__).parents[2] / "docs" / "policy-language.md").read_text(encoding="utf-8")


def _block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", MANUAL, re.DOTALL)
    assert found is not None
    return found[1]


def _policy() -> Policy:
    return parse_policy(_block("prolog"), name="manual")


def _decide(goal: str) -> Decision:
    facts, sources = facts_file_sources(("facts.lp", _block("facts")))
    request = Request(goal=parse_atom(goal), valid_on=datetime.date(2026, 6, 1))
    return decide(request, policy=_policy(), facts=facts, sources=sources)


def test_the_example_is_clean() -> None:
    facts, _ = facts_file_sources(("facts.lp", _block("facts")))
    known = facts.signatures() | {("controlled_by", 2)}
    assert check_policy(_policy(), known=known) == ()


def test_the_example_decides_as_described() -> None:
    assert _decide('approved("Acme GmbH")').verdict is Verdict.CERTIFIED
    bolt = _decide('approved("Bolt AG")')
    assert (bolt.verdict, bolt.code) == (Verdict.ABSTAINED, AbstentionCode.UNDETERMINED)
    assert _decide('approved("Crook Ltd")').verdict is Verdict.REFUTED
    dice = _decide('approved("Dice SE")')
    assert dice.verdict is Verdict.ABSTAINED
    assert {'supplier("Dice SE")', 'liability_cover("Dice SE", C)'} <= {
        requirement.atom for requirement in dice.open
    }


def test_the_tests_of_the_example_pass() -> None:
    results = run_tests(_policy(), _block("yaml"), name="manual.test.yaml")
    assert [result.detail for result in results] == ["", ""]


@pytest.mark.parametrize(
    "name",
    [
        *FUNCTIONS,
        *DECLARATIONS,
        *HEADER_KEYS,
        *RULE_KEYS,
        *(name for name, _ in sorted(built_in()) if name not in ("alias", "same_name")),
    ],
)
def test_everything_there_is_stands_in_the_manual(name: str) -> None:
    assert re.search(rf"`[^`]*\b{name}\b[^`]*`", MANUAL) or f"%! {name}:" in MANUAL


def test_every_code_of_a_finding_stands_in_the_manual() -> None:
    folder = Path(__file__).parents[2] / "reasoner"
    names = (
        "lint",
        "clause_lint",
        "syntax",
        "facts_file",
        "source_text",
        "policy_text",
        "metadata",
        "evaluate",
    )
    codes: set[str] = set()
    for name in names:
        text = (folder / f"{name}.py").read_text(encoding="utf-8")
        codes |= set(
            re.findall(
                r'(?:report|warn_at|at_clause|Fault|finding|Finding)\([^"]*?"([a-z_]+)",', text
            )
        )
    assert len(codes) > 15
    assert {code for code in codes if f"`{code}`" not in MANUAL} == set()
