"""Conflicts and precedence of sources, from documents and files through the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import runner

REGISTER = """\
# Register extract

Document: Register extract
Issued by: Baltic Register Service
Date: 20 January 2026

## Amber Line OÜ

Registered country: Estonia
"""
LETTER = """\
# Letter on the change of address

Document: Letter
Issued by: Amber Line OÜ
Date: 2 February 2026

Amber Line OÜ is registered in {country}. Please send all invoices to our office.
"""
SEATED = """\
%! policy: seats
%! version: 1

%! rule: seated
seated(S) :- registered_country(S, C), under(C, "European Union").
"""
STRONGER = 'precedence("Register extract", "Notice").\nprecedence("Notice", "Letter").\n'
WEAKER = 'precedence("Letter", "Register extract").\n'

Run = Callable[..., tuple[int, Any]]


@pytest.fixture
def prove(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """The command line in this process: exit code and output."""
    run = runner(monkeypatch, capfdbinary)
    return lambda *arguments: run(*arguments)[:2]


@pytest.fixture(params=["Latvia", "Estonia"], ids=["contradicting", "agreeing"])
def world(request: pytest.FixtureRequest, tmp_path: Path, prove: Run) -> tuple[str, Path]:
    """A knowledge base of a register extract and a letter that contradicts it, or agrees."""
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "register.md").write_text(REGISTER)
    (documents / "letter.md").write_text(LETTER.format(country=request.param))
    assert prove("init", tmp_path / "kb", "--pack", "supplier")[0] == 0
    assert prove("ingest", "--kb", tmp_path / "kb", documents)[0] == 0
    return request.param, tmp_path


def test_the_stronger_source_counts_and_refutes_what_the_weaker_says(
    world: tuple[str, Path], prove: Run
) -> None:
    letter, folder = world
    found = {}
    for name, order in (("none", ""), ("register", STRONGER), ("letter", WEAKER)):
        policy = folder / f"{name}.lp"
        policy.write_text(SEATED + order)
        options = ("prove", "--kb", folder / "kb", "--policy", policy, "--valid-on", "2026-03-01")
        for goal in ("Estonia", "Latvia"):
            code, out = prove(*options, f'registered_country("Amber Line OÜ", "{goal}")')
            found[name, goal] = (code, "CONFLICT" in out)
        code, out = prove(*options, 'seated("Amber Line OÜ")')
        found[name, "seated"] = (code, "CONFLICT" in out)
    if letter == "Estonia":
        assert {goal: found["none", goal][0] for goal in ("Estonia", "Latvia", "seated")} == {
            "Estonia": 0,
            "Latvia": 4,
            "seated": 0,
        }
        assert all(found[name, goal] == found["none", goal] for name, goal in found)
        return
    assert found == {
        ("none", "Estonia"): (3, True),
        ("none", "Latvia"): (3, True),
        ("none", "seated"): (3, True),
        ("register", "Estonia"): (0, False),
        ("register", "Latvia"): (4, False),
        ("register", "seated"): (0, False),
        ("letter", "Estonia"): (4, False),
        ("letter", "Latvia"): (0, False),
        ("letter", "seated"): (0, False),
    }


INSIDE = """\
%! rule: permitted
permitted(S) :- licence(S).
%! rule: forbidden
-permitted(S) :- revoked(S).
%! rule: ships
ships(S) :- permitted(S), fleet(S).
"""
BESIDE = INSIDE + "%! rule: exempt\nships(S) :- exempt(S).\n"


@pytest.mark.parametrize(
    ("rules", "facts", "code", "said"),
    [
        (INSIDE, "licence(a). fleet(a). revoked(a).", 3, "Cannot both hold (denied)"),
        (INSIDE, "licence(a). fleet(a).", 0, "CERTIFIED"),
        (BESIDE, "licence(a). fleet(a). revoked(a). exempt(a).", 0, "by rule exempt"),
        (BESIDE, "licence(a). fleet(a). revoked(a).", 3, "Cannot both hold (denied)"),
        (BESIDE, "exempt(a). revoked(a).", 0, "by rule exempt"),
    ],
    ids=["inside the only support", "its twin", "another support", "its twin", "not met"],
)
def test_a_contested_derived_atom_costs_only_the_supports_it_is_in(
    tmp_path: Path, prove: Run, rules: str, facts: str, code: int, said: str
) -> None:
    (tmp_path / "p.lp").write_text(rules)
    (tmp_path / "f.lp").write_text(facts)
    found, out = prove(
        "prove", "--policy", tmp_path / "p.lp", "--facts", tmp_path / "f.lp", "ships(a)"
    )
    assert found == code
    assert said in out


BANK = "company,iban,account_verified_on\nNorth GmbH,DE02120300000000202051,{cell}\n"
PAYABLE = "%! rule: payable\npayable(S) :- iban(S, _), account_verified_on(S, _).\n"


@pytest.mark.parametrize(("cell", "code"), [("soon", 3), ("", 3), ("2026-01-22", 0)])
def test_a_refused_cell_is_named_at_what_it_would_close(
    tmp_path: Path, prove: Run, cell: str, code: int
) -> None:
    (tmp_path / "bank.csv").write_text(BANK.format(cell=cell))
    (tmp_path / "p.lp").write_text(PAYABLE)
    kb = tmp_path / "kb"
    assert prove("init", kb, "--pack", "supplier")[0] == 0
    prove("ingest", "--kb", kb, tmp_path / "bank.csv")
    found, out = prove("prove", "--kb", kb, "--policy", tmp_path / "p.lp", 'payable("North GmbH")')
    assert found == code
    refusal = "a candidate was refused here: 'soon' is no date of account_verified_on"
    assert (refusal in out) == (cell == "soon")
    assert ("(bank, line 2)" in out) == (cell == "soon")


def test_a_question_about_one_value_is_answered_with_no(tmp_path: Path, prove: Run) -> None:
    (tmp_path / "register.md").write_text(REGISTER)
    kb = tmp_path / "kb"
    assert prove("init", kb)[0] == 0
    assert prove("ingest", "--kb", kb, tmp_path / "register.md")[0] == 0
    code, out = prove("ask", "--kb", kb, "Is Amber Line OÜ registered in Spain?")
    assert code == 4
    assert "nothing lies under both Estonia and Spain" in out
    assert 'functional("registered_country")' in out
    assert prove("ask", "--kb", kb, "Is Amber Line OÜ registered in Estonia?")[0] == 0
