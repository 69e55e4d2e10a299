"""`proofweave lattice`: through the command line itself, on a knowledge base of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from command_line import runner

from kb.owl import TURTLE, import_dimensions

NAMESPACE = "https://example.org/kb/"
SVG = "{http://www.w3.org/2000/svg}"

EQUIPMENT = """\
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <https://else.example/e/> .
:pump skos:prefLabel "infusion pump"@en , "Infusionspumpe"@de ; skos:broader :device .
:syringe skos:prefLabel "syringe pump"@en ; skos:broader :pump .
:monitor skos:prefLabel "monitor"@en ; skos:broader :device .
:device skos:prefLabel "device"@en .
:bed a skos:Concept ; skos:prefLabel "bed"@en .
"""

PENTAGON = """\
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix : <https://else.example/p/> .
:top a owl:Class . :bottom a owl:Class .
:high rdfs:subClassOf :top . :low rdfs:subClassOf :high . :bottom rdfs:subClassOf :low .
:side rdfs:subClassOf :top . :bottom rdfs:subClassOf :side .
"""

KINDS = """\
device,kind
P1,syringe pump
P2,infusion pump
M1,monitor
M2,monitor
M2,syringe pump
"""

WARDS = """\
device,ward
P1,A
P2,A
M1,B
M2,B
"""

Run = Callable[..., Any]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """The command line in this process, within `lattice`."""
    run = runner(monkeypatch, capfdbinary)
    return lambda *arguments: run("lattice", *arguments)


@pytest.fixture
def kb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Path:
    """A knowledge base with an imported taxonomy, and a table that uses it."""
    directory, run = tmp_path / "kb", runner(monkeypatch, capfdbinary)
    (tmp_path / "equipment.ttl").write_text(EQUIPMENT)
    (tmp_path / "kinds.csv").write_text(KINDS)
    (tmp_path / "wards.csv").write_text(WARDS)
    (tmp_path / "wards.yaml").write_text("dimensions: {ward: text}\n")
    for arguments in (
        ("init", directory, "--namespace", NAMESPACE, "--pack", "supplier"),
        (
            *("lattice", "import", tmp_path / "equipment.ttl", "--kb", directory),
            *("--name", "kind", "--root", "thing", "--language", "en", "--functional"),
        ),
        ("import", tmp_path / "kinds.csv", "--kb", directory),
        (
            *("import", tmp_path / "wards.csv", "--kb", directory),
            *("--mapping", tmp_path / "wards.yaml"),
        ),
    ):
        done = run(*arguments)
        assert done.code == 0, done.err
    return directory


def test_an_imported_taxonomy_is_shown_and_climbed(kb: Path, run: Run) -> None:
    _, out, _ = run("show", "kind", "--kb", kb)
    assert "    device\n      infusion pump (also Infusionspumpe)\n        syringe pump\n" in out
    from kb.knowledge_base import KnowledgeBase

    with KnowledgeBase.open(kb) as base:
        steps = {(s.subject, s.value) for s in base.statements(dimension="subclass_of")}
        (row,) = [
            evidence.quote
            for _, statement, found in base.every_statement(subject="syringe pump")
            for evidence in found
        ]
    assert len(steps) > 4
    assert row == "syringe pump,infusion pump"


def test_the_diagram_counts_and_marks(kb: Path, run: Run, tmp_path: Path) -> None:
    code, _, _ = run("show", "kind", "--kb", kb, "--svg", tmp_path / "kind.svg")
    assert code == 0
    drawing = ElementTree.parse(tmp_path / "kind.svg")
    texts = [element.text for element in drawing.iter(f"{SVG}text")]
    assert texts.count("3 entities") == 1  # pumps
    assert "4 entities" in texts
    assert "syringe pump" in texts
    for arguments, said in (
        (("--svg", "x.svg"), "say which"),
        (("ward", "--svg", "x.svg"), "ward"),
    ):
        code, _, err = run("show", *arguments, "--kb", kb)
        assert code in (1, 2)
        assert said in err


def test_statements_that_cannot_hold_together_are_explained(kb: Path, run: Run) -> None:
    code, out, _ = run("check", "kind", "--kb", kb)
    assert (code, "M2" in out) == (0, False)
    assert "kind: 6 classes, may go live\n  width 3: bed, infusion pump, monitor\n" in out
    code, out, _ = run("check", "kind", "--kb", kb, "--statements", "--owl", "--json")
    report = json.loads(out)
    assert code == 1
    (clash,) = report["clashes"]
    assert (clash["subject"], clash["complete"]) == ("M2", True)
    assert [axiom["kind"] for axiom in clash["explanations"][0]] == [
        *("stated", "stated", "functional", "apart")
    ]
    assert report["owl"] == {"consistent": True, "unsatisfiable": []}  # open world
    assert report["empty_classes"] == []


def test_a_pentagon_is_no_distributive_lattice(kb: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "p.ttl").write_text(PENTAGON)
    assert run("import", tmp_path / "p.ttl", "--name", "shape", "--kb", kb)[0] == 0
    code, out, _ = run("check", "shape", "--kb", kb)
    assert code == 0
    assert "not distributive: N5: low lies below high, and side with either meets in bottom" in out


def test_a_class_without_possible_members_is_explained_and_hermit_agrees(
    kb: Path, run: Run, tmp_path: Path
) -> None:
    (tmp_path / "p.ttl").write_text(PENTAGON + ":low owl:disjointWith :side .\n")
    assert run("import", tmp_path / "p.ttl", "--name", "shape", "--kb", kb)[0] == 0
    code, out, _ = run("check", "shape", "--kb", kb, "--owl")
    assert code == 1
    assert (
        "no member is possible of 'bottom':\n"
        "    'bottom' is a kind of 'low'\n    'bottom' is a kind of 'side'\n"
        "    'low' and 'side' are disjoint\n"
    ) in out
    assert "HermiT: no member is possible of bottom\n" in out


def test_concepts_group_what_shares(kb: Path, run: Run) -> None:
    code, out, _ = run("concepts", "kind", "ward", "--kb", kb, "--members", 2)
    assert code == 0
    assert "2: P1, P2\n  kind: infusion pump\n  ward: A\n" in out
    found = json.loads(run("concepts", "kind", "--kb", kb, "--limit", 2, "--json")[1])
    assert found["complete"] is False
    code, _, err = run("concepts", "kinds", "--kb", kb)
    assert code == 2
    assert "kinds" in err


@pytest.mark.parametrize(
    ("ending", "extra"), [("ttl", ()), ("owl", ()), ("txt", ("--format", "ntriples"))]
)
def test_what_is_exported_is_imported_again(
    kb: Path, run: Run, tmp_path: Path, ending: str, extra: tuple[str, ...]
) -> None:
    file = tmp_path / f"dimensions.{ending}"
    assert run("export", "kind", "--kb", kb, "-o", file, *extra)[0] == 0
    before = run("show", "kind", "--kb", kb, "--json")[1]
    code, out, _ = run("import", file, "--kb", kb, "--dry-run", *extra)
    assert (code, out) == (0, "would define kind: taxonomic, 6 classes, thing above all\n")
    assert run("import", file, "--kb", kb, *extra)[0] == 0
    assert run("show", "kind", "--kb", kb, "--json")[1] == before


def test_what_an_import_cannot_keep_is_told(kb: Path, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "machines.ttl"
    file.write_text(
        "@prefix : <http://x.example/o#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        ":Pump a owl:Class ; rdfs:subClassOf :Machine , [ a owl:Restriction ;\n"
        "  owl:onProperty :hasPart ; owl:someValuesFrom :Wheel ] .\n"
    )
    arguments = ("import", file, "--name", "machine", "--kb", kb)
    assert run(*arguments, "--dry-run").out.splitlines() == [
        "would define machine: taxonomic, 2 classes, Machine above all",
        "  not kept     1  subclass of a restriction on hasPart (someValuesFrom) (of Pump)",
    ]
    assert run(*arguments, "--json").json["not_kept"] == [
        {
            "reason": "subclass of a restriction on hasPart (someValuesFrom)",
            "count": 1,
            "classes": ["Pump"],
        }
    ]


PLANETS = """\
:thing a owl:Class . :mercury rdfs:subClassOf :thing . :inner rdfs:subClassOf :mercury .
"""
METALS = """\
:thing a owl:Class . :metal rdfs:subClassOf :thing . :gas rdfs:subClassOf :thing .
:mercury rdfs:subClassOf :metal , :gas . :metal owl:disjointWith :gas .
"""


def test_classes_that_two_dimensions_name_alike_are_kept_apart(
    kb: Path, run: Run, tmp_path: Path
) -> None:
    head = PENTAGON.partition(":top")[0]
    for name, text in (("metal", METALS), ("planet", PLANETS)):
        (tmp_path / f"{name}.ttl").write_text(head + text)
        assert run("import", tmp_path / f"{name}.ttl", "--name", name, "--kb", kb).code == 0
    checked = run("check", "metal", "planet", "--kb", kb, "--owl", "--json").json
    assert [each["subject"] for each in checked["empty_classes"]] == ["mercury"]
    assert checked["owl"] == {"consistent": True, "unsatisfiable": ["mercury"]}
    before = {name: run("show", name, "--kb", kb, "--json").out for name in ("metal", "planet")}
    file = tmp_path / "both.owl"
    assert run("export", "metal", "planet", "--kb", kb, "-o", file).code == 0
    assert run("import", file, "--kb", kb).code == 0
    after = {name: run("show", name, "--kb", kb, "--json").out for name in ("metal", "planet")}
    assert after == before


def test_equivalents_unions_and_transitive_steps_are_read(
    kb: Path, run: Run, tmp_path: Path
) -> None:
    head = PENTAGON.partition(":top")[0] + EQUIPMENT.partition("\n")[0]
    text = (
        ":car owl:equivalentClass :automobile . :car rdfs:subClassOf :vehicle .\n"
        ":cabriolet rdfs:subClassOf :car .\n"
        ":vehicle owl:unionOf (:car :bike) . :ebike owl:intersectionOf (:bike :electric) .\n"
        ":electric rdfs:subClassOf :vehicle . :tandem skos:broaderTransitive :bike .\n"
    )
    (tmp_path / "vehicles.ttl").write_text(f"{head}\n{text}")
    done = run("import", tmp_path / "vehicles.ttl", "--name", "vehicle", "--kb", kb)
    assert done.code == 0, done.err
    for low, high in (
        ("cabriolet", "automobile"),
        ("bike", "vehicle"),
        ("ebike", "electric"),
        ("tandem", "bike"),
    ):
        said = run("compare", "vehicle", low, high, "--kb", kb)
        assert said.out == f"{low} is a kind of {high}\n"
    said = run("compare", "vehicle", "automobile", "car", "--kb", kb)
    assert said.out == "automobile is the same as car\n"


def test_an_export_types_entities(kb: Path, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "kind.ttl"
    assert run("export", "kind", "--kb", kb, "-o", file, "--statements")[0] == 0
    assert b"someValuesFrom e:" in file.read_bytes() or b"someValuesFrom <" in file.read_bytes()
    (dimension,) = import_dimensions(file.read_bytes(), TURTLE, namespace=NAMESPACE)
    assert dimension.functional


def test_what_may_not_go_live_is_refused_with_all_problems(
    kb: Path, run: Run, tmp_path: Path
) -> None:
    before = run("show", "--kb", kb)[1]
    (tmp_path / "e.ttl").write_text(EQUIPMENT + ":device skos:broader :syringe .\n")
    code, _, err = run("import", tmp_path / "e.ttl", "--name", "kind", "--kb", kb)
    assert code == 1
    assert "lie on a cycle" in err
    assert "no root" in err
    (tmp_path / "e.json").write_text(EQUIPMENT)
    code, _, err = run("import", tmp_path / "e.json", "--name", "kind", "--kb", kb)
    assert (code, ".ttl" in err) == (2, True)
    code, _, err = run("import", tmp_path / "equipment.ttl", "--kb", kb)
    assert (code, "--name" in err) == (2, True)
    assert run("show", "--kb", kb)[1] == before


@pytest.mark.parametrize(
    "command", ["show", "meet", "compare", "check", "concepts", "export", "import"]
)
def test_every_command_shows_an_example(run: Run, command: str) -> None:
    code, out, _ = run(command, "--help")
    assert code == 0
    assert f"proofweave lattice {command} " in out


def test_units_and_classes_are_listed(kb: Path, run: Run) -> None:
    _, out, _ = run("show", "--kb", kb)
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert lines["liability_cover"].endswith("quantity in EUR")
    assert lines["kind"].endswith("taxonomic, 6 classes, thing above all, functional")
    _, out, _ = run("show", "liability_cover", "--kb", kb)
    assert "  unit: EUR; other units are converted where that is exact\n" in out
    code, _, err = run("show", "kinds", "--kb", kb)
    assert (code, "nearest: kind" in err) == (2, True)
    code, _, err = run("check", "kinds", "wrong", "--kb", kb)
    assert (code, "'kinds'; nearest: kind" in err, "'wrong'" in err) == (2, True, True)


@pytest.mark.parametrize(
    ("values", "said", "expected"),
    [
        (("5 EUR", "5.00 EUR"), "equals", 0),
        (("4", "5 EUR"), "is less than", 0),
        (("5 EUR", "5 USD"), "does not compare", 3),
    ],
)
def test_quantities_compare_exactly(
    kb: Path, run: Run, values: tuple[str, str], said: str, expected: int
) -> None:
    code, out, _ = run("compare", "liability_cover", *values, "--kb", kb)
    assert (code, said in out) == (expected, True)


@pytest.mark.parametrize(
    ("values", "said", "expected"),
    [
        (("1990", "1991-01"), "is before", 0),
        (("1990-05", "1990"), "lies within", 0),
        (("1990", "1990"), "may be another day than", 3),
        (("1989-06/1990-06", "1990"), "overlaps", 3),
    ],
)
def test_dates_compare_by_their_precision(
    kb: Path, run: Run, values: tuple[str, str], said: str, expected: int
) -> None:
    code, out, _ = run("compare", "founded_on", *values, "--kb", kb)
    assert (code, said in out) == (expected, True)
