"""Hasse diagrams."""

from __future__ import annotations

from itertools import pairwise
from xml.etree import ElementTree

from hypothesis import given
from poset_strategies import posets

from kb.hasse import draw_hasse
from kb.poset import Poset, poset

SVG = "{http://www.w3.org/2000/svg}"


@given(posets())
def test_every_element_is_a_box_and_every_cover_a_line_upwards(order: Poset) -> None:
    text = draw_hasse(order, title="An order")
    root = ElementTree.fromstring(text)
    boxes = {g.findtext(f"{SVG}title"): g.find(f"{SVG}rect") for g in root.iter(f"{SVG}g")}
    assert sorted(str(name) for name in boxes) == list(order.elements)
    lines = list(root.iter(f"{SVG}polyline"))
    assert len(lines) == len(order.covers)
    for line in lines:
        heights = [float(point.partition(",")[2]) for point in line.attrib["points"].split()]
        assert heights == sorted(heights, reverse=True)
        assert len(set(heights)) == len(heights) > 1
    extents = []
    for box in boxes.values():
        assert box is not None
        left, width = float(box.attrib["x"]), float(box.attrib["width"])
        assert left >= 0
        assert left + width <= float(root.attrib["width"])
        extents.append((box.attrib["y"], left, left + width))
    extents.sort()
    for (row, _, end), (next_row, start, _) in pairwise(extents):
        assert row != next_row or end < start
    assert draw_hasse(order, title="An order") == text


def test_labels_are_escaped_shortened_and_noted() -> None:
    order = poset([("a < b & c", "root"), ("x" * 40, "root"), ("\x00", "x" * 40)])
    text = draw_hasse(order, title='"<&', notes={"root": "3 instances"}, marked=frozenset({"root"}))
    root = ElementTree.fromstring(text)
    assert root.findtext(f"{SVG}title") == '"<&'
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert "a < b & c" in texts
    assert "x" * 27 + "…" in texts
    assert "3 instances" in texts
    assert [g.attrib.get("class") for g in root.iter(f"{SVG}g")] == ["marked", None, None, None]


def test_an_empty_order_is_an_empty_picture() -> None:
    assert ElementTree.fromstring(draw_hasse(poset([]), title="none")).find(f"{SVG}g") is None
