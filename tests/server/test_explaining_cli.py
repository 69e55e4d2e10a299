"""What if, why and why not from the shell: output, exit codes, one object with --json."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Run, runner
from live_server import DOCUMENTS, POLICY

FACTS = """\
liability_cover(acme, @quantity("5000000 EUR")).
liability_cover(acme, @quantity("3000000 EUR")).
liability_cover(tiny, @quantity("5000 EUR")).
certified_under(acme, "ISO 9001").
-certified_under(tiny, "ISO 9001").
"""
ISO = 'certified_under(acme, "ISO 9001")'


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """The command line in this process."""
    return runner(monkeypatch, capfdbinary)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A directory with two versions of a policy, facts and documents."""
    (tmp_path / "p.lp").write_text(POLICY)
    newer = POLICY.replace("1000000 EUR", "9000000 EUR").replace("version: 1", "version: 2")
    (tmp_path / "q.lp").write_text(newer)
    (tmp_path / "f.lp").write_text(FACTS)
    (tmp_path / "documents").mkdir()
    for name, text in DOCUMENTS.items():
        (tmp_path / "documents" / name).write_text(text)
    return tmp_path


def offline(files: Path) -> tuple[object, ...]:
    """Give the options that prove from files."""
    return ("--policy", files / "p.lp", "--facts", files / "f.lp")


def test_a_fact_is_left_out(files: Path, run: Run) -> None:
    outcome = run("prove", *offline(files), "eligible(acme)", "--retract", ISO)
    assert outcome.code == 3
    assert f"Leaving out, on request:\n  - {ISO}" in outcome.out
    written = files / "c.json"
    run("prove", *offline(files), "eligible(acme)", "--retract", ISO, "-o", written)
    (files / "sources").mkdir()
    (files / "sources" / "f.lp").write_text(FACTS)
    assert run("verify", written, "--sources", files / "sources").code == 0


def test_a_denial_is_left_out_and_a_fact_assumed(files: Path, run: Run) -> None:
    outcome = run(
        *("prove", *offline(files), "eligible(tiny)"),
        *("--retract", '-certified_under(tiny, "ISO 9001")'),
        *("--assume", 'certified_under(tiny, "ISO 9001")'),
        *("--assume", 'liability_cover(tiny, @quantity("2000000 EUR"))'),
        "--json",
    )
    assert outcome.code == 0
    certificate = outcome.json["certificate"]
    assert len(certificate["assumptions"]) == 2
    (retraction,) = certificate["retractions"]
    assert retraction["atom"] == '-certified_under(tiny, "ISO 9001")'


def test_what_is_not_stated_is_usage_and_names_the_nearest(files: Path, run: Run) -> None:
    outcome = run("prove", *offline(files), "eligible(acme)", "--retract", ISO.replace("1", "2"))
    assert outcome.code == 2
    assert f"nearest: {ISO}" in outcome.err
    assert outcome.err.count("\n") == 1


def test_leaves_change_no_byte(files: Path, run: Run) -> None:
    plain, explained = files / "plain.json", files / "explained.json"
    run("prove", *offline(files), "eligible(acme)", "-o", plain)
    outcome = run(
        "prove", *offline(files), "eligible(acme)", "--leaves", "--why-not", "-o", explained
    )
    assert plain.read_bytes() == explained.read_bytes()
    assert f"from all else that is known: ABSTAINED (GAP_IN_CORPUS), open: {ISO}" in outcome.out
    found = run("prove", *offline(files), "eligible(acme)", "--leaves", "--json").json
    leaves = {leaf["atom"]: leaf for leaf in found["leaves"]}
    assert leaves[ISO]["in_certificate"]["verdict"] == "ABSTAINED"
    (cover,) = [leaf for atom, leaf in leaves.items() if "3000000" in atom]
    assert "5000000" in "".join(leaf["atom"] for leaf in cover["in_knowledge"]["support"])


def test_a_contrast_has_the_exit_code_of_the_other(files: Path, run: Run) -> None:
    outcome = run("contrast", *offline(files), "eligible(acme)", "eligible(tiny)")
    assert outcome.code == 4
    assert 'lacks  @quantity("5000 EUR") >= @quantity("1000000 EUR")' in outcome.out
    found = run("contrast", *offline(files), "eligible(acme)", "eligible(nobody)", "--json")
    assert found.code == 3
    assert found.json["kind"] == "differs"
    assert [item["depth"] for item in found.json["differences"]] == [1, 1, 2]
    assert found.json["repairs_optimality"] == "best found"
    both = run("contrast", *offline(files), "eligible(acme)", "insured(acme)")
    assert (both.code, "both are certified" in both.out) == (0, True)


