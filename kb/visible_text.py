"""The text a reader sees: Markdown and HTML without comments, scripts, struck-out and hidden parts.

What is taken out leaves a paragraph break, so that no passage, and no quote, spans it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser

_BREAK = "\n\n"

_OPENING = re.compile(
    r"<!--|(?<!~)~~(?![~\s])|<(?P<tag>[a-z][a-z0-9]*)\b(?P<attributes>[^<>]{0,500})>"
    r"|^[ ]{0,3}\[(?://|comment)\]:.*$",
    re.IGNORECASE | re.MULTILINE,
)
_STRIKE_END = re.compile(r"(?<![~\s])~~(?!~)")
_HIDING_TAGS = frozenset({"del", "s", "script", "strike", "style", "template"})
_HIDING_ATTRIBUTE = re.compile(r"\shidden\b(?!-)|display\s*:\s*none", re.IGNORECASE)


def visible_markdown(text: str) -> str:
    """Take out comments, struck-out text and hidden HTML elements; linear in the text."""
    pieces: list[str] = []
    position = paragraph_end = hopeless = 0
    for opening in _OPENING.finditer(text):
        start, end = opening.span()
        tag = opening["tag"]
        if start < position:
            continue
        if opening[0] == "<!--":
            closing = text.find("-->", end)
            stop = closing + 3 if closing >= 0 else len(text)
        elif opening[0] == "~~":
            if start < hopeless:
                continue
            if end > paragraph_end:
                paragraph_end = text.find("\n\n", end)
                paragraph_end = len(text) if paragraph_end < 0 else paragraph_end
            found = _STRIKE_END.search(text, end, paragraph_end)
            if found is None:
                hopeless = paragraph_end
                continue
            stop = found.end()
        elif tag is None:
            stop = end
        elif tag.lower() in _HIDING_TAGS or _HIDING_ATTRIBUTE.search(opening["attributes"]):
            stop = _element_end(text, tag, end)
        else:
            continue
        pieces += text[position:start], _BREAK
        position = stop
    return "".join([*pieces, text[position:]])


def _element_end(text: str, tag: str, position: int) -> int:
    """Give the end of an element whose content begins here; that of the text if none closes it."""
    depth = 1
    for found in re.compile(rf"<(/?){tag}\b[^<>]*>", re.IGNORECASE).finditer(text, position):
        depth += -1 if found[1] else 1
        if not depth:
            return found.end()
    return len(text)


def visible_html(source: str) -> tuple[str, str, list[tuple[int, str]]]:
    """Give the title, the visible text, and its headings with their positions, in order.

    White space is collapsed as browsers do; blocks are apart by a blank line, table cells by a tab.
    The title is that of `<title>`, else the first heading, else empty.
    """
    reader = _VisibleText(_hiding_selectors(source))
    reader.feed(source)
    reader.close()
    title = " ".join("".join(reader.title).split())
    if not title and reader.headings:
        title = reader.headings[0][1]
    return title, "".join(reader.pieces).rstrip() + "\n", reader.headings


_UNSEEN = frozenset(
    {
        "audio",
        "canvas",
        "datalist",
        "del",
        "head",
        "iframe",
        "noscript",
        "object",
        "s",
        "script",
        "strike",
        "style",
        "svg",
        "template",
        "textarea",
        "title",
        "video",
    }
)
_STYLE_TAG = re.compile(r"<(?P<close>/?)style\b", re.IGNORECASE)
_VOID = frozenset(
    {
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "param",
        "source",
        "track",
        "wbr",
    }
)
_BLOCKS = frozenset(
    {
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "caption",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "html",
        "legend",
        "li",
        "main",
        "nav",
        "ol",
        "option",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "tfoot",
        "thead",
        "tr",
        "ul",
    }
)
_CLOSED_BY = {
    "li": frozenset({"li"}),
    "dt": frozenset({"dt", "dd"}),
    "dd": frozenset({"dt", "dd"}),
    "td": frozenset({"td", "th"}),
    "th": frozenset({"td", "th"}),
    "tr": frozenset({"tr", "td", "th"}),
    "option": frozenset({"option"}),
}
_HEADING = re.compile(r"h[1-6]\Z")
_HIDING_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|line-through"
    r"|opacity\s*:\s*0*\.?0*\s*(?:;|!|\Z)|font-size\s*:\s*0+(?:\.0+)?[a-z%]*\s*(?:;|!|\Z)",
    re.IGNORECASE,
)


def _hiding_selectors(source: str) -> frozenset[str]:
    """Collect the plain selectors (`p`, `.old`, `#note`) that the page's own style sheets hide."""
    found: set[str] = set()
    for sheet in _style_sheets(source):
        for rule in re.sub(r"/\*.*?\*/", "", sheet, flags=re.DOTALL).split("}"):
            before, _, style = rule.rpartition("{")
            if _HIDING_STYLE.search(style):
                selectors = before.rpartition("{")[2].split(",")
                found.update(selector.strip() for selector in selectors)
    return frozenset(found)


