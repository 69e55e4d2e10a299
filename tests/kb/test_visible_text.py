from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb.document import decode
from kb.visible_text import visible_html, visible_markdown


def text_of(source: str) -> str:
    return visible_html(source)[1].rstrip("\n")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("<p>One  \n two</p><p>three</p>", "One two\n\nthree"),
        ("<p>a<b>b</b>c <i>d</i></p>", "abc d"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c<td>d</table>", "a\tb\nc\td"),
        ("<ul><li>a<li>b</ul>c", "a\n\nb\n\nc"),
        ("<pre>a\n  b</pre>", "a\n  b"),
        ("&lt;M&uuml;ller&#8364;&gt;", "<Müller€>"),
        ("<div>a<p>b<p>c</div>d", "a\n\nb\n\nc\n\nd"),
    ],
)
def test_layout_follows_the_elements(source: str, text: str) -> None:
    assert text_of(source) == text


@pytest.mark.parametrize(
    "hidden",
    [
        "<!-- secret -->",
        "<![if secret]>",
        "<script>var secret;</script>",
        "<style>.secret {}</style>",
        "<noscript>secret</noscript>",
        "<template>secret</template>",
        "<textarea>secret</textarea>",
        "<del>secret</del>",
        "<s>secret</s>",
        "<strike>secret</strike>",
        "<span hidden>secret</span>",
        '<span hidden="until-found">secret</span>',
        '<div style="DISPLAY : none">secret <b>secret</b></div>',
        '<span style="visibility:hidden">secret</span>',
        '<span style="text-decoration: line-through">secret</span>',
        '<span style="font-size:0px">secret</span>',
        '<span style="opacity: 0;">secret</span>',
        '<span aria-hidden="true">secret</span>',
        "<dialog>secret</dialog>",
        '<span class="x old">secret</span>',
        '<p id="draft">secret</p>',
        '<input type="hidden" value="secret">',
        '<img alt="secret">',
    ],
)
def test_what_is_not_seen_is_no_source(hidden: str) -> None:
    style = "@media screen { a { color: red } .old, /* } */ #draft { color: red; display: none } }"
    page = f"<style>{style}</style>before {hidden} after"
    assert text_of(page).split() == ["before", "after"]


@pytest.mark.parametrize(
    "shown",
    [
        '<span style="font-size:0.9em">seen</span>',
        '<span style="opacity:0.5">seen</span>',
        "<dialog open>seen</dialog>",
        "<details><summary>seen</summary></details>",
        '<span class="older">seen</span>',
        "<ins>seen</ins>",
    ],
)
def test_what_is_seen_stays(shown: str) -> None:
    assert "seen" in text_of(f"<style>.old {{ display: none }}</style>{shown}")


def test_hidden_text_parts_passages() -> None:
    document = decode(b"<p>insured up to <del>5</del> 3 EUR</p>", name="a.html")
    texts = [document.text[p.start : p.end] for p in document.passages]
    assert texts == ["insured up to", "3 EUR"]


def test_an_element_that_is_never_closed_does_not_hide_the_rest() -> None:
    assert text_of("<head><title>T<body><p>seen") == ""  # as in browsers, a title runs on
    assert text_of("<head><body><p>seen") == "seen"
    assert text_of("<p>a<br>b</i></div>c") == "a\nb\n\nc"


def test_titles_and_headings() -> None:
    page = (
        "<html><head><title> The \n page </title></head><body><h1>One</h1><p>a</p>"
        "<h2>Two <b>bold</b></h2><p>b</p><h3 hidden>No</h3><p>c</p></body></html>"
    )
    title, text, headings = visible_html(page)
    assert title == "The page"
    assert [(text[start:].partition("\n")[0], name) for start, name in headings] == [
        ("One", "One"),
        ("Two bold", "Two bold"),
    ]
    document = decode(page.encode(), name="a.html")
    assert [p.title for p in document.passages] == [
        "One",
        "One",
        "Two bold",
        "Two bold",
        "Two bold",
    ]


def test_without_a_title_the_first_heading_is_it() -> None:
    assert decode(b"<p>x</p><h2>Head</h2>", name="a.html").title == "Head"
    assert decode(b"<p>words</p>", name="a.html").title == "words"


@given(
    st.lists(
        st.sampled_from(
            [
                "<p>",
                "</p>",
                "<s>",
                "</s>",
                "<h1>",
                "</h1>",
                "<td>",
                "<li>",
                "</x",
                "a",
                " ",
                "<!--",
                "-->",
                "<pre>",
                "&amp",
            ]
        )
    )
)
def test_any_tag_soup_is_read(parts: list[str]) -> None:
    _, text, headings = visible_html("".join(parts))
    for start, title in headings:
        assert " ".join(text[start : start + len(title) * 4 + 9].split()).startswith(title)


@given(st.text(alphabet="a<!->~\n "))
def test_visible_markdown_is_a_part_of_the_source(text: str) -> None:
    position = 0
    for piece in visible_markdown(text).split("\n\n"):
        for line in piece.split("\n"):
            position = text.index(line, position) + len(line)
