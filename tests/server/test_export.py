"""The page for reviewers: quotes in context, every step once, deep proofs, nothing from outside."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from proofweave.v1 import common_pb2
from proofweave.v1 import reasoning_pb2 as pb

from reasoner.verdict import AbstentionCode, Verdict
from server.export.html import CODE_MEANING, KIND_LABEL, MEANING, render_html
from server.export.outline import DEEPEST, outline
from server.export.quotation import quotation
from server.export.wording import plain_atom, plain_term, sentence, shortened
from server.offline import decide_files
from server.settings import Settings


class Structure(HTMLParser):
    """Checks that tags close in order; collects ids and links."""

    VOID = frozenset({"meta", "br"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what opens."""
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            assert name not in ("src", "srcset", "onclick", "onload")
            if name == "id":
                self.ids.append(value or "")
            if name == "href":
                self.links.append(value or "")

    def handle_endtag(self, tag: str) -> None:
        """Check what closes."""
        assert self.open.pop() == tag


def page_of(goal: str, rules: str, facts: str) -> str:
    """Decide a goal and render its certificate with the text of its facts."""
    request = pb.Goal(goal=goal, policy_text=rules, facts_text=facts, valid_on="2026-03-01")
    decision = decide_files(request, common_pb2.Budget(), pb.ENGINE_AUTO, Settings())
    certificate = json.loads(decision.certificate_content)
    texts = {source["text_sha256"]: facts for source in certificate["sources"].values()}
    return render_html(certificate, texts)


CASES = {
    "certified": ("path(a, c)", "edge(a, b).\nedge(b, c).\n"),
    "answers": ("path(a, X)", "edge(a, b).\nedge(b, c).\n"),
    "abstained": ("path(c, a)", "edge(a, b).\nedge(b, c).\n"),
    "refuted": ("path(b, a)", "edge(a, b).\n-edge(b, a).\n"),
    "markup": ('path("<script>", "&")', 'edge("<script>", "&").\n'),
}
RULES = (
    "%! policy: ways\n%! version: 1\n\n"
    '%! rule: direct\n%! cite: Way 1\n%! says: "{X} leads to {Y}"\npath(X, Y) :- edge(X, Y).\n'
    "%! rule: further\n%! cite: Way 2\npath(X, Z) :- path(X, Y), edge(Y, Z).\n"
    "%! rule: closed\n%! cite: Way 3\n-path(X, Y) :- -edge(X, Y).\n"
)


@pytest.mark.parametrize("case", CASES)
def test_a_page_is_well_formed_and_its_links_lead_somewhere(case: str) -> None:
    page = page_of(CASES[case][0], RULES, CASES[case][1])
    structure = Structure()
    structure.feed(page)
    assert structure.open == []
    assert len(structure.ids) == len(set(structure.ids))
    assert all(link.startswith("#") and link[1:] in structure.ids for link in structure.links)
    assert "<script" not in page
    assert "//" not in page.replace("/* */", "")


def test_a_quote_is_marked_in_its_context() -> None:
    page = page_of("path(a, c)", RULES, "edge(a, b).\nedge(b, c).\n")
    assert "<mark>edge(a, b).</mark>" in page
    assert "line 2" in page
    assert "Way 2" in page


def test_a_deep_proof_is_drawn_without_recursion(tmp_path: Path) -> None:
    count = 1_500
    facts = "".join(f"edge({number}, {number + 1}).\n" for number in range(count))
    page = page_of(f"path(0, {count})", RULES, facts)
    structure = Structure()
    structure.feed(page)
    assert page.count('class="quote"') == count
    (tmp_path / "deep.html").write_text(page)


def test_the_outline_draws_every_step_once() -> None:
    premises = {"top": ["left", "right"], "left": ["leaf"], "right": ["leaf"], "leaf": []}
    lines = outline(["top"], premises)
    assert [(line.step, line.depth, line.repeats) for line in lines] == [
        ("top", 0, False),
        ("left", 1, False),
        ("leaf", 2, False),
        ("right", 1, False),
        ("leaf", 2, True),
    ]
    assert [line.closes for line in lines] == [0, 0, 2, 0, 3]


def test_a_chain_goes_on_as_a_tree_of_its_own() -> None:
    length = DEEPEST * 3
    premises = {str(number): [str(number + 1)] for number in range(length)} | {str(length): []}
    lines = outline(["0"], premises)
    drawn = [line.step for line in lines if not line.repeats]
    assert drawn == [str(number) for number in range(length + 1)]
    assert max(line.depth for line in lines) <= DEEPEST + 1


def test_a_quotation_keeps_to_its_paragraph_and_names_its_place() -> None:
    text = "# Title\n\nFirst.\n\n## Cover\n\nBefore. The cover is 5. After.\n\nNext."
    quote = "The cover is 5."
    start = text.index(quote)
    found = quotation(quote, start, start + len(quote), text)
    assert (found.before, found.after) == ("Before. ", " After.")
    assert (found.heading, found.line) == ("Cover", 7)
    assert found.matches
    assert not quotation("The cover is 6.", start, start + len(quote), text).matches
    assert not quotation(quote, start, start + len(quote), None).in_context


def test_words_lose_their_notation() -> None:
    assert plain_term('@quantity("5000000 EUR")') == "5\u202f000\u202f000 EUR"
    assert plain_term('@date("2026-01")') == "2026-01"
    assert plain_term('"Acme \\"GmbH\\""') == 'Acme "GmbH"'
    assert plain_term("1952") == "1952"
    assert plain_atom('-liability_cover("A", 5)') == "denied: liability cover: A, 5"
    assert plain_atom('@quantity("5 EUR") >= @quantity("1 EUR")') == "5 EUR >= 1 EUR"
    statement = '"st:' + "0" * 32 + '"'
    assert plain_atom(f"cover(a, 5, {statement})") == "cover: a, 5"
    assert plain_term('"doc:abc"', {"abc": "Letter"}) == "“Letter”"
    assert shortened(f"cover(a, {statement})") == 'cover(a, "st:00000000…")'
    assert sentence("{S} is {X}", {"S": '"Acme"'}) == "Acme is {X}"


def test_every_verdict_and_code_is_explained() -> None:
    assert set(MEANING) == {verdict.value for verdict in Verdict}
    assert set(CODE_MEANING) == {code.value for code in AbstentionCode}
    assert "rule" in KIND_LABEL
