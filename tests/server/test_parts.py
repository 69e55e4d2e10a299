"""Names, pages, credentials, tables of enums: the small parts of the service."""

from __future__ import annotations

import hashlib

import pytest
from proofweave.v1 import common_pb2, knowledge_pb2, reasoning_pb2

from kb.dimension import Dimension, DimensionKind, define_taxonomy
from kb.statement import Modality, Polarity
from reasoner.verdict import AbstentionCode, Verdict
from server.auth import permit, requester
from server.errors import NotPermitted, RequestRejected, Unauthenticated
from server.names import knowledge_base_of, read_name, read_policy_name
from server.paging import page
from server.settings import AuthSection
from server.translate import (
    CODES,
    DIMENSION_KINDS,
    ENGINES,
    MODALITIES,
    POLARITIES,
    VERDICTS,
    day_of,
    dimension_message,
    dimension_of,
)


def test_names_are_read_and_others_refused() -> None:
    assert str(read_name("knowledgeBases/a/documents/b", "documents")).endswith("a/documents/b")
    assert read_name("b", "documents").knowledge_base == "-"
    assert knowledge_base_of("") == "-"
    for wrong in ("", "knowledgeBases/a/statements/b", "a/b", "knowledgeBases/a/documents/"):
        with pytest.raises(RequestRejected):
            read_name(wrong, "documents")
    with pytest.raises(RequestRejected):
        knowledge_base_of("knowledgeBases/a/documents")


def test_policy_names_have_an_optional_version() -> None:
    assert read_policy_name("policies/onboarding@3") == ("onboarding", "3")
    assert read_policy_name("onboarding") == ("onboarding", None)
    for wrong in ("", "policies/", "a@", "a/b@1"):
        with pytest.raises(RequestRejected):
            read_policy_name(wrong)


def test_pages_give_every_item_once() -> None:
    items = [f"{number:03d}" for number in range(25)]
    seen: list[str] = []
    token = ""
    while True:
        found, token = page(items, size=10, default=5, token=token, key=lambda item: item)
        seen += found
        if not token:
            break
    assert seen == items


def test_a_foreign_page_token_is_refused() -> None:
    with pytest.raises(RequestRejected):
        page(["a"], size=1, default=1, token="%%", key=lambda item: item)


def test_without_tokens_everybody_is_anonymous() -> None:
    assert requester(AuthSection(), ()) == "anonymous"


def test_tokens_name_the_requester() -> None:
    auth = AuthSection(
        tokens={"alice": hashlib.sha256(b"secret").hexdigest()}, access={"alice": ("one",)}
    )
    assert requester(auth, [("authorization", "Bearer secret")]) == "alice"
    permit(auth, "alice", "one")
    with pytest.raises(NotPermitted):
        permit(auth, "alice", "two")
    for metadata in ((), [("authorization", "Bearer other")], [("authorization", "Basic secret")]):
        with pytest.raises(Unauthenticated):
            requester(auth, metadata)


def test_every_enum_is_mapped_both_ways() -> None:
    for table, kinds, message in (
        (VERDICTS, Verdict, common_pb2.Verdict),
        (CODES, AbstentionCode, common_pb2.AbstentionCode),
        (POLARITIES, Polarity, common_pb2.Polarity),
        (MODALITIES, Modality, common_pb2.Modality),
        (DIMENSION_KINDS, DimensionKind, knowledge_pb2.DimensionKind),
    ):
        assert set(table) == set(kinds)
        assert set(table.values()) == set(message.values()) - {0}
    assert set(ENGINES) == set(reasoning_pb2.Engine.values())


def test_days_are_exact() -> None:
    assert day_of("", field="valid_on") is None
    assert str(day_of("2026-01-31", field="valid_on")) == "2026-01-31"
    for wrong in ("2026-01", "31.01.2026", "2026-02-30"):
        with pytest.raises(RequestRejected, match="valid_on"):
            day_of(wrong, field="valid_on")


@pytest.mark.parametrize(
    "dimension",
    [
        Dimension("liability_cover", DimensionKind.QUANTITY, unit="EUR", functional=True),
        Dimension("parent", DimensionKind.ENTITY, inverse="child"),
        define_taxonomy(
            "genre",
            [("comedy", "film"), ("crime", "film"), ("heist", "crime"), ("heist", "comedy")],
            disjoint=(),
            alternatives=[("heist", "caper")],
        ),
    ],
    ids=lambda dimension: dimension.name,
)
def test_dimensions_survive_the_wire(dimension: Dimension) -> None:
    assert dimension_of(dimension_message("kb", dimension)) == dimension
