"""Taking packs into a knowledge base: their dimensions, their taxonomies, and which are chosen."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import yaml

from extract.pack import Pack
from kb.knowledge_base import KnowledgeBase

from .pack_files import choose_packs

PACKS_FILE = "packs.yaml"


@dataclass(frozen=True, slots=True)
class PackChanges:
    """What taking a pack in changed: dimensions defined, taxonomies read and withdrawn, by name."""

    defined: tuple[str, ...]
    read: tuple[str, ...]
    withdrawn: tuple[str, ...]


def add_pack(directory: Path, name: str) -> PackChanges:
    """Take a pack into a knowledge base, or take in again what changed in it since.

    Documents read before stay as they were read. Raises NotFound without a knowledge base, and
    RequestRejected for an unknown pack, before anything is written.
    """
    (pack,) = choose_packs([name]).packs
    with KnowledgeBase.open(directory) as base:
        changes = take_in(base, pack)
    listed = listed_packs(directory)
    if listed:  # none: all that are shipped
        list_packs(directory, tuple(dict.fromkeys([*listed, *_places([name])])))
    elif Path(name).is_dir():
        list_packs(directory, (*choose_packs(()).names, name))
    return changes


def take_in(base: KnowledgeBase, pack: Pack) -> PackChanges:
    """Define the dimensions of a pack, and admit its taxonomies in place of earlier ones."""
    known = {dimension.name: dimension for dimension in base.dimensions()}
    fresh = [found for found in pack.knowledge_dimensions() if known.get(found.name) != found]
    for dimension in fresh:
        base.define_dimension(dimension)
    standing = {record.source_sha256: record.name for record in base.documents()}
    read, withdrawn = [], []
    for taxonomy in pack.taxonomies:
        document, data = taxonomy.document(), taxonomy.text.encode()
        if document.source_sha256 in standing:
            continue
        for source, name in standing.items():
            if name == document.name:
                base.retract_document(source)
                withdrawn.append(taxonomy.name)
        base.admit(document, data, taxonomy.statements(), run=f"pack {pack.name}@{pack.version}")
        read.append(taxonomy.name)
    return PackChanges(tuple(found.name for found in fresh), tuple(read), tuple(withdrawn))


def _places(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(str(Path(name).resolve()) if Path(name).is_dir() else name for name in names)


def list_packs(directory: Path, names: Iterable[str]) -> None:
    form = {"packs": list(_places(names))}
    (directory / PACKS_FILE).write_text(yaml.safe_dump(form), "utf-8")


def listed_packs(directory: Path) -> tuple[str, ...]:
    """The packs chosen for a knowledge base; none: all that are shipped."""
    file = directory / PACKS_FILE
    form = yaml.safe_load(file.read_text("utf-8")) if file.is_file() else {}
    return tuple((form or {}).get("packs") or ())
