"""`proofweave lattice meet` of entities: the whale of the sea, and none of the land.

The example is LatWeave's (arXiv 2609.27225); the animals and their table are our own.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Run, runner

HEAD = """\
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <https://else.example/a/> .
"""
KINDS = (
    HEAD
    + """\
:animal a owl:Class . :mammal rdfs:subClassOf :animal . :fish rdfs:subClassOf :animal .
:whale rdfs:subClassOf :mammal . :whale skos:altLabel "cetacean" .
:dog rdfs:subClassOf :mammal . :mammal owl:disjointWith :fish .
"""
)
HABITATS = (
    HEAD
    + """\
:place a owl:Class . :aquatic rdfs:subClassOf :place . :terrestrial rdfs:subClassOf :place .
:marine rdfs:subClassOf :aquatic . :freshwater rdfs:subClassOf :aquatic .
:aquatic owl:disjointWith :terrestrial .
"""
)
ANIMALS = """\
animal,kind,habitat,mass,described,source
Blue whale,whale,marine,150 t,1758,1
Sperm whale,whale,marine,45000 kg,1758-01,0.6
Dog,dog,terrestrial,30 kg,1758,
Basking shark,fish,marine,4 t,1765,0.9
"""
MAPPING = """\
confidence: source
dimensions: {mass: quantity, described: time}
"""


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """The command line in this process."""
    return runner(monkeypatch, capfdbinary)


@pytest.fixture
def meet(call: Run, tmp_path: Path) -> Run:
    """Give a function that asks a knowledge base about animals for a meet."""
    directory = tmp_path / "kb"
    for name, text in (
        ("kind.ttl", KINDS),
        ("habitat.ttl", HABITATS),
        ("animals.csv", ANIMALS),
        ("animals.yaml", MAPPING),
    ):
        (tmp_path / name).write_text(text)
    table = ("import", tmp_path / "animals.csv", "--mapping", tmp_path / "animals.yaml")
    for arguments in (
        ("init", directory, "--namespace", "https://example.org/kb/", "--pack", "supplier"),
        ("lattice", "import", tmp_path / "kind.ttl", "--name", "kind", "--kb", directory),
        ("lattice", "import", tmp_path / "habitat.ttl", "--name", "habitat", "--kb", directory),
        (*table, "--kb", directory),
    ):
        code, _, err = call(*arguments)
        assert code == 0, err
    return lambda *asked: call("lattice", "meet", *asked, "--kb", directory)


def _json(outcome: tuple[int, str, str]) -> Any:  # whatever was printed
    return json.loads(outcome[1])


def test_aquatic_mammals_are_whales_and_terrestrial_whales_are_a_conflict(meet: Run) -> None:
    found = _json(meet("kind=mammal", "habitat=aquatic", "--json"))
    assert found["instances"] == ["Blue whale", "Sperm whale"]
    assert found["verdict"] == "ANSWERED"
    assert {item["quote"] for item in found["evidence"]} == set(ANIMALS.splitlines()[1:3])
    code, out, _ = meet("kind=whale", "habitat=terrestrial")
    assert code == 3
    assert out.startswith("ABSTAINED (CONFLICT): kind=whale, habitat=terrestrial\n")
    assert "habitat: terrestrial is asked, marine is stated\n" in out
    assert "'aquatic' and 'terrestrial' are disjoint in habitat" in out
    assert "Blue whale, habitat: marine: “Blue whale,whale,marine,150 t,1758,1”" in out
    found = _json(meet("kind=whale", "habitat=terrestrial", "--json"))
    assert (found["verdict"], found["code"], found["alone"]) == ("ABSTAINED", "CONFLICT", [2, 1])
    (conflict,) = found["conflicts"]
    assert conflict["dimension"] == "habitat"
    assert {item["entity"] for item in conflict["evidence"]} == {"Blue whale", "Sperm whale"}


def test_tightening_an_abstention_abstains(meet: Run) -> None:
    for more in ("mass>=1 kg", "described=1758", "kind=mammal"):
        assert meet("kind=whale", "habitat=terrestrial", more)[0] == 3
    code, out, _ = meet("kind=dog", "kind=fish")
    assert (code, "kind: dog and fish are asked" in out) == (3, True)
    code, out, _ = meet("kind=whale", "habitat=freshwater", "--json")
    found = json.loads(out)
    assert (code, found["code"], found["conflicts"]) == (3, "GAP_IN_CORPUS", [])


def test_ranges_are_exact_in_units_and_precision(meet: Run) -> None:
    def names(*asked: str) -> list[str]:
        return list(_json(meet(*asked, "--json"))["instances"])

    assert names("mass=45 t") == ["Sperm whale"]
    assert names("mass=4000 kg..45 t") == ["Basking shark", "Sperm whale"]
    assert names("mass<31 kg") == ["Dog"]
    assert names("described=1758-01") == ["Sperm whale"]
    assert names("described=..1760", "kind=whale") == ["Blue whale", "Sperm whale"]
    code, out, _ = meet("described>1758-06")
    assert (code, "Basking shark\n" in out, "Blue" in out) == (0, True, False)
    found = _json(meet("described>1758-06", "kind=mammal", "--json"))
    assert (found["code"], found["undetermined"]) == ("UNDETERMINED", ["Blue whale", "Dog"])


def test_confidence_is_a_filter_and_what_nobody_doubts_passes_it(meet: Run) -> None:
    def names(least: str) -> list[str]:
        given = ("habitat=place", "--min-confidence", least, "--json")
        return list(_json(meet(*given))["instances"])

    assert names("0") == ["Basking shark", "Blue whale", "Dog", "Sperm whale"]
    assert names("0.9") == ["Basking shark", "Blue whale", "Dog"]
    assert names("1") == ["Blue whale", "Dog"]
    found = _json(meet("kind=whale", "mass<50 t", "--min-confidence", "0.7", "--json"))
    assert found["verdict"] == "ABSTAINED"
    code, _, err = meet("kind=whale", "--min-confidence", "2")
    assert (code, "from 0 to 1" in err) == (2, True)


def test_an_earlier_revision_knows_what_was_known_then(meet: Run) -> None:
    newest = int(_json(meet("kind=whale", "--json"))["revision"])
    found = _json(meet("kind=whale", "--at", newest, "--json"))
    assert (found["total"], found["revision"]) == (2, str(newest))
    found = _json(meet("kind=whale", "--at", newest - 2, "--json"))
    assert (found["total"], found["code"]) == (0, "GAP_IN_CORPUS")
    assert meet("kind=whale", "--at", newest + 1)[0] != 0


def test_a_union_a_synonym_and_a_limit(meet: Run) -> None:
    found = _json(meet("kind=dog", "habitat=marine", "--any", "--limit", "2", "--json"))
    assert found["instances"] == ["Basking shark", "Blue whale"]
    assert (found["total"], found["complete"]) == (4, False)
    assert _json(meet("kind=cetacean", "--json"))["total"] == 2
    code, out, _ = meet("kind", "mammal", "whale")
    assert (code, out) == (0, "whale\n")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (["kind=whal"], "kind has no class 'whal'; nearest: whale"),
        (["knd=whale", "mass=heavy"], "there is no dimension 'knd'; nearest: kind"),
        (["knd=whale", "mass=heavy"], "mass=heavy: "),
        (["kind<whale"], "kind is of kind taxonomic, which has no <"),
        (["kind=whale", "whale"], "'whale' is no constraint; expected DIMENSION=VALUE"),
        (["mass=.."], "'..' is no range"),
        (["mass=4 t..4 kg"], "'4 t..4 kg' runs backwards; expected '4 kg..4 t'"),
        (["described=1990..1758-05"], "'1990..1758-05' runs backwards"),
        (["kind=whale", "--valid-on", "1758"], "valid_on: '1758' is no single day"),
        (["whale"], "'whale' is no constraint"),
    ],
)
def test_what_cannot_be_read_is_said_with_the_nearest(
    meet: Run, asked: list[str], said: str
) -> None:
    code, out, err = meet(*asked)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1
