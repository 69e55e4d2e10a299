"""Taking packs into a knowledge base, and trying them on documents."""

from __future__ import annotations

from pathlib import Path

import pytest

from extract.packs import load_pack
from kb.errors import NotFound
from kb.knowledge_base import KnowledgeBase
from kb.statement import TaxonClass
from server.errors import RequestRejected
from server.knowledge import create_knowledge, open_knowledge
from server.pack_files import new_pack
from server.pack_intake import add_pack
from server.pack_trial import try_pack

NAMESPACE = "https://example.org/kb/"


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    new_pack(tmp_path / "machines", "machines")
    return tmp_path / "machines"


def steps(directory: Path) -> set[tuple[str, str]]:
    with KnowledgeBase.open(directory) as base:
        found = base.statements(dimension="subclass_of")
        return {(s.subject, s.value.label) for s in found if isinstance(s.value, TaxonClass)}


def test_a_pack_joins_and_what_changed_in_it_follows(pack: Path, tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    create_knowledge(kb, namespace=NAMESPACE, packs=("metaqa",))
    first = add_pack(kb, str(pack))
    assert (len(first.defined), first.read, first.withdrawn) == (7, ("kind",), ())
    assert ("Saw", "Machine") in steps(kb)
    again = add_pack(kb, str(pack))
    assert (again.defined, again.read, again.withdrawn) == ((), (), ())
    file = pack / "taxonomies" / "kind.yaml"
    file.write_text(file.read_text().replace("  Saw: Machine", "  Cutter: Machine\n  Saw: Cutter"))
    changed = add_pack(kb, str(pack))
    assert (changed.defined, changed.read, changed.withdrawn) == (("kind",), ("kind",), ("kind",))
    assert {("Saw", "Cutter"), ("Cutter", "Machine")} <= steps(kb)
    assert ("Saw", "Machine") not in steps(kb)
    bases = open_knowledge({"kb": kb})
    assert bases.find("kb").packs.names == ("metaqa", "machines")
    bases.close()


def test_a_pack_of_ones_own_joins_all_that_are_shipped(pack: Path, tmp_path: Path) -> None:
    kb = tmp_path / "kb"
    create_knowledge(kb, namespace=NAMESPACE, packs=())
    add_pack(kb, str(pack))
    bases = open_knowledge({"kb": kb})
    assert bases.find("kb").packs.names == ("metaqa", "supplier", "wiki", "machines")
    bases.close()


def test_what_is_no_pack_or_no_knowledge_base_changes_nothing(pack: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        add_pack(tmp_path / "nowhere", str(pack))
    create_knowledge(tmp_path / "kb", namespace=NAMESPACE, packs=("metaqa",))
    with pytest.raises(RequestRejected, match="metaqa"):
        add_pack(tmp_path / "kb", "metaqaa")


def test_a_trial_tells_what_is_stated_refused_and_unread(pack: Path, tmp_path: Path) -> None:
    file = tmp_path / "note.md"
    file.write_text(
        "# Note\n\nKind: Screw press\n\n## Press No. 7\n\nKind: Spoon\n\n"
        "Press No. 7 was not checked on 5 February 2026. It is blue and loud.\n\n"
        "## Press No. 8\n\nOwner: Borealis Works\n"
    )
    (trial,) = try_pack(load_pack(pack), [file])
    assert [text.partition("  “")[0] for text in trial.text().splitlines()[1:2]] == [
        "  Press No. 7 | checked_on | 2026-02-05 (denied)"
    ]
    assert [text for _, text in trial.refused] == [
        "Kind: Screw press",
        "Press No. 7\n\nKind: Spoon",
    ]
    assert trial.unread[0] == (1, "# Note")
    assert trial.unread[-1] == (9, "It is blue and loud.")
    form = trial.to_json()
    assert form["unread"][-1] == {"line": 9, "text": "It is blue and loud."}  # type: ignore[index]
