"""Resource names: `knowledgeBases/{kb}/documents/{id}`, `policies/{id}@{version}`."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import RequestRejected

ANY = "-"


@dataclass(frozen=True, slots=True)
class ResourceName:
    """A resource of a knowledge base; `knowledge_base` is `-` for the only one."""

    knowledge_base: str
    collection: str
    id: str

    def __str__(self) -> str:
        return f"knowledgeBases/{self.knowledge_base}/{self.collection}/{self.id}"


def knowledge_base_of(parent: str) -> str:
    """Read `knowledgeBases/{kb}`; the empty string is `-`, the one the credentials lead to.

    Raises RequestRejected for anything else.
    """
    if not parent:
        return ANY
    collection, _, name = parent.partition("/")
    if collection != "knowledgeBases" or not name or "/" in name:
        raise RequestRejected(f"the parent {parent!r} is no name; expected 'knowledgeBases/NAME'")
    return name


def read_name(text: str, collection: str) -> ResourceName:
    """Read a name of the given collection; a bare id means the one knowledge base.

    Raises RequestRejected for anything else.
    """
    parts = text.split("/")
    if len(parts) == 1 and text:
        return ResourceName(ANY, collection, text)
    if len(parts) == 4 and parts[0] == "knowledgeBases" and parts[2] == collection and parts[3]:
        return ResourceName(parts[1], collection, parts[3])
    raise RequestRejected(
        f"{text!r} is no name of {collection}; expected 'knowledgeBases/NAME/{collection}/ID'"
    )


def read_policy_name(text: str) -> tuple[str, str | None]:
    """Read `policies/{id}@{version}`, or without a version for the latest.

    Raises RequestRejected for anything else.
    """
    name = text.removeprefix("policies/")
    policy, at, version = name.partition("@")
    if not policy or "/" in name or (at and not version):
        raise RequestRejected(f"{text!r} names no policy; expected 'policies/ID@VERSION'")
    return policy, version or None


def policy_name(policy: str, version: str) -> str:
    """Write `policies/{id}@{version}`."""
    return f"policies/{policy}@{version}"