def _style_sheets(source: str) -> Iterator[str]:
    start: int | None = None
    for tag in _STYLE_TAG.finditer(source):
        if not tag["close"]:
            start = tag.end() if start is None else start
        elif start is not None:
            yield source[start : tag.start()].partition(">")[2]
            start = None


class _VisibleText(HTMLParser):
    """Collects visible text; an element is unseen if it or one around it is."""

    def __init__(self, hiding: frozenset[str]) -> None:
        super().__init__(convert_charrefs=True)
        self.hiding = hiding
        self.pieces: list[str] = []
        self.title: list[str] = []
        self.headings: list[tuple[int, str]] = []
        self._length = 0
        self._open: list[tuple[str, bool]] = []
        self._pending = ""
        self._heading_start: int | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        closed = _CLOSED_BY.get(tag, frozenset())
        while self._open and self._open[-1][0] in closed:
            self._close_element()
        if self._open and self._open[-1][0] == "p" and tag in _BLOCKS:
            self._close_element()
        if tag == "body":  # an unclosed head hides nothing of the body
            self._open = [entry for entry in self._open if entry[0] != "head"]
        self._separate(tag)
        if tag in _VOID:
            return
        unseen = bool(self._open and self._open[-1][1]) or self._hides(tag, dict(attrs))
        self._open.append((tag, unseen))
        if unseen:
            self._ask(_BREAK)
        elif _HEADING.match(tag):
            self._heading_start = len(self.pieces)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if any(name == tag for name, _ in self._open):
            while self._close_element() != tag:
                pass
        self._separate(tag)

    def parse_marked_section(self, i: int, report: bool = False) -> int:
        """Skip `<![..>` as browsers do; the library fails on what it does not know."""
        return self.parse_bogus_comment(i, report)

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1][1]:
            if self._open[-1][0] == "title":
                self.title.append(data)
            return
        if any(name == "pre" for name, _ in self._open):
            self._write(data)
            return
        words = " ".join(data.split())
        if data[:1].isspace() or not words:
            self._ask(" ")
        if words:
            self._write(words)
            if data[-1:].isspace():
                self._ask(" ")

    def _close_element(self) -> str:
        tag, unseen = self._open.pop()
        if _HEADING.match(tag) and not unseen and self._heading_start is not None:
            pieces = self.pieces[self._heading_start :]
            heading = " ".join("".join(pieces).split())
            if heading:
                start = self._length - sum(map(len, pieces))
                self.headings.append((start + len(pieces[0]) - len(pieces[0].lstrip()), heading))
            self._heading_start = None
        self._separate(tag)
        return tag

    def _hides(self, tag: str, attributes: dict[str, str | None]) -> bool:
        return (
            tag in _UNSEEN
            or "hidden" in attributes
            or attributes.get("aria-hidden") == "true"
            or (tag == "dialog" and "open" not in attributes)
            or _HIDING_STYLE.search(attributes.get("style") or "") is not None
            or tag in self.hiding
            or f"#{attributes.get('id')}" in self.hiding
            or any(
                f".{name}" in self.hiding or f"{tag}.{name}" in self.hiding
                for name in (attributes.get("class") or "").split()
            )
        )

    def _separate(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._ask("\t")
        elif tag in ("br", "tr"):
            self._ask("\n")
        elif tag in _BLOCKS:
            self._ask(_BREAK)

    def _ask(self, separator: str) -> None:
        """Put the strongest separator asked for before the next text."""
        strength = (" ", "\t", "\n", _BREAK)
        if not self._pending or strength.index(separator) > strength.index(self._pending):
            self._pending = separator

    def _write(self, text: str) -> None:
        if self._pending and self.pieces:
            self.pieces.append(self._pending)
            self._length += len(self._pending)
        self._pending = ""
        self.pieces.append(text)
        self._length += len(text)
