"""IRIs and back."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from kb import vocabulary
from kb.errors import IRIRejected

NAMESPACE = "https://example.org/"
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
digests = st.binary(min_size=32, max_size=32).map(bytes.hex)


@given(names)
def test_a_name_survives_its_iri(name: str) -> None:
    iri = vocabulary.entity_iri(NAMESPACE, name)
    NamedNode(iri)
    assert vocabulary.entity_name(NAMESPACE, iri) == name
    assert iri.isascii()
    assert "/" not in iri.removeprefix(NAMESPACE)


@given(
    st.text(st.sampled_from("aZ0.:/?#@[]!%2é \x00\u3000\ufdd0\U0001f600_~()")).map(
        lambda rest: f"http://{rest}"
    )
)
def test_a_name_that_is_a_web_address_is_its_own_iri_where_it_can_be(name: str) -> None:
    iri = vocabulary.entity_iri(NAMESPACE, name)
    NamedNode(iri)
    assert iri == name or iri.startswith(NAMESPACE)
    assert vocabulary.entity_name(NAMESPACE, iri) == name


def test_an_address_in_the_namespace_is_no_name_of_its_own() -> None:
    assert vocabulary.entity_iri(NAMESPACE, "http://else.example/A#b") == "http://else.example/A#b"
    assert vocabulary.entity_name(NAMESPACE, "https://example.org/Acme") == "Acme"
    inside = vocabulary.entity_iri(NAMESPACE, "https://example.org/Acme")
    assert inside != "https://example.org/Acme"
    assert vocabulary.entity_name(NAMESPACE, inside) == "https://example.org/Acme"


@given(names, names)
def test_two_names_have_two_iris(left: str, right: str) -> None:
    assume(left != right)
    assert vocabulary.entity_iri(NAMESPACE, left) != vocabulary.entity_iri(NAMESPACE, right)


@given(digests, st.integers(0, 10**9), st.integers(0, 10**6))
def test_sources_spans_and_documents_survive(digest: str, start: int, length: int) -> None:
    source = vocabulary.source_iri(digest)
    assert vocabulary.source_digest(source) == digest
    span = vocabulary.span_iri(digest, start, start + length)
    NamedNode(span)
    assert vocabulary.parse_span_iri(span) == (digest, start, start + length)
    assert vocabulary.entity_iri(NAMESPACE, f"doc:{digest}") == source
    assert vocabulary.entity_name(NAMESPACE, source) == f"doc:{digest}"


@given(
    st.from_regex(r"[a-z][A-Za-z0-9_]*", fullmatch=True),
    st.from_regex("[0-9a-f]{32}", fullmatch=True),
)
def test_dimensions_and_statements_survive(name: str, digits: str) -> None:
    dimension = vocabulary.dimension_iri(NAMESPACE, name)
    assert vocabulary.dimension_name(NAMESPACE, dimension) == name
    statement = vocabulary.statement_iri(NAMESPACE, f"st:{digits}")
    assert vocabulary.statement_id(NAMESPACE, statement) == f"st:{digits}"
    for iri in (dimension, statement):
        with pytest.raises(IRIRejected):
            vocabulary.entity_name(NAMESPACE, iri)


def test_the_digest_is_written_as_rfc_6920_does() -> None:
    # the example of RFC 6920, section 3: the digest of "Hello World!"
    digest = "7f83b1657ff1fc53b92dc18148a1d65dfc2d4b1fa3d677284addd200126d9069"
    assert (
        vocabulary.source_iri(digest) == "ni:///sha-256;f4OxZX_x_FO5LcGBSKHWXfwtSx-j1ncoSt3SABJtkGk"
    )


@pytest.mark.parametrize(
    "namespace",
    [
        "",
        "example.org/",
        "https://example.org",
        "https://e x.org/",
        "https://a#b/",
        vocabulary.PROOFWEAVE,
    ],
)
def test_a_namespace_is_an_absolute_iri_of_ones_own(namespace: str) -> None:
    with pytest.raises(IRIRejected, match="expected an absolute IRI"):
        vocabulary.check_namespace(namespace)


@pytest.mark.parametrize("namespace", ["https://example.org/", "urn:kb#", "HTTP://A.b/c/"])
def test_namespaces_end_in_slash_or_hash(namespace: str) -> None:
    assert vocabulary.check_namespace(namespace) == namespace


@pytest.mark.parametrize(
    "iri",
    [
        "https://example.org/",
        "urn:else:Acme",
        "https://example.org/a b",
        "https://example.org/M%c3%bcller",
        "https://example.org/%FF",
        "https://example.org/%5f",
        "ni:///sha-256;short",
        "ni:///sha-256;f4OxZX_x_FO5LcGBSKHWXfwtSx-j1ncoSt3SABJtkGl",
        "ni:///sha-256;f4OxZX/x/FO5LcGBSKHWXfwtSx-j1ncoSt3SABJtkGk",
    ],
)
def test_an_iri_that_no_name_has_is_rejected(iri: str) -> None:
    with pytest.raises(IRIRejected):
        vocabulary.entity_name(NAMESPACE, iri)


@pytest.mark.parametrize(
    "iri",
    [
        "ni:///sha-256;x#char=0,1",
        vocabulary.source_iri("ab" * 32),
        vocabulary.source_iri("ab" * 32) + "#char=01,2",
    ],
)
def test_an_iri_that_no_span_has_is_rejected(iri: str) -> None:
    with pytest.raises(IRIRejected):
        vocabulary.parse_span_iri(iri)


def test_names_and_digests_that_have_no_iri_are_rejected() -> None:
    for name in ("", "\ud800"):
        with pytest.raises(IRIRejected):
            vocabulary.entity_iri(NAMESPACE, name)
    with pytest.raises(IRIRejected):
        vocabulary.source_iri("AB" * 32)
    with pytest.raises(IRIRejected):
        vocabulary.span_iri("ab" * 32, 3, 2)
    with pytest.raises(IRIRejected):
        vocabulary.statement_iri(NAMESPACE, "st:1")
