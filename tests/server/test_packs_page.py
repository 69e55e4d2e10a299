"""The page about packs, followed literally: its files written, its commands run, in its order.

Set PROOFWEAVE_REWRITE_DOCS to write what the commands print into the page; review the diff.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from extract import packs
from server.__main__ import main
from server.errors import RequestRejected
from server.pack_files import new_pack

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "packs.md"
BLOCK = re.compile(
    r"^```(?P<language>\w+)(?: file=(?P<file>\S+))?\n(?P<body>.*?)^```$", re.DOTALL | re.MULTILINE
)
CERTIFICATE = re.compile(r"\b(certificate|published \S+)\s+[0-9a-f]{64}\b")

Run = Callable[[str], str]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Give a function that runs a line of the page; gives what it printed."""

    def call(line: str) -> str:
        command, _, comment = line.partition("  # ")
        expected = int(comment.removeprefix("exit ")) if comment.startswith("exit ") else 0
        if not command.startswith("proofweave "):
            subprocess.run(["sh", "-c", command], check=True)
            return ""
        monkeypatch.setattr(sys, "argv", shlex.split(command.partition(" #")[0]))
        capfd.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        sys.stdout.flush()
        printed = capfd.readouterr()
        assert int(left.value.code or 0) == expected, f"{line}\n{printed.out}{printed.err}"
        return CERTIFICATE.sub(r"\1 …", printed.out)

    return call


def test_the_page_can_be_followed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text("utf-8")
    printed, shown, position = "", [], 0
    for block in BLOCK.finditer(text):
        body = block["body"]
        if block["file"]:
            file = tmp_path / block["file"]
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(body, "utf-8")
        elif block["language"] == "sh":
            for line in body.splitlines():
                printed = run(line)
        elif block["language"] == "text":
            shown += [text[position : block.start("body")], printed]
            position = block.end("body")
            if "PROOFWEAVE_REWRITE_DOCS" not in os.environ:
                assert printed == body
    assert len(shown) >= 8
    if "PROOFWEAVE_REWRITE_DOCS" in os.environ:
        PAGE.write_text("".join([*shown, text[position:]]), "utf-8")


def documented(heading: str) -> set[str]:
    """The keys that stand in backticks in the first column of a table, or in a paragraph."""
    text = PAGE.read_text("utf-8")
    _, found, rest = text.partition(heading)
    assert found, heading
    part = rest.partition("\n\n")[0] if heading.endswith(": ") else rest.split("\n\n", 2)[1]
    cells = [line.split("|")[1] if line.startswith("|") else line for line in part.splitlines()]
    return set(re.findall(r"`(\w+)`", " ".join(cells)))


@pytest.mark.parametrize(
    ("heading", "keys"),
    [
        ("`pack.yaml`:", packs._PACK_KEYS),
        ("A dimension:", packs._DIMENSION_KEYS),
        ("A relation:", packs._RELATION_KEYS),
    ],
)
def test_every_key_of_a_pack_is_described(heading: str, keys: set[str]) -> None:
    assert documented(heading) == keys


def test_the_keys_of_phrases_examples_and_taxonomies_are_described() -> None:
    text = PAGE.read_text("utf-8")
    for keys in (
        packs._PATTERN_KEYS,
        packs._EXPECTED_KEYS,
        {"text", "title", "gives"},
        {"taxonomy", "root", "classes", "labels", "disjoint"},
    ):
        assert {key for key in keys if f"`{key}`" not in text} == set()


def test_a_new_pack_has_a_name_that_policies_can_have(tmp_path: Path) -> None:
    with pytest.raises(RequestRejected, match="lower-case letter"):
        new_pack(tmp_path / "My-Pack", "My-Pack")
    assert not (tmp_path / "My-Pack").exists()
