from __future__ import annotations

import gzip
import hashlib
import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.document import LONGEST_PASSAGE, Document, Passage, decode
from kb.errors import DocumentRejected


def passages(document: Document) -> list[tuple[str, str]]:
    return [(p.title, document.text[p.start : p.end]) for p in document.passages]


def test_text_keeps_everything_but_mark_and_line_ends() -> None:
    data = "\ufeffAlpha\r\nbeta\rgamma\n\n\tdelta \n".encode()
    document = decode(data, name="a.txt")
    assert document.text == "Alpha\nbeta\ngamma\n\n\tdelta \n"
    assert document.source_sha256 == hashlib.sha256(data).hexdigest()
    assert document.text_sha256 == hashlib.sha256(document.text.encode()).hexdigest()
    assert document.decoder == "text/1"
    assert document.title == "Alpha"
    assert passages(document) == [("Alpha", "Alpha\nbeta\ngamma"), ("Alpha", "\tdelta ")]


@pytest.mark.parametrize(
    "text", ["cafe\u0301", "👩‍🔬 knows 𝔘nicode", "line\u2028separator", "日本語。", "a\u00a0b"]
)
def test_characters_are_not_normalised(text: str) -> None:
    document = decode(text.encode(), name="a.txt")
    assert document.text == text
    (passage,) = document.passages
    assert document.text[passage.start : passage.end] == text


def test_offsets_count_code_points() -> None:
    document = decode("👩‍🔬\n\nAda".encode(), name="a.txt")
    assert document.passages[1] == Passage("👩‍🔬", 5, 8)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"\xef\xbb\xbf \n\t", "empty"),
        (b"abc\x00def", "control character"),
        (b"%PDF-1.7 ...", "a PDF file"),
        (b"PK\x03\x04....", "a ZIP"),
        ("Müller".encode("latin-1"), "not UTF-8 at byte 1"),
        ("Müller".encode("utf-16"), "UTF-16"),
        (b"\xed\xa0\x80", "not UTF-8"),
    ],
)
def test_bytes_that_are_no_text_are_rejected(data: bytes, message: str) -> None:
    with pytest.raises(DocumentRejected, match=message):
        decode(data, name="bad.txt")


def test_markdown_of_comments_alone_is_empty() -> None:
    with pytest.raises(DocumentRejected, match="empty"):
        decode(b"<!-- nothing to see -->", name="a.md")


def test_the_limit_holds_for_source_and_for_what_it_unpacks_to() -> None:
    with pytest.raises(DocumentRejected, match="11 bytes; the limit is 10"):
        decode(b"x" * 11, name="a.txt", limit=10)
    packed = gzip.compress(b"x" * 10_000, mtime=0)
    with pytest.raises(DocumentRejected, match="unpacks to more than the limit of 9999 bytes"):
        decode(packed, name="a.txt.gz", limit=9_999)
    assert len(decode(packed, name="a.txt.gz", limit=10_000).text) == 10_000


@pytest.mark.parametrize("data", [b"no gzip", gzip.compress(b"words " * 99, mtime=0)[:-9], b""])
def test_a_damaged_gzip_file_is_rejected(data: bytes) -> None:
    with pytest.raises(DocumentRejected, match=r"a\.txt\.gz"):
        decode(data, name="a.txt.gz")


def test_gzip_is_unpacked_and_the_digest_is_of_the_packed_bytes() -> None:
    packed = gzip.compress(b"# Title\n\nText.\n", mtime=0)
    document = decode(packed, name="a.md.gz")
    assert document.media_type == "text/markdown"
    assert document.source_sha256 == hashlib.sha256(packed).hexdigest()
    assert document.title == "Title"


def test_the_media_type_decides_before_the_ending() -> None:
    document = decode(b"a,b\n1,2\n", name="table.dat", media_type="text/csv; charset=utf-8")
    assert document.decoder == "table/1"
    with pytest.raises(DocumentRejected, match="expected one of"):
        decode(b"x", name="a.txt", media_type="image/png")
    with pytest.raises(DocumentRejected, match=r"ends in \.exe"):
        decode(b"x", name="a.exe")


def test_a_name_without_ending_is_plain_text() -> None:
    assert decode(b"x", name="README").media_type == "text/plain"
    assert decode(b"x", name=".hidden").media_type == "text/plain"


def test_a_long_first_line_is_no_title() -> None:
    assert decode(b"word " * 100, name="notes.txt").title == "notes"


def test_passages_of_markdown_stand_under_their_heading() -> None:
    text = "intro\n\n# One\nfirst\nline\n\nsecond\n\n## Two ##\n\nthird\n\nThree\n-----\nfourth\n"
    document = decode(text.encode(), name="a.md")
    assert document.title == "One"
    assert passages(document) == [
        ("One", "intro"),
        ("One", "# One"),
        ("One", "first\nline"),
        ("One", "second"),
        ("Two", "## Two ##"),
        ("Two", "third"),
        ("Three", "Three\n-----\nfourth"),
    ]


