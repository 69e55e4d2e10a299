"""`proofweave import`: what kind a dimension gets, which class a cell names, and exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Run, runner

KINDS = """\
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <https://else.example/a/> .
:animal skos:prefLabel "animal" . :whale skos:broader :animal ; skos:prefLabel "whale" ;
    skos:altLabel "cetacean" . :fish skos:broader :animal ; skos:prefLabel "bony fish", "fish"@en .
"""


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """The command line in this process."""
    return runner(monkeypatch, capfdbinary)


@pytest.fixture
def kb(call: Run, tmp_path: Path) -> Path:
    """A knowledge base with one taxonomy of animals."""
    (tmp_path / "kind.ttl").write_text(KINDS)
    directory = tmp_path / "kb"
    for arguments in (
        ("init", directory, "--namespace", "https://example.org/kb/", "--pack", "supplier"),
        ("lattice", "import", tmp_path / "kind.ttl", "--name", "kind", "--kb", directory),
    ):
        assert call(*arguments).code == 0
    return directory


def write(kb: Path, name: str, text: str) -> Path:
    """Write a file beside a knowledge base."""
    file = kb.parent / name
    file.write_text(text)
    return file


def test_a_cell_names_a_class_by_any_label_and_nothing_else(call: Run, kb: Path) -> None:
    rows = "name,kind\nMoby,cetacean\nWilly,Whale\nNemo,fish\nRex,whael\nBolt,dog\n"
    done = call("import", write(kb, "animals.csv", rows), "--kb", kb, "--json")
    assert done.code == 0
    assert (done.json["statements_inserted"], [r["lines"] for r in done.json["refused"]]) == (
        3,
        [[5], [6]],
    )
    assert done.json["refused"][0]["reason"] == "kind has no class 'whael'; nearest: whale"
    found = call("lattice", "meet", "kind=cetacean", "--kb", kb, "--json")
    assert found.json["instances"] == ["Moby", "Willy"]
    said = call("lattice", "compare", "kind", "cetacean", "ANIMAL", "--kb", kb)
    assert (said.code, said.out) == (0, "cetacean is a kind of ANIMAL\n")


def test_the_iri_of_a_class_is_read_where_it_is_said_how(call: Run, kb: Path) -> None:
    triple = "<https://else.example/a/Moby> <https://else.example/kind> "
    file = write(kb, "kinds.nt", f"{triple}<https://else.example/a/whale> .\n")
    refused = call("import", file, "--kb", kb, "--json")
    assert refused.code == 1
    said = refused.json["refused"][0]["reason"]
    assert "with `--entities https://else.example/a/` it would be 'whale'" in said
    done = call("import", file, "--entities", "https://else.example/a/", "--kb", kb, "--json")
    assert (done.code, done.json["statements_inserted"]) == (0, 1)
    found = call("lattice", "meet", "kind=animal", "--kb", kb, "--json")
    assert found.json["instances"] == ["Moby"]


def test_a_kind_in_a_mapping_defines_the_dimension_for_all_later_tables(
    call: Run, kb: Path
) -> None:
    first = write(kb, "a.csv", "name,mass\nMoby,150 t\nNemo,2\n")
    mapping = write(kb, "a.yaml", "dimensions:\n  mass: {kind: quantity, unit: kg}\n")
    done = call("import", first, "--mapping", mapping, "--kb", kb, "--json")
    assert done.json["defined_dimensions"] == ["mass"]
    shown = call("lattice", "show", "mass", "--kb", kb, "--json").json
    assert (shown["kind"], shown["unit"]) == ("quantity", "kg")
    found = call("lattice", "meet", "mass>=3", "--kb", kb, "--json")
    assert found.json["instances"] == ["Moby"]
    other = write(kb, "b.yaml", "dimensions:\n  mass: text\n")
    again = call("import", first, "--mapping", other, "--kb", kb)
    assert again.code == 2
    assert "mass is defined as quantity" in again.err
    later = call("import", write(kb, "c.csv", "name,mass\nRex,30\n"), "--kb", kb, "--json")
    assert later.json["statements_inserted"] == 1
    assert call("lattice", "meet", "mass=30 kg", "--kb", kb).out.startswith("Rex\n")


def test_a_new_column_has_the_kind_that_all_its_cells_have(call: Run, kb: Path) -> None:
    rows = "name,kind,length,tag,seen\nMoby,whale,16,7,2020-01-02\nNemo,fish,0.1,A7,2021-03-04\n"
    done = call("import", write(kb, "a.csv", rows), "--kb", kb, "--json")
    assert done.json["defined_dimensions"] == ["length", "seen", "tag"]
    kinds = {
        name: call("lattice", "show", name, "--kb", kb, "--json").json["kind"]
        for name in ("length", "tag", "seen")
    }
    assert kinds == {"length": "number", "tag": "text", "seen": "time"}
    stated = call("statement", "list", "--dimension", "tag", "--kb", kb, "--json").json
    assert {each["value"]["kind"] for each in stated["statements"]} == {"text"}


def test_a_table_of_triples_defines_what_it_names(call: Run, kb: Path) -> None:
    mapping = write(
        kb,
        "t.yaml",
        'delimiter: "|"\nheader: [s, r, o]\ndimension: r\nvalue: o\nkind: entity\n'
        "dimensions: {hatched: time}\n",
    )
    rows = write(kb, "t.txt", "Moby|swims_with|Willy\nMoby|hatched|1851\nMoby|kind|whale\n")
    refused = call("import", rows, "--mapping", mapping, "--kb", kb, "--json")
    assert refused.json["defined_dimensions"] == ["hatched", "swims_with"]
    assert refused.json["statements_inserted"] == 3
    shown = call("lattice", "show", "hatched", "--kb", kb, "--json").json
    assert shown["kind"] == "time"


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        ("name,kind\nRex,dog\n", 1),
        ("name,kind\nRex\n,whale\n", 1),
        ("name,kind\nRex,dog\nMoby,whale\n", 0),
        ("name,kind\nRex,\n", 0),
    ],
    ids=["every cell refused", "every row refused", "one of two refused", "a gap"],
)
def test_an_import_of_which_everything_is_refused_is_an_error(
    call: Run, kb: Path, rows: str, code: int
) -> None:
    done = call("import", write(kb, "a.csv", rows), "--kb", kb)
    assert done.code == code
    assert "refused" in done.out


def test_a_question_about_a_dimension_without_words_says_how_to_ask(call: Run, kb: Path) -> None:
    rows = write(kb, "a.csv", "name,kind,hull length\nMoby,whale,16\n")
    assert call("import", rows, "--kb", kb).code == 0
    for command, code in (("ask", 3), ("plan", 2)):
        said = call(command, "What is the hull length of Moby?", "--kb", kb)
        assert said.code == code
        assert "ask by `prove 'hull_length(Entity, Value)'`" in said.out + said.err
    assert call("prove", 'hull_length("Moby", X)', "--kb", kb).code == 0
    said = call("ask", "What is the tonnage of Moby?", "--kb", kb)
    assert "prove" not in said.out
