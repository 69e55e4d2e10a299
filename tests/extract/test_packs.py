"""Packs are data: what is wrong with one is reported together, with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from extract.errors import PackRejected
from extract.ingest import ingest_document
from extract.pack_tests import run_pack_tests
from extract.packs import load_pack, shipped_packs
from kb.document import decode
from kb.statement import value_to_json

PACK = """\
pack: leases
version: 1
dimensions:
  - {name: rent, kind: quantity, unit: EUR}
  - {name: tenant, kind: entity}
  - {name: use, kind: taxonomic, taxonomy: use}
subject_labels: [Property]
"""
TAXONOMY = """\
taxonomy: use
root: Use
classes:
  Dwelling: Use
  Office: Use
  Home office: Dwelling
  Home office: Office
labels:
  Dwelling: [Flat, House]
disjoint:
  - children of Use
"""
RELATION = """\
- relation: rent
  labels: [Rent, Monthly rent]
  phrases:
    - "{subject} is let for {value}"
  examples:
    - text: "Mill House is let for EUR 900."
      gives: [[Mill House, 900 EUR]]
    - text: "Mill House was sold for EUR 900."
      gives: none
"""


def write(
    folder: Path, *, pack: str = PACK, taxonomy: str = TAXONOMY, relation: str = RELATION
) -> Path:
    root = folder / "leases"
    (root / "taxonomies").mkdir(parents=True)
    (root / "relations").mkdir()
    (root / "pack.yaml").write_text(pack, "utf-8")
    (root / "taxonomies" / "use.yaml").write_text(taxonomy, "utf-8")
    (root / "relations" / "rent.yaml").write_text(relation, "utf-8")
    return root


def findings(root: Path) -> list[str]:
    with pytest.raises(PackRejected) as caught:
        load_pack(root)
    return [str(finding) for finding in caught.value.findings]


def without_disjoint(text: str) -> str:
    return text.split("disjoint:")[0]


def test_a_relation_is_data_only(tmp_path: Path) -> None:
    pack = load_pack(write(tmp_path, taxonomy=without_disjoint(TAXONOMY)))
    assert run_pack_tests(pack).passed
    document = decode(b"Property: Mill House\nMonthly rent: EUR 850.50\n", name="lease.txt")
    ((statement, evidence),) = ingest_document((), [pack], document).grounded
    assert (statement.subject, statement.dimension) == ("Mill House", "rent")
    assert value_to_json(statement.value)["value"] == "850.5 EUR"
    assert evidence.quote == "Property: Mill House\nMonthly rent: EUR 850.50"


def test_every_edge_of_a_taxonomy_quotes_its_line(tmp_path: Path) -> None:
    pack = load_pack(write(tmp_path, taxonomy=without_disjoint(TAXONOMY)))
    (taxonomy,) = pack.taxonomies
    assert [evidence.quote for _, evidence in taxonomy.statements()] == [
        "Dwelling: Use",
        "Office: Use",
        "Home office: Dwelling",
        "Home office: Office",
    ]
    document = taxonomy.document()
    for statement, evidence in taxonomy.statements():
        assert document.text[evidence.start : evidence.end] == evidence.quote
        assert statement.dimension == "subclass_of"
    assert taxonomy.read("the flat") == "Dwelling"
    assert taxonomy.read("barn") is None


def test_a_disjoint_pair_with_a_common_class_is_reported(tmp_path: Path) -> None:
    assert findings(write(tmp_path)) == [
        "leases/taxonomies/use.yaml:11: 'Home office' lies below both 'Dwelling' and 'Office', "
        "which are disjoint"
    ]


def test_all_problems_are_reported_together(tmp_path: Path) -> None:
    root = write(
        tmp_path,
        pack=PACK.replace("kind: entity}", "kind: entitty}").replace(
            "taxonomy: use", "taxonomy: used"
        )
        + "subjects: [x]\n",
        taxonomy=without_disjoint(TAXONOMY).replace("Dwelling: [Flat", "Dweling: [Flat"),
        relation=RELATION.replace("relation: rent", "relation: rnt")
        .replace("{value}", "{valu}")
        .replace("gives: none", "gives: nothing"),
    )
    assert findings(root) == [
        "leases/pack.yaml:5: 'entitty' is unknown here; "
        "expected one of entity, number, quantity, taxonomic, text, time; nearest is 'entity'",
        "leases/pack.yaml:6: no file under taxonomies/ defines the taxonomy 'used'; "
        "nearest is 'use'",
        "leases/pack.yaml:8: 'subjects' is no key here; expected one of dimensions, headers, "
        "kinds, name_suffixes, names, pack, subject_labels, title, version; "
        "nearest is 'subject_labels'",
        "leases/relations/rent.yaml:1: the relation names 'rnt', which is no dimension of the "
        "pack; nearest is 'rent'",
        "leases/relations/rent.yaml:4: {valu} is no slot; "
        "expected one of {date}, {name}, {subject}, {subject's}, {value}",
        "leases/relations/rent.yaml:9: 'nothing' is no expected value; "
        "expected [subject, value] or none",
        "leases/taxonomies/use.yaml:9: 'Dweling' is no class of this taxonomy; "
        "nearest is 'Dwelling'",
    ]


def test_broken_files_are_reported_with_their_line(tmp_path: Path) -> None:
    root = write(tmp_path, taxonomy=TAXONOMY + "  - [\n", relation="")
    found = findings(root)
    assert any(f.startswith("leases/relations/rent.yaml:1: the file is empty") for f in found)
    assert any("is no valid YAML" in f and "use.yaml:" in f for f in found)


def test_cycles_and_lost_parents_are_reported(tmp_path: Path) -> None:
    taxonomy = "taxonomy: use\nroot: Use\nclasses:\n  A: B\n  B: A\n  C: Usse\n"
    found = findings(write(tmp_path, taxonomy=taxonomy))
    assert "leases/taxonomies/use.yaml:4: the class 'A' is its own ancestor" in found
    assert (
        "leases/taxonomies/use.yaml:6: the parent 'Usse' is no class of this taxonomy; "
        "nearest is 'Use'" in found
    )


def test_failing_examples_name_what_is_missing_and_unexpected(tmp_path: Path) -> None:
    relation = RELATION.replace("[[Mill House, 900 EUR]]", "[[Mill House, 800 EUR]]")
    root = write(tmp_path, taxonomy=without_disjoint(TAXONOMY), relation=relation)
    report = run_pack_tests(load_pack(root))
    assert [str(failure) for failure in report.failures] == [
        "leases/relations/rent.yaml:6: rent: missing (Mill House, 800 EUR); "
        "unexpected (Mill House, 900 EUR)"
    ]
    assert not report.passed


def test_a_relation_needs_examples_of_both_kinds(tmp_path: Path) -> None:
    relation = RELATION[: RELATION.index('    - text: "Mill House was sold')]
    root = write(tmp_path, taxonomy=without_disjoint(TAXONOMY), relation=relation)
    report = run_pack_tests(load_pack(root))
    assert len(report.untested) == 1


def test_shipped_packs_load() -> None:
    assert {"supplier", "wiki"} <= {pack.name for pack in shipped_packs()}


def test_a_folder_without_a_pack_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(PackRejected, match=r"holds no pack\.yaml"):
        load_pack(tmp_path)
