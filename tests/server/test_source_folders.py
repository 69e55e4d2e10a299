"""A folder of sources: the checker alone and `proofweave verify` accept and say the same."""

from __future__ import annotations

import gzip
import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import Run, runner

from kb.document import decode
from reasoner.certificate import canonical_bytes

VERIFY = Path(__file__).parents[2] / "reasoner" / "verify.py"
SENTENCE = "Acme GmbH is certified under ISO 9001."
GOAL = 'fit("Acme GmbH")'
POLICY = '%! policy: fitness\n\nfit(S) :- certified_under(S, "ISO 9001").\n'
ORIGINALS = {
    "plain.txt": f"\ufeffCertificates\r\n\r\n{SENTENCE}\r\n".encode(),
    "packed.txt.gz": gzip.compress(f"Certificates\n\n{SENTENCE}\n".encode(), mtime=0),
    "notes.md": f"# Certificates\n\n<!-- a draft -->\n{SENTENCE}\n".encode(),
    "table.csv": b"supplier,certified_under\nAcme GmbH,ISO 9001\n",
    "passages.json": json.dumps(
        [{"title": "Certificates", "text": f"As follows.\n\n{SENTENCE}\n"}]
    ).encode(),
    "page.html": f"<html><body><h1>Certificates</h1><p>{SENTENCE}</p></body></html>".encode(),
}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """The command line in this process."""
    return runner(monkeypatch, capfdbinary)


def alone(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run the checker as a reviewer does, without the rest of the program."""
    command = [sys.executable, "-I", str(VERIFY), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def same_report(run: Run, certificate: Path, folder: Path) -> tuple[str | None, str]:
    """Examine a certificate in both ways; gives the one rejection, and all that was said."""
    question = (certificate, "--sources", folder)
    done, outcome = alone(*question, "--json"), run("verify", *question, "--json")
    code, ours, theirs = done.returncode, json.loads(done.stdout), outcome.json
    assert outcome.code == (0 if code == 0 else 5)
    assert theirs.pop("accepted") == ours["valid"] == (code == 0)
    for name, value in theirs.items():
        assert (ours[name] or None) == (value or None), name
    text = alone(*question).stdout
    assert run("verify", *question).out == text
    return ours["rejection"], text


def certified(run: Run, directory: Path, name: str) -> tuple[Path, Any]:
    """Prove the goal from one document; gives the certificate file and its content."""
    (directory / "documents").mkdir()
    (directory / "documents" / name).write_bytes(ORIGINALS[name])
    (directory / "p.lp").write_text(POLICY)
    kb, proof = directory / "kb", directory / "proof.json"
    assert run("init", kb, "--pack", "supplier").code == 0
    assert run("ingest", "--kb", kb, directory / "documents" / name).code == 0
    question = ("prove", "--kb", kb, "--policy", directory / "p.lp", "--valid-on", "2026-03-01")
    outcome = run(*question, GOAL, "-o", proof)
    assert outcome.code == 0, outcome.out + outcome.err
    return proof, json.loads(proof.read_bytes())


@pytest.mark.parametrize("name", sorted(ORIGINALS))
def test_both_ways_to_verify_read_a_folder_alike(name: str, tmp_path: Path, run: Run) -> None:
    proof, certificate = certified(run, tmp_path, name)
    (record,) = certificate["sources"].values()
    data, is_native = ORIGINALS[name], name != "page.html"
    folder = tmp_path / "sources"
    (folder / "below").mkdir(parents=True)
    assert same_report(run, proof, folder)[0] == "SOURCE_MISSING"

    original = folder / "below" / f"renamed-{name}"
    original.write_bytes(data)
    rejection, said = same_report(run, proof, folder)
    assert rejection == (None if is_native else "SOURCE_MISSING")
    if is_native:
        assert "originals were not decoded" not in said
    else:
        assert f"renamed-{name} is there, but {record['decoder']} is not decoded" in said

    original.write_bytes(data.replace(b"9001", b"9002") if b"9001" in data else data[:-9])
    assert same_report(run, proof, folder)[0] == "SOURCE_MISSING"

    text = decode(data, name=name).text
    (folder / "decoded").write_bytes(text.encode())
    rejection, said = same_report(run, proof, folder)
    assert rejection is None
    assert ("their originals were not decoded here" in said) == (text.encode() != data)


def test_an_original_that_decodes_to_another_text_is_noticed_alike(
    tmp_path: Path, run: Run
) -> None:
    proof, _ = certified(run, tmp_path, "plain.txt")
    certificate = proof.read_text()
    changed = ORIGINALS["plain.txt"].replace(b"9001", b"9002")
    for digest in json.loads(certificate)["sources"]:
        certificate = certificate.replace(digest, hashlib.sha256(changed).hexdigest())
    proof.write_bytes(canonical_bytes(json.loads(certificate)))
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "plain.txt").write_bytes(changed)
    assert same_report(run, proof, tmp_path / "sources")[0] == "SOURCE_MISMATCH"


def test_the_text_of_a_file_that_needs_a_library_is_given_beside_it(
    tmp_path: Path, run: Run
) -> None:
    """Nobody here decodes PDF: the text must be there, and its decoding is trusted."""
    proof, original = certified(run, tmp_path, "plain.txt")
    certificate = proof.read_text().replace('"decoder":"text/1"', '"decoder":"pdf/1"')
    pdf = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"
    for digest in original["sources"]:
        certificate = certificate.replace(digest, hashlib.sha256(pdf).hexdigest())
    proof.write_bytes(canonical_bytes(json.loads(certificate)))
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "report.pdf").write_bytes(pdf)
    rejection, said = same_report(run, proof, folder)
    assert rejection == "SOURCE_MISSING"
    assert "report.pdf is there, but pdf/1 is not decoded here" in said
    text = decode(ORIGINALS["plain.txt"], name="plain.txt").text
    (folder / "report.pdf.txt").write_bytes(text.encode())
    rejection, said = same_report(run, proof, folder)
    assert rejection is None
    assert "the decoding of 1 sources by pdf/1: their originals were not decoded here" in said


def test_no_folder_is_refused_in_both_ways(tmp_path: Path, run: Run) -> None:
    proof, _ = certified(run, tmp_path, "plain.txt")
    assert alone(proof, "--sources", proof).returncode == 2
    assert run("verify", proof, "--sources", proof).code == 2
    both = run("verify", proof, "--sources", tmp_path, "--kb", tmp_path / "kb")
    assert both.code == 2
    assert "expected one of them" in both.err


def test_an_export_shows_what_the_checker_read(tmp_path: Path, run: Run) -> None:
    proof, _ = certified(run, tmp_path, "passages.json")
    page = tmp_path / "proof.html"
    documents = tmp_path / "documents"
    assert run("export", proof, "--sources", documents, "-o", page).code == 0
    assert f"<mark>{SENTENCE}</mark>" in page.read_text()
    (documents / "passages.json").write_bytes(ORIGINALS["page.html"])
    outcome = run("export", proof, "--sources", documents, "-o", page)
    assert outcome.code == 2
    assert "SOURCE_MISSING" in outcome.err
