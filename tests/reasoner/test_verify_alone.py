"""The checker runs alone: standard library only, in isolated mode, from files on disk."""

from __future__ import annotations

import ast
import gzip
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from golden import Case, decide_case, golden_cases

from bench.long_proofs import KINDS
from reasoner import verify
from reasoner.certificate import canonical_bytes
from reasoner.checker.policy import identity_rule
from reasoner.checker.rules import PRELUDE_HEADS, PRELUDE_SHA256
from reasoner.checker.sources import decoded
from reasoner.prelude import identity_clause, prelude
from reasoner.render import render_text
from reasoner.verify import REJECTIONS, verify_bytes

SCRIPT = Path(verify.__file__)
CASES = {case.name: case for case in golden_cases()}
CASE = CASES["supplier/onboarded"]


def run(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the checker as reviewers do."""
    command = [sys.executable, "-I", str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Lay out a certificate and its source under another name."""
    (tmp_path / "sources" / "deep").mkdir(parents=True)
    (tmp_path / "certificate.json").write_bytes(decide_case(CASE).certificate)
    (tmp_path / "sources" / "deep" / "renamed.txt").write_text(CASE.facts, encoding="utf-8")
    return tmp_path


FILES = [SCRIPT, *sorted((SCRIPT.parent / "checker").glob("*.py"))]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_it_imports_the_standard_library_and_itself_only(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [str(node.module)]
        elif isinstance(node, ast.ImportFrom):
            package, _, module = str(node.module).rpartition(".")
            assert (node.level, package) == (1, "checker" if file == SCRIPT else "")
            assert (SCRIPT.parent / "checker" / f"{module}.py").is_file()
        assert {name.partition(".")[0] for name in names} <= sys.stdlib_module_names


def test_the_file_and_its_folder_run_wherever_they_are_copied(folder: Path) -> None:
    """Nothing else of the repository is needed, and nothing of the same name is taken for it."""
    copied = folder / "elsewhere"
    shutil.copytree(SCRIPT.parent / "checker", copied / "checker")
    shutil.copy(SCRIPT, copied / "verify.py")
    for name in ("json.py", "format.py", "argparse.py", "reasoner.py"):
        (copied / name).write_text("raise SystemExit('the wrong module')")
    command = [sys.executable, "-I", "elsewhere/verify.py", "certificate.json"]
    done = subprocess.run(
        [*command, "--sources", "sources"], capture_output=True, text=True, cwd=folder, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_good_certificate_exits_0(folder: Path) -> None:
    policy = hashlib.sha256(CASE.policy.encode()).hexdigest()
    goal = CASE.request["goal"]
    done = run(
        *("certificate.json", "--sources", "sources"),
        *("--expect-policy", policy, "--expect-goal", goal),
        cwd=folder,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"valid: CERTIFIED {goal} on 2026-03-01\nchecked:\n")
    assert "not given" not in done.stdout
    assert "originals were not decoded" not in done.stdout


def test_json_says_what_was_checked_trusted_and_not_given(folder: Path) -> None:
    done = run("certificate.json", "--json", cwd=folder)
    report = json.loads(done.stdout)
    assert done.returncode == 0
    assert report["valid"] is True
    assert report["verdict"] == "CERTIFIED"
    assert len(report["not_given"]) == 3
    assert report["checked"]
    assert report["trusted"]


def test_a_rejection_exits_with_the_code_of_its_class(folder: Path) -> None:
    path = folder / "certificate.json"
    path.write_bytes(path.read_bytes().replace(b"5000000", b"5000001", 1))
    done = run("certificate.json", "--sources", "sources", "--json", cwd=folder)
    report = json.loads(done.stdout)
    assert done.returncode == report["exit_code"] == REJECTIONS[report["rejection"]] >= 10


def test_files_and_folders_that_are_not_there(folder: Path) -> None:
    assert run("nothing.json", cwd=folder).returncode == 1
    assert run("certificate.json", "--sources", "nowhere", cwd=folder).returncode == 2
    assert run(cwd=folder).returncode == 2
    (folder / "empty").mkdir()
    done = run("certificate.json", "--sources", "empty", cwd=folder)
    assert done.returncode == REJECTIONS["SOURCE_MISSING"]


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: data.replace(b"\n", b"\r"),
    ],
)
def test_originals_are_decoded(folder: Path, change: Any) -> None:
    """Byte order mark and line ends of an original do not matter: it is another original."""
    data = change(CASE.facts.encode())
    old = hashlib.sha256(CASE.facts.encode()).hexdigest()
    new = hashlib.sha256(data).hexdigest()
    for file in (folder / "sources").rglob("*.txt"):
        file.write_bytes(data)
    path = folder / "certificate.json"
    certificate = path.read_text(encoding="utf-8")
    record = json.loads(certificate)["sources"][old]
    assert record["text_sha256"] == old
    certificate = certificate.replace(f'"source_sha256":"{old}"', f'"source_sha256":"{new}"')
    certificate = certificate.replace(f'"{old}":{{"decoder"', f'"{new}":{{"decoder"')
    path.write_bytes(canonical_bytes(json.loads(certificate)))
    done = run("certificate.json", "--sources", "sources", cwd=folder)
    assert done.returncode == 0, done.stdout


def test_decoded_text_is_found_by_its_digest(folder: Path) -> None:
    certificate = json.loads((folder / "certificate.json").read_bytes())
    (digest,) = certificate["sources"]
    text = json.dumps(certificate).replace(digest, "0" * 64)
    text = text.replace('"text_sha256": "' + "0" * 64, f'"text_sha256": "{digest}')
    (folder / "certificate.json").write_bytes(canonical_bytes(json.loads(text)))
    done = run("certificate.json", "--sources", "sources", cwd=folder)
    assert done.returncode == 0, done.stdout
    assert "the decoding of 1 sources by facts/1: their originals were not" in done.stdout


def test_an_original_that_decodes_to_another_text_is_rejected(folder: Path) -> None:
    certificate = json.loads((folder / "certificate.json").read_bytes())
    (digest,) = certificate["sources"]
    text = json.dumps(certificate).replace(
        f'"text_sha256": "{digest}', '"text_sha256": "' + "1" * 64
    )
    (folder / "certificate.json").write_bytes(
        canonical_bytes(json.loads(text.replace("1" * 128, "1" * 64)))
    )
    done = run("certificate.json", "--sources", "sources", cwd=folder)
    assert done.returncode == REJECTIONS["SOURCE_MISMATCH"], done.stdout


def test_decoding_by_the_standard_library() -> None:
    passages = json.dumps([{"title": "A", "text": "b\r\nc"}, {"title": "D", "text": "e"}])
    assert decoded(passages.encode(), "passages-json/1") == "A\nb\nc\n\nD\ne\n\n"
    assert decoded(gzip.compress(b"packed"), "text/1") == "packed"
    assert decoded(b"a <!-- hidden --> b", "markdown/1") == "a \n\n b"
    assert decoded(b"a <!-- hidden --> b", "text/1") == "a <!-- hidden --> b"
    assert decoded(b"\xff\xfe", "text/1") is None
    assert decoded(b"\x1f\x8bbroken", "text/1") is None
    assert decoded(b"anything", "pdf/1") is None


def test_it_knows_the_prelude_and_the_rules_about_names() -> None:
    assert prelude().digest == PRELUDE_SHA256
    heads = {f"{name}/{arity}" for name, arity in (c.head.signature for c in prelude().clauses)}
    assert heads == PRELUDE_HEADS
    for signature in (("cover", 2), ("-cover", 3), ("name", 1)):
        ours = identity_clause(signature)
        theirs = identity_rule(f"{signature[0]}/{signature[1]}")
        assert (theirs.id, theirs.text) == (ours.id, ours.text)
        assert (theirs.cite, theirs.says) == (ours.cite, ours.says)


@pytest.mark.parametrize(("kind", "count"), [("chain", 50_000), ("bushy", 5_000)])
def test_long_proofs_are_examined_and_printed_without_recursion(kind: str, count: int) -> None:
    data, facts = KINDS[kind](count)
    texts = {hashlib.sha256(facts.encode()).hexdigest(): facts}
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(220)
    try:
        report = verify_bytes(data, texts)
        printed = render_text(json.loads(data), texts)
    finally:
        sys.setrecursionlimit(limit)
    assert report.valid, report.message
    assert f"{count} steps follow, each from earlier ones" in report.checked
    assert "each answer needs every leaf of its proof" in report.checked
    assert printed.count("\n") > count


def test_minimality_left_out_is_said_to_be(folder: Path) -> None:
    done = run("certificate.json", "--sources", "sources", "--skip-minimality", cwd=folder)
    assert done.returncode == 0
    assert "needs every leaf" not in done.stdout
    assert "not given:" in done.stdout
    assert "the wish to see minimality checked" in done.stdout


@pytest.mark.parametrize("name", sorted(CASES))
def test_every_case_verifies_alone(name: str, tmp_path: Path) -> None:
    case: Case = CASES[name]
    if not name.startswith(("prelude", "conflict", "text")):
        return  # the others run in process
    (tmp_path / "c.json").write_bytes(decide_case(case).certificate)
    (tmp_path / "facts").mkdir()
    (tmp_path / "facts" / "f.lp").write_text(case.facts, encoding="utf-8")
    done = run("c.json", "--sources", "facts", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