@pytest.mark.parametrize(
    ("hidden", "kept"),
    [
        ("a <!-- secret --> b", "a \n\n b"),
        ("a <!-- secret", "a \n\n"),
        ("a ~~secret~~ b", "a \n\n b"),
        ("a <del>secret</del> b", "a \n\n b"),
        ("a <script>secret</script> b", "a \n\n b"),
        ("a <span hidden>secret</span> b", "a \n\n b"),
        ("a <s>secret <s>secret</s> secret</s> b ~~secret~~", "a \n\n b \n\n"),
        ("~~a <!-- secret --> b~~ c", "\n\n c"),
        ("~~a\n\n<s>secret</s> b~~", "~~a\n\n\n\n b~~"),
        ('a <b style="display: none">secret</b> b', "a \n\n b"),
        ("[//]: # (secret)\nb", "\n\n\nb"),
        ("~~~\nkept\n~~~", "~~~\nkept\n~~~"),
        ("about ~~ 5 ~~ 6", "about ~~ 5 ~~ 6"),
        ("a ~ b ~ c", "a ~ b ~ c"),
        ("<details>shown</details>", "<details>shown</details>"),
    ],
)
def test_markdown_that_is_not_seen_is_no_source(hidden: str, kept: str) -> None:
    document = decode(hidden.encode(), name="a.md")
    assert document.text == kept
    assert "secret" not in document.text
    for _, passage in passages(document):
        assert passage in hidden


def test_a_table_has_a_passage_for_each_row() -> None:
    document = decode(b"name;seat\nAcme;Bonn\n\nBeta;Kiel", name="firms.csv")
    assert document.text == "name;seat\nAcme;Bonn\n\nBeta;Kiel"
    assert document.title == "firms"
    assert passages(document) == [
        ("firms", "name;seat"),
        ("firms", "Acme;Bonn"),
        ("firms", "Beta;Kiel"),
    ]


def test_a_json_corpus_has_a_passage_for_each_element() -> None:
    corpus = [{"title": "Ada", "text": "Born\r\n1815.", "more": 1}, {"title": "Bob", "text": "Ü"}]
    document = decode(json.dumps(corpus).encode(), name="corpus.json")
    assert document.text == "Ada\nBorn\n1815.\n\nBob\nÜ\n\n"
    assert passages(document) == [("Ada", "Ada\nBorn\n1815."), ("Bob", "Bob\nÜ")]
    assert document.title == "corpus"


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[1]",
        '[{"title": 1, "text": ""}]',
        '{"a": 1}',
        '[{"title": "a", "text": "\\ud800"}]',
        "[" * 9999,
    ],
)
def test_other_json_is_rejected(text: str) -> None:
    with pytest.raises(DocumentRejected, match=r"corpus\.json"):
        decode(text.encode(), name="corpus.json")


def test_an_empty_json_corpus_is_empty() -> None:
    with pytest.raises(DocumentRejected, match="empty"):
        decode(b"[]", name="corpus.json")


@pytest.mark.parametrize("join", [" ", "\n"])
def test_very_long_paragraphs_are_cut(join: str) -> None:
    words = [f"word{number}" for number in range(3000)]
    document = decode(join.join(words).encode(), name="a.txt")
    assert len(document.passages) > 3
    assert all(p.end - p.start <= LONGEST_PASSAGE for p in document.passages)
    assert " ".join(text for _, text in passages(document)).split() == words


@given(
    st.text(st.characters(exclude_categories=("Cs", "Cc"))),
    st.sampled_from(["a.txt", "a.md", "a.csv", "a.html"]),
)
def test_passages_are_ordered_apart_and_cover_all_that_is_not_blank(text: str, name: str) -> None:
    document = decode(("x\n\n" + text).encode(), name=name)
    position = 0
    for passage in document.passages:
        assert passage.start >= position
        assert not document.text[position : passage.start].strip()
        assert document.text[passage.start : passage.end].strip()
        position = passage.end
    assert not document.text[position:].strip()


@given(st.lists(st.sampled_from(["a", "é", "\n", "\r\n", "\r", "# h", " ", "👍"]), min_size=1))
def test_quotes_of_plain_text_stand_in_the_source(parts: list[str]) -> None:
    source = "x" + "".join(parts)
    document = decode(source.encode(), name="a.txt")
    assert document.text == source.replace("\r\n", "\n").replace("\r", "\n")


PIECES = [
    b"<![",
    b"<![CDATA[",
    b"<!x",
    b"<!DOCTYPE [<!ELEMENT",
    b"<?",
    b"]]>",
    b"&#x110000;",
    b"&#0;",
]
PIECES += [
    b"<script>",
    b"</",
    b"<p a=",
    b"'",
    b'"',
    b"<!--",
    b"--",
    b">",
    b"~~",
    b"\xff",
    b"\x00",
    b"{",
    b"[",
    b"a\n",
]


@given(
    st.lists(st.sampled_from(PIECES) | st.binary(max_size=4), max_size=12),
    st.sampled_from(["", ".gz"]),
)
def test_any_bytes_are_decoded_or_rejected(pieces: list[bytes], packing: str) -> None:
    data = b"".join(pieces)
    if packing:
        data = gzip.compress(data, mtime=0)
    for ending in ("txt", "md", "csv", "html", "json"):
        with suppress(DocumentRejected):
            document = decode(data, name=f"a.{ending}{packing}")
            assert document.text.strip()
            assert document.text_sha256
