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


def new_pack(directory: Path, name: str) -> tuple[Path, ...]:
    """Write a small pack that works, to be changed; gives the files, sorted.

    Raises AlreadyExists where the directory is there, and RequestRejected for a name that cannot
    be the id of a policy.
    """
    if not is_predicate_name(name):
        raise RequestRejected(
            f"{name!r} is no name of a pack; expected a lower-case letter, then letters, digits "
            "and _"
        )
    if directory.exists():
        raise AlreadyExists(f"{directory} exists; expected a new directory")
    template = Path(str(files("server"))) / "new_pack"
    written: list[Path] = []
    for source in sorted(template.rglob("*")):
        if source.is_file():
            target = directory / source.relative_to(template)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(source.read_text("utf-8").replace("NAME", name), "utf-8")
            written.append(target)
    return tuple(written)
