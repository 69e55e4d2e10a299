"""IRIs: of entities, dimensions, statements, sources and spans, and back.

A knowledge base has one data namespace, set when it is made. In it an entity or class is
`NAMESPACE` + name, a dimension `NAMESPACE` + `dimension/` + name, a statement `NAMESPACE` +
`statement/` + hex digits, and likewise a certificate, a decision and a policy: names are
percent-encoded, `/` too, so that these never meet. A name that is a web address outside the
namespace is its own IRI, so that what others name by IRIs keeps them. A source is named by its
digest (RFC 6920), a span of its decoded text by a fragment (RFC 5147):

    ni:///sha-256;f4OxZX_x_FO5LcGBSKHWXfwtSx-j1ncoSt3SABJtkGk#char=10,25
"""

from __future__ import annotations

import base64
import binascii
import re
from urllib.parse import quote, unquote

from .errors import IRIRejected

PROOFWEAVE = "https://w3id.org/proofweave/ns#"
"""Namespace of our own terms, such as `pw:quote`."""

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
XSD = "http://www.w3.org/2001/XMLSchema#"
PROV = "http://www.w3.org/ns/prov#"
DCTERMS = "http://purl.org/dc/terms/"
EDTF = "http://id.loc.gov/datatypes/edtf/EDTF"

META_GRAPH = PROOFWEAVE + "meta"
"""The graph of quotes, documents, dimensions and statement nodes."""

VERDICTS_GRAPH = PROOFWEAVE + "verdicts"
"""The graph of certificates, their answers and open requirements, and decisions; no query reads it
unless it names it, so that asking changes no answer."""

FUNCTIONS = ("name", "document", "magnitude", "unit", "firstDay", "lastDay")
"""Local names of the functions that a query may call beyond the standard ones."""

DOCUMENT_PREFIX = "doc:"
"""A document as a subject is named `doc:` + the SHA-256 of its bytes in hex."""

_NAMESPACE = re.compile(r"[a-z][a-z0-9+.-]*:[^\s<>\"{}|^`\\#]*[/#]\Z", re.ASCII | re.IGNORECASE)
_PART = r"(?:[A-Za-z0-9._~:/?@!$&'()*+,;=-]|%[0-9A-Fa-f]{2}|[\u00a1-\ud7ff\uf900-\ufdcf])*"
_WEB_ADDRESS = re.compile(
    rf"https?://[A-Za-z0-9.-]+(?::\d+)?(?:[/?]{_PART})?(?:#{_PART})?\Z", re.ASCII
)
_SOURCE = "ni:///sha-256;"
_PLAIN_NAME = re.compile(r"[A-Za-z0-9 .~-]+\Z", re.ASCII)
_SHA256 = re.compile(r"[0-9a-f]{64}\Z", re.ASCII)
_STATEMENT_ID = re.compile(r"st:([0-9a-f]{32})\Z", re.ASCII)
_SPAN = re.compile(r"(ni:///sha-256;[\w-]{43})#char=(0|[1-9]\d*),(0|[1-9]\d*)\Z", re.ASCII)


def check_namespace(namespace: str) -> str:
    """Return `namespace` if it can be a data namespace.

    Raises IRIRejected unless it is an absolute IRI that ends in `/` or `#`.
    """
    if _NAMESPACE.match(namespace) is None or namespace == PROOFWEAVE:
        raise IRIRejected(
            f"{namespace!r} is no data namespace; expected an absolute IRI of your own that ends "
            "in / or #, such as https://example.org/suppliers/"
        )
    return namespace


def prefixes(namespace: str) -> dict[str, str]:
    """Give the prefixes a query may use undeclared: `e:` for entities, `d:` for dimensions ..."""
    return {
        "e": namespace,
        "d": f"{namespace}dimension/",
        "pw": PROOFWEAVE,
        "rdf": RDF,
        "rdfs": RDFS,
        "owl": OWL,
        "skos": SKOS,
        "xsd": XSD,
        "prov": PROV,
        "dcterms": DCTERMS,
    }


def entity_iri(namespace: str, name: str) -> str:
    """Give the IRI of an entity or class; `doc:<sha256>` gives the source's own IRI.

    >>> entity_iri("https://example.org/", "Nordwind Logistik GmbH")
    'https://example.org/Nordwind_Logistik_GmbH'
    >>> entity_iri("https://example.org/", "http://dbpedia.example/resource/Nordwind")
    'http://dbpedia.example/resource/Nordwind'

    Raises IRIRejected for an empty name or one with unpaired surrogates.
    """
    if name.startswith(DOCUMENT_PREFIX) and _SHA256.match(name.removeprefix(DOCUMENT_PREFIX)):
        return source_iri(name.removeprefix(DOCUMENT_PREFIX))
    if _is_web_address(namespace, name):
        return name
    return namespace + encoded_name(name)


def entity_name(namespace: str, iri: str) -> str:
    """Give back the name that `entity_iri` encoded.

    Raises IRIRejected for an IRI that no name has.
    """
    if iri.startswith(_SOURCE):
        return DOCUMENT_PREFIX + source_digest(iri)
    if _is_web_address(namespace, iri):
        return iri
    return _decode(namespace, iri, "an entity")


def dimension_iri(namespace: str, name: str) -> str:
    """Give the IRI of a dimension.

    >>> dimension_iri("https://example.org/", "liability_cover")
    'https://example.org/dimension/liability_cover'
    """
    return f"{namespace}dimension/{quote(name, safe='')}"