def test_two_policies_are_compared(files: Path, run: Run) -> None:
    facts = ("--facts", files / "f.lp")
    versions = ("--policy", files / "p.lp", "--policy", files / "q.lp")
    outcome = run("diff", "eligible(acme)", *facts, *versions)
    assert outcome.code == 0
    assert "flipped first, in the proof of the first: required_cover" in outcome.out
    found = run("diff", "eligible(acme)", *facts, *versions, "--json").json
    assert [flip["cause"] for flip in found["flips"]] == ["rule"]
    assert [step["conclusion"] for step in found["flips"][0]["chain"]][-1] == "eligible(acme)"
    same = run("diff", "eligible(acme)", *facts, "--policy", files / "p.lp", *versions[:2])
    assert "unchanged: the same certificate" in same.out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "nothing is given twice"),
        (("--valid-on", "2026-01-01"), "nothing is given twice"),
        (("--at", "1", "--at", "2"), "without a knowledge base"),
        (("--valid-on", "2026-01-01") * 3, "more than twice"),
        (("--decision", "1"), "given twice and alone"),
        (("--decision", "1", "--decision", "2"), "given twice and alone"),
    ],
)
def test_sides_that_are_none_are_usage(
    files: Path, run: Run, options: tuple[str, ...], words: str
) -> None:
    outcome = run("diff", "eligible(acme)", *offline(files), *options)
    assert outcome.code == 2
    assert words in outcome.err


def test_a_goal_that_reads_as_an_option_is_hinted_at(files: Path, run: Run) -> None:
    outcome = run("prove", *offline(files), "-eligible(tiny)")
    assert outcome.code == 2
    assert "-- '-eligible(tiny)'" in outcome.err
    assert run("prove", *offline(files), "--", "-eligible(tiny)").code == 0


def test_recorded_decisions_their_steps_and_what_they_rest_on(files: Path, run: Run) -> None:
    kb = files / "kb"
    at = ("--kb", kb)
    assert run("init", kb, "--pack", "supplier").code == 0
    assert run("ingest", *at, files / "documents").code == 0
    assert run("policy", "publish", files / "p.lp", *at).code == 0
    under = (*at, "--policy", "onboarding", "--valid-on", "2026-03-01")
    goal = 'eligible("Acme GmbH")'
    proved = run("prove", *under, goal, "--json").json
    run("prove", *under, goal, "--retract", 'certified_under("Acme GmbH", "ISO 9001")')
    digest = proved["certificate_sha256"]

    listed = run("certificate", "list", *at).out
    assert 'what if: without certified_under("Acme GmbH", "ISO 9001")' in listed
    assert "what if" not in run("review", *at).out

    page = run("certificate", "get", digest[:8], *at, "--depth", "1", "--page-size", "2", "--json")
    assert [step["depth"] for step in page.json["steps"]] == [0, 1]
    token = page.json["next_page_token"]
    rest = run(
        *("certificate", "get", digest[:8], *at, "--depth", "1"),
        *("--page-size", "2", "--page-token", token, "--json"),
    )
    assert [step["depth"] for step in rest.json["steps"]] == [1]
    assert rest.json["next_page_token"] is None
    wrong = run("certificate", "get", digest[:8], *at, "--step", "s99")
    assert (wrong.code, "its steps are s1 to" in wrong.err) == (2, True)

    found = run("dependents", "certificates.md", *at, "--recheck", "--json").json
    assert [one["outcome"] for one in found["dependents"]] == ["falls"]
    shown = run("dependents", "certificates.md", *at, "--recheck").out
    assert 'open: certified_under("Acme GmbH", "ISO 9001")' in shown
    assert "1 decision on source" in shown
    assert "nothing was changed" in shown

    assert run("dependents", "st:nope", *at).code == 2
    missing = run("dependents", "Zzyzx", *at)
    assert (missing.code, "goes by its whole digest" in missing.err) == (2, True)
    contrast = run("contrast", *under, goal, 'eligible("Nobody Ltd")').out
    assert "stated in" in contrast
    assert ", line" in contrast
    assert ", characters " not in contrast

    numbers = ["1", "2"]
    flip = run("diff", *at, "--decision", numbers[0], "--decision", numbers[1], "--json").json
    assert flip["flips"][0]["cause"] == "request"
