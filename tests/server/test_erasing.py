"""`proofweave retract ... --erase`: evidence goes from the log for good, and nothing else does."""

from __future__ import annotations

import sqlite3
import zlib
from pathlib import Path

import pytest
from command_line import Run, runner

LETTER = (
    "# Letter\n\nAcme GmbH is certified under ISO 9001. Acme GmbH is insured by Hanse AG.\n\n"
    "Tiny Ltd is certified under ISO 27001.\n"
)
SECOND = "# Second\n\nAcme GmbH is certified under ISO 9001.\n"
RULES = "%! policy: names\n%! version: 1\n\n%! rule: ok\nok(S, C) :- certified_under(S, C).\n"


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """The command line in this process."""
    return runner(monkeypatch, capfdbinary)


@pytest.fixture
def kb(call: Run, tmp_path: Path) -> Path:
    """A knowledge base with two letters that share a statement, and a policy."""
    for name, text in (("letter.md", LETTER), ("second.md", SECOND), ("names.lp", RULES)):
        (tmp_path / name).write_text(text)
    directory = tmp_path / "kb"
    for arguments in (
        ("init", directory, "--namespace", "https://example.org/kb/", "--pack", "supplier"),
        ("ingest", "--kb", directory, tmp_path / "letter.md", tmp_path / "second.md"),
        ("policy", "publish", "--kb", directory, tmp_path / "names.lp"),
    ):
        assert call(*arguments).code == 0
    return directory


def stated(call: Run, kb: Path, *options: object) -> dict[str, int]:
    """Give (subject, value) with the number of quotes, of certificates and insurers."""
    found: dict[str, int] = {}
    for dimension in ("certified_under", "insured_by"):
        asked = call("statement", "list", "--dimension", dimension, "--kb", kb, "--json", *options)
        for each in asked.json["statements"]:
            found[f"{each['subject']}: {each['value']['value']}"] = len(each["evidence"])
    return found


def id_of(call: Run, kb: Path, subject: str, dimension: str) -> str:
    """Give the id of a statement."""
    asked = ("--subject", subject, "--dimension", dimension, "--kb", kb, "--json")
    return str(call("statement", "list", *asked).json["statements"][0]["id"])


ALL = {"Acme GmbH: ISO 9001": 2, "Acme GmbH: Hanse AG": 1, "Tiny Ltd: ISO 27001": 1}


def test_an_erased_statement_is_in_no_revision_and_the_rest_in_every(call: Run, kb: Path) -> None:
    before = call("log", "verify", "--kb", kb, "--json").json["revision"]
    assert stated(call, kb) == ALL
    file = kb.parent / "proof.json"
    goal = 'ok("Tiny Ltd", "ISO 27001")'
    proof = call("prove", "--policy", "names", goal, "--kb", kb, "-o", file, "--json").json
    assert call("verify", file, "--kb", kb).code == 0
    found = id_of(call, kb, "Tiny Ltd", "certified_under")
    dry = call("retract", "statement", found, "--erase", "--dry-run", "--kb", kb, "--json").json
    assert stated(call, kb) == ALL
    done = call("retract", "statement", found, "--erase", "--kb", kb, "--json")
    assert (done.code, done.json["fallen_count"]) == (0, dry["fallen_count"]) == (0, 1)
    assert done.json["certificates"] == [proof["certificate_sha256"]]
    left = {name: count for name, count in ALL.items() if "Tiny" not in name}
    for options in ((), ("--at", before)):
        assert stated(call, kb, *options) == left
        asked = (
            "sparql",
            "ASK { ?s ?p ?o FILTER(CONTAINS(STR(?o), '27001') && ?p = d:certified_under) }",
        )
        assert call(*asked, "--kb", kb, "--json", *options).json["boolean"] is False
        met = call("lattice", "meet", "certified_under=ISO 27001", "--kb", kb, *options)
        assert met.code == 3
    assert call("log", "verify", "--kb", kb).code == 0
    checked = call("verify", file, "--kb", kb, "--json")
    assert (checked.code, checked.json["rejection"]) == (5, "ERASED")
    assert call("ingest", "--kb", kb, kb.parent / "letter.md").code == 0
    assert stated(call, kb) == left
    again = call("retract", "statement", found, "--erase", "--kb", kb)
    assert again.code == 2
    assert "no evidence is known" in again.err


def test_a_span_takes_its_evidence_and_leaves_other_support(call: Run, kb: Path) -> None:
    at = LETTER.index("Acme")
    span = ("letter.md", at, at + 4)
    assert call("retract", "span", *span, "--kb", kb).code == 0
    assert stated(call, kb) == ALL | {"Acme GmbH: ISO 9001": 1}
    withdrawn = call("log", "verify", "--kb", kb, "--json").json["revision"]
    done = call("retract", "span", *span, "--erase", "--kb", kb, "--json")
    assert (done.code, done.json["fallen_count"]) == (0, 0)
    for options in ((), ("--at", withdrawn), ("--at", int(withdrawn) - 2)):
        assert stated(call, kb, *options)["Acme GmbH: ISO 9001"] == 1
    assert call("log", "verify", "--kb", kb).code == 0


def test_what_is_erased_one_after_the_other_leaves_no_word_in_the_log(call: Run, kb: Path) -> None:
    found = id_of(call, kb, "Acme GmbH", "insured_by")
    start = call("log", "verify", "--kb", kb, "--json").json["revision"]
    assert call("retract", "statement", found, "--kb", kb).code == 0
    for subject, dimension in (("Tiny Ltd", "certified_under"), ("Acme GmbH", "certified_under")):
        one = id_of(call, kb, subject, dimension)
        assert call("retract", "statement", one, "--erase", "--kb", kb).code == 0
    assert stated(call, kb) == {}
    assert stated(call, kb, "--at", start) == {"Acme GmbH: Hanse AG": 1}
    assert call("retract", "statement", found, "--erase", "--kb", kb).code == 0
    assert stated(call, kb, "--at", start) == {}
    assert call("log", "verify", "--kb", kb).code == 0
    with sqlite3.connect(kb / "knowledge.sqlite") as connection:
        payloads = [row[0] for row in connection.execute("SELECT payload FROM event")]
    said = b"".join(zlib.decompress(payload) for payload in payloads if payload)
    assert b"Hanse AG" not in said
    assert b"Tiny Ltd" not in said
    assert call("erase", "letter.md", "--kb", kb).code == 0
    assert call("log", "verify", "--kb", kb).code == 0
    assert call("ingest", "--kb", kb, kb.parent / "letter.md").code == 0
    assert "Tiny Ltd: ISO 27001" in stated(call, kb)


def test_the_work_of_an_extractor_is_erased_and_a_document_after_it(call: Run, kb: Path) -> None:
    first = call("log", "verify", "--kb", kb, "--json").json["revision"]
    span = ("letter.md", LETTER.index("Tiny"), LETTER.index("Tiny") + 1)
    assert call("retract", "span", *span, "--erase", "--kb", kb).code == 0
    assert call("erase", "second.md", "--kb", kb).code == 0
    assert stated(call, kb) == {"Acme GmbH: ISO 9001": 1, "Acme GmbH: Hanse AG": 1}
    done = call(*("retract", "run", "patterns/1", "--document", "letter.md", "--erase", "--kb", kb))
    assert done.code == 0
    assert stated(call, kb) == {} == stated(call, kb, "--at", first)
    assert call("log", "verify", "--kb", kb).code == 0
    assert call("erase", "letter.md", "--kb", kb).code == 0
    assert call("log", "verify", "--kb", kb).code == 0