def dimension_name(namespace: str, iri: str) -> str:
    """Give back the name that `dimension_iri` encoded.

    Raises IRIRejected for an IRI that no dimension has.
    """
    prefix = f"{namespace}dimension/"
    name = unquote(iri.removeprefix(prefix), errors="replace")
    if not iri.startswith(prefix) or dimension_iri(namespace, name) != iri:
        raise IRIRejected(f"<{iri}> names no dimension; expected {prefix}NAME")
    return name


def statement_iri(namespace: str, statement_id: str) -> str:
    """Give the IRI of a statement's node from its id `st:<32 hex>`.

    Raises IRIRejected for anything else.
    """
    match = _STATEMENT_ID.match(statement_id)
    if match is None:
        raise IRIRejected(f"{statement_id!r} is no statement id; expected st: and 32 hex digits")
    return f"{namespace}statement/{match[1]}"


def statement_id(namespace: str, iri: str) -> str:
    """Give back the id that `statement_iri` encoded.

    Raises IRIRejected for anything else.
    """
    prefix = f"{namespace}statement/"
    identifier = "st:" + iri.removeprefix(prefix)
    if not iri.startswith(prefix) or _STATEMENT_ID.match(identifier) is None:
        raise IRIRejected(f"<{iri}> names no statement; expected {prefix} and 32 hex digits")
    return identifier


def certificate_iri(namespace: str, digest: str) -> str:
    """Give the IRI of a certificate from the SHA-256 of its bytes, in hex.

    Raises IRIRejected for anything else.
    """
    if _SHA256.match(digest) is None:
        raise IRIRejected(f"{digest!r} is no SHA-256; expected 64 lower-case hex digits")
    return f"{namespace}certificate/{digest}"


def decision_iri(namespace: str, number: int) -> str:
    """Give the IRI of one time that a verdict was given, from its place in the chain."""
    return f"{namespace}decision/{number}"


def policy_iri(namespace: str, policy: str, version: str) -> str:
    """Give the IRI of a policy version.

    >>> policy_iri("https://example.org/", "onboarding", "3")
    'https://example.org/policy/onboarding@3'
    """
    return f"{namespace}policy/{quote(policy, safe='')}@{quote(version, safe='')}"


def source_iri(source_sha256: str) -> str:
    """Give the IRI of a source, `ni:///sha-256;` and the digest in base64url (RFC 6920).

    Raises IRIRejected unless given 64 hex digits.
    """
    if _SHA256.match(source_sha256) is None:
        raise IRIRejected(f"{source_sha256!r} is no SHA-256; expected 64 lower-case hex digits")
    digest = base64.urlsafe_b64encode(bytes.fromhex(source_sha256)).rstrip(b"=")
    return _SOURCE + digest.decode()


def source_digest(iri: str) -> str:
    """Give back the SHA-256, in hex, that `source_iri` encoded.

    Raises IRIRejected for anything else.
    """
    encoded = iri.removeprefix(_SOURCE)
    try:
        digest = base64.b64decode(encoded + "=", altchars=b"-_", validate=True).hex()
    except (binascii.Error, ValueError):
        digest = ""
    if not iri.startswith(_SOURCE) or len(digest) != 64 or source_iri(digest) != iri:
        raise IRIRejected(f"<{iri}> names no source; expected {_SOURCE} and a base64url digest")
    return digest


def span_iri(source_sha256: str, start: int, end: int) -> str:
    """Give the IRI of the code points `[start, end)` of a source's decoded text (RFC 5147).

    Raises IRIRejected for a span that ends before it begins.
    """
    if not 0 <= start <= end:
        raise IRIRejected(f"[{start}, {end}) is no span; expected 0 <= start <= end")
    return f"{source_iri(source_sha256)}#char={start},{end}"


def parse_span_iri(iri: str) -> tuple[str, int, int]:
    """Give back the digest, start and end that `span_iri` encoded.

    Raises IRIRejected for anything else.
    """
    match = _SPAN.match(iri)
    if match is None:
        raise IRIRejected(f"<{iri}> names no span; expected {_SOURCE}DIGEST#char=START,END")
    return source_digest(match[1]), int(match[2]), int(match[3])


def _is_web_address(namespace: str, text: str) -> bool:
    return _WEB_ADDRESS.match(text) is not None and not text.startswith(namespace)


def encoded_name(name: str) -> str:
    """Give a name as it stands after the namespace: percent-encoded, spaces as `_`.

    Raises IRIRejected for an empty name or one with unpaired surrogates.
    """
    if _PLAIN_NAME.match(name) is not None:
        return name.replace(" ", "_")
    try:
        encoded = quote(name, safe=" ")
    except UnicodeEncodeError as error:
        raise IRIRejected(f"{name!r} has an unpaired surrogate; expected Unicode text") from error
    if not encoded:
        raise IRIRejected("an empty name has no IRI; expected at least one character")
    return encoded.replace("_", "%5F").replace(" ", "_")


def _decode(namespace: str, iri: str, what: str) -> str:
    local = iri.removeprefix(namespace)
    name = unquote(local.replace("_", " "), errors="replace")
    if not iri.startswith(namespace) or not local or encoded_name(name) != local:
        raise IRIRejected(f"<{iri}> names no {what.split()[-1]}; expected {namespace}NAME")
    return name
