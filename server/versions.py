"""The versions that receipts name."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

NAMED = ("proofweave", "clingo", "numba", "spacy")


def _found() -> dict[str, str]:
    found = {}
    for name in NAMED:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


VERSIONS = _found()
