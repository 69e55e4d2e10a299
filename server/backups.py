"""One file with everything of a knowledge base that cannot be rebuilt, and back again."""

from __future__ import annotations

import shutil
import sqlite3
import tarfile
import tempfile
from pathlib import Path

from kb.errors import AlreadyExists, NotFound
from kb.knowledge_base import KnowledgeBase

from .errors import RequestRejected

DATABASES = ("knowledge.sqlite", "verdicts.sqlite")
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
        for extra in FILES:  # first: a head may lie behind its database, never ahead of it
            if (directory / extra).is_file():
                shutil.copy(directory / extra, Path(name) / extra)
        for database in DATABASES:
            source = sqlite3.connect(f"file:{directory / database}?mode=ro", uri=True)
            target = sqlite3.connect(Path(name) / database)
            with source, target:
                source.backup(target)
            source.close()
            target.close()
        with tarfile.open(file, "w:gz") as archive:
            for database in DATABASES:
                archive.add(Path(name) / database, database)
            for extra in FILES:
                if (Path(name) / extra).is_file():
                    archive.add(Path(name) / extra, extra)
    with KnowledgeBase.open(directory) as base:
        return {"file": str(file), "revision": base.revision, "bytes": file.stat().st_size}


def bring_back(file: Path, directory: Path) -> dict[str, object]:
    """Unpack a backup into a new directory and check both chains.

    Raises AlreadyExists where the directory is there, RequestRejected where the file is no backup.
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
            archive.extractall(directory, filter="data")
    except tarfile.TarError as error:
        raise RequestRejected(f"{file} is no backup of a knowledge base: {error}") from error
    with KnowledgeBase.open(directory) as base:
        base.verify_log()
        return {"directory": str(directory), "revision": base.revision}
