"""One file with everything of a knowledge base that cannot be rebuilt, and back again."""

from __future__ import annotations

import shutil
import sqlite3
import tarfile
import tempfile
import zlib
from pathlib import Path

from kb.errors import AlreadyExists, NotFound
from kb.knowledge_base import KnowledgeBase

from .errors import RequestRejected

DATABASES = ("verdicts.sqlite", "knowledge.sqlite")
"""In the order of copying: a receipt names a revision that the knowledge then holds."""

FILES = ("knowledge.head", "verdicts.head", "packs.yaml")


def back_up(directory: Path, file: Path) -> dict[str, object]:
    """Write the databases, as of one moment each, and the files beside them.

    Raises NotFound without a knowledge base, and AlreadyExists where the file is there.
    """
    if file.exists():
        raise AlreadyExists(f"{file} exists; a backup does not overwrite")
    with KnowledgeBase.open(directory):
        pass
    with tempfile.TemporaryDirectory(prefix="proofweave-") as name:
        revision = _copy(directory, Path(name))
        beside = file.with_name(f"{file.name}.partial")
        try:
            with tarfile.open(beside, "w:gz") as archive:
                for part in (*DATABASES, *FILES):
                    if (Path(name) / part).is_file():
                        archive.add(Path(name) / part, part)
            beside.rename(file)
        finally:
            beside.unlink(missing_ok=True)
    return {"file": str(file), "revision": revision, "bytes": file.stat().st_size}


def _copy(directory: Path, place: Path) -> int:
    """Copy the databases and the files beside them; give the revision that the copy has."""
    for extra in FILES:  # first: a head may lie behind its database, never ahead of it
        if (directory / extra).is_file():
            shutil.copy(directory / extra, place / extra)
    for database in DATABASES:
        source = sqlite3.connect(f"file:{directory / database}?mode=ro", uri=True)
        target = sqlite3.connect(place / database)
        with source, target:
            source.backup(target)
        source.close()
        target.close()
    with KnowledgeBase.open(place) as base:
        return base.revision


def bring_back(file: Path, directory: Path) -> dict[str, object]:
    """Unpack a backup into a new directory and check both chains; nothing stays of one that is not
    whole.

    Raises AlreadyExists where the directory is there, RequestRejected where the file is no backup,
    and LogCorrupt where its log does not hold.
    """
    if directory.exists():
        raise AlreadyExists(f"{directory} exists; a restore does not overwrite")
    if not file.is_file():
        raise NotFound(f"there is no file {str(file)!r}")
    try:
        with tarfile.open(file, "r:gz") as archive:
            names = set(archive.getnames())
            if not set(DATABASES) <= names <= {*DATABASES, *FILES}:
                raise RequestRejected(f"{file} is no backup of a knowledge base")
            directory.mkdir(parents=True)
            try:
                archive.extractall(directory, filter="data")
                with KnowledgeBase.open(directory) as base:
                    base.verify_log()
                    return {"directory": str(directory), "revision": base.revision}
            except BaseException:
                shutil.rmtree(directory)
                raise
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise RequestRejected(f"{file} is no whole backup of a knowledge base: {error}") from error
