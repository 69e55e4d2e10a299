"""Packs by name or directory: the shipped ones, chosen ones, a new one, and the tests of one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from extract.pack import Pack
from extract.packs import PACK_FILE, load_pack
from kb.errors import AlreadyExists
from reasoner.atom import is_predicate_name

from .errors import RequestRejected
from .nearest import nearest

QUESTIONS_FILE = "questions.yaml"


@dataclass(frozen=True, slots=True)
class ChosenPacks:
    """The packs a knowledge base uses; `folders` hold forms of questions too, in order."""

    packs: tuple[Pack, ...]
    folders: tuple[Path, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the packs with dimensions."""
        return tuple(pack.name for pack in self.packs)


def shipped_folder() -> Path:
    """Give the directory of the shipped packs: in the distribution, or in a checkout."""
    package = Path(str(files("extract")))
    installed = package / "shipped_packs"
    return installed if installed.is_dir() else package.parent / "packs"


def choose_packs(names: Iterable[str]) -> ChosenPacks:
    """Load packs by shipped name or directory; no name means all that are shipped.

    Folders with forms of questions alone (a language) always come along, before the others. Raises
    RequestRejected, naming the nearest, for an unknown name.
    """
    shipped = {folder.name: folder for folder in sorted(shipped_folder().iterdir())}
    domains = {name: folder for name, folder in shipped.items() if _holds(folder, PACK_FILE)}
    languages = [
        folder
        for name, folder in shipped.items()
        if name not in domains and _holds(folder, QUESTIONS_FILE)
    ]
    chosen: list[Path] = []
    for name in tuple(names) or tuple(domains):
        if name in domains:
            chosen.append(domains[name])
        elif Path(name).is_dir():
            chosen.append(Path(name))
        else:
            raise RequestRejected(f"there is no pack {name!r}{nearest(name, domains)}")
    return ChosenPacks(tuple(map(load_pack, chosen)), (*languages, *chosen))


def _holds(folder: Path, name: str) -> bool:
    return (folder / name).is_file()


NEW_PACK = """\
pack: {name}
version: "1"
title: {name}

dimensions:
  - name: headquarters
    kind: entity
    label: headquarters
    functional: true

subject_labels: [Company]
"""

NEW_RELATION = """\
- relation: headquarters
  labels: [Headquarters, Registered office]
  phrases:
    - "{subject} is based in {value}"
  examples:
    - text: "Acme GmbH is based in Hamburg."
      gives: [{subject: Acme GmbH, value: Hamburg}]
    - text: "Acme GmbH was praised in Hamburg."
      gives: none
"""


def new_pack(directory: Path, name: str) -> tuple[Path, ...]:
    """Write a small pack that works; gives the files.

    Raises RequestRejected for a name that cannot stand in identifiers, and AlreadyExists where the
    directory is there.
    """
    if not is_predicate_name(name):
        raise RequestRejected(
            f"{name!r} is no name for a pack; expected letters, digits and _, a small letter first"
        )
    if directory.exists():
        raise AlreadyExists(f"{directory} exists; expected a new directory")
    relations = directory / "relations"
    relations.mkdir(parents=True)
    written = (directory / PACK_FILE, relations / "headquarters.yaml")
    written[0].write_text(NEW_PACK.replace("{name}", name), "utf-8")
    written[1].write_text(NEW_RELATION, "utf-8")
    return written
