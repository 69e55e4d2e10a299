"""Names and units that a pack lists because nothing else tells them."""

from __future__ import annotations

from pathlib import Path

import pytest

from extract.amounts import find_amounts, read_amount
from extract.errors import PackRejected
from extract.ingest import ingest_document
from extract.packs import load_pack
from kb.document import decode
from kb.statement import value_to_json

PACK = """\
pack: p
version: "1"
names: ['[A-Z][\\w-]+ No\\. \\d+', 'tank [a-f]\\d']
dimensions:
  - {name: leakage, kind: quantity, unit: µA}
  - {name: seen_on, kind: time}
"""
RELATIONS = """\
- relation: leakage
  labels: [Leakage]
  phrases: ["{subject} leaks {value}"]
  examples: [{text: "x", gives: none}]
- relation: seen_on
  phrases: ["{subject} was seen on {value}"]
  examples: [{text: "x", gives: none}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p" / "relations").mkdir(parents=True)
    (tmp_path / "p" / "pack.yaml").write_text(PACK)
    (tmp_path / "p" / "relations" / "r.yaml").write_text(RELATIONS)
    return tmp_path / "p"


def stated(folder: Path, text: str) -> set[tuple[str, str, str]]:
    pack = load_pack(folder)
    extraction = ingest_document((), [pack], decode(text.encode(), name="t.md"))
    return {
        (statement.subject, statement.dimension, value_to_json(statement.value)["value"])
        for statement, _ in extraction.grounded
    }


def test_a_heading_of_a_listed_form_is_what_its_section_is_about(folder: Path) -> None:
    text = "# Report\n\nLeakage: 9 µA\n\n## {}\n\nLeakage: 42 µA\n\n## {}\n\nLeakage: 43 µA\n"
    assert stated(folder, text.format("Vento-3 No. 118", "Vento-3 No. 119")) == {
        ("Vento-3 No. 118", "leakage", "42 µA"),
        ("Vento-3 No. 119", "leakage", "43 µA"),
    }
    assert stated(folder, text.format("Vento-3 model 118", "Vento-3 model 119")) == set()


@pytest.mark.parametrize("name", ["Vento-3 No. 118", "tank b7"])
def test_a_name_of_a_listed_form_is_found_in_a_sentence(folder: Path, name: str) -> None:
    found = stated(folder, f"# Report\n\nOn Monday {name} was seen on 5 February 2026.\n")
    assert found == {(name, "seen_on", "2026-02-05")}
    assert stated(folder, "# Report\n\nThen tank z7 was seen on 5 February 2026.\n") == set()


def test_the_unit_of_a_dimension_is_read_in_lines_and_sentences(folder: Path) -> None:
    found = stated(folder, "# Report\n\nTestbed No. 1 leaks 1,250.5 µA or 3 mm.\n")
    assert found == {("Testbed No. 1", "leakage", "1250.5 µA")}


def test_an_amount_in_another_unit_wins_only_where_it_stands() -> None:
    assert str(read_amount("-42 µA", unit="µA")) == "-42 µA"
    assert str(read_amount("5 km", unit="µA")) == "5 km"
    found = find_amounts("4 km, 42 µA and 42 µAh", unit="µA")
    assert [str(amount.amount) for amount in found] == ["4 km", "42 µA"]
    assert find_amounts("42 µA") == ()


@pytest.mark.parametrize(
    ("form", "said"), [("(", "no regular expression"), ("x*", "nothing at all")]
)
def test_a_form_of_names_must_be_one(folder: Path, form: str, said: str) -> None:
    (folder / "pack.yaml").write_text(PACK.replace("tank [a-f]\\d", form))
    with pytest.raises(PackRejected) as rejected:
        load_pack(folder)
    assert [(f.line, said in f.message) for f in rejected.value.findings] == [(3, True)]
