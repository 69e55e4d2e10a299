"""The Hasse diagram of an order as SVG: broader above, lines for covers."""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Mapping
from xml.sax.saxutils import escape

from .poset import Poset

_CHARACTER, _PADDING, _HEIGHT, _NOTE, _GAP, _LAYER = 7.2, 10.0, 26.0, 13.0, 16.0, 78.0
_SWEEPS = 12
_LONGEST = 28
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_STYLE = (
    "text{font:12px ui-sans-serif,system-ui,sans-serif;fill:#1b1f24;text-anchor:middle}"
    ".note{font-size:10px;fill:#59636e}"
    "rect{fill:#f6f8fa;stroke:#59636e}.marked rect{fill:#fff8c5;stroke:#9a6700}"
    "polyline{stroke:#8c959f;stroke-width:1.2;fill:none}"
)

_Bend = tuple[str, str, int]
_Node = str | _Bend
"""An element, or where the line of a long cover (low, high) passes a layer."""


def draw_hasse(
    order: Poset,
    *,
    title: str,
    notes: Mapping[str, str] | None = None,
    marked: frozenset[str] = frozenset(),
) -> str:
    """Draw an order as a standalone SVG document; the same order always gives the same text.

    `notes` are small texts under labels, such as counts; `marked` elements stand out. Source:
    Sugiyama, Tagawa and Toda, Methods for visual understanding of hierarchical system structures
    (1981): layers by longest chain to the top, bends where covers skip layers, and of several
    sweeps by mean neighbours the layers with the fewest crossings; places are spread evenly.
    """
    layers, links = _layers(order)
    texts = {element: (notes or {}).get(element, "") for element in order.elements}
    widths: dict[_Node, float] = {
        node: _width(node, texts[node]) if isinstance(node, str) else _GAP
        for layer in layers
        for node in layer
    }
    total = max((sum(widths[n] + _GAP for n in layer) for layer in layers), default=0) + _GAP
    box_height = _HEIGHT + (_NOTE if any(texts.values()) else 0)
    centres: dict[_Node, tuple[float, float]] = {}
    for depth, layer in enumerate(layers):
        spare = (total - sum(widths[n] for n in layer)) / (len(layer) + 1)
        x = spare
        for node in layer:
            centres[node] = (x + widths[node] / 2, _GAP + box_height / 2 + depth * _LAYER)
            x += widths[node] + spare
    height = 2 * _GAP + box_height + max(len(layers) - 1, 0) * _LAYER
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total:.0f} {height:.0f}" '
        f'width="{total:.0f}" height="{height:.0f}" role="img">',
        f"<title>{_text(title)}</title>",
        f"<style>{_STYLE}</style>",
    ]
    for low, high in order.covers:
        (x1, y1), (x2, y2) = centres[low], centres[high]
        half = box_height / 2
        corners = [(x1, y1 - half)]
        for x, y in (centres[bend] for bend in links[low, high]):
            corners += [(x, y + half), (x, y - half)]
        corners.append((x2, y2 + half))
        lines.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in corners)}"/>')
    for layer in layers:
        for node in layer:
            if isinstance(node, str):
                lines += _box(
                    node,
                    centres[node],
                    (widths[node], box_height),
                    note=texts[node],
                    marked=node in marked,
                )
    return "\n".join([*lines, "</svg>", ""])


def _box(
    element: str,
    centre: tuple[float, float],
    size: tuple[float, float],
    *,
    note: str,
    marked: bool,
) -> list[str]:
    (x, y), (width, height) = centre, size
    opening = '<g class="marked">' if marked else "<g>"
    baseline = y + 4 - (_NOTE / 2 if note else 0)
    lines = [
        f"{opening}<title>{_text(element)}</title>",
        f'<rect x="{x - width / 2:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" '
        f'height="{height:.0f}" rx="5"/>',
        f'<text x="{x:.1f}" y="{baseline:.1f}">{_text(_shortened(element))}</text>',
    ]
    if note:
        below = baseline + _NOTE
        lines.append(f'<text class="note" x="{x:.1f}" y="{below:.1f}">{_text(note)}</text>')
    return [*lines, "</g>"]


def _layers(order: Poset) -> tuple[list[list[_Node]], dict[tuple[str, str], list[_Bend]]]:
    """Layers from the top, and the bends of each cover from low to high."""
    uppers: dict[str, list[str]] = defaultdict(list)
    for low, high in order.covers:
        uppers[low].append(high)
    depth: dict[str, int] = {}
    for element in sorted(order.elements, key=lambda e: (len(order.ancestors(e)), e)):
        depth[element] = max((depth[high] + 1 for high in uppers[element]), default=0)
    layers: list[list[_Node]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for element in order.elements:
        layers[depth[element]].append(element)
    above: dict[_Node, list[_Node]] = defaultdict(list)
    below: dict[_Node, list[_Node]] = defaultdict(list)
    links: dict[tuple[str, str], list[_Bend]] = {}
    for low, high in order.covers:
        bends = [(low, high, level) for level in range(depth[low] - 1, depth[high], -1)]
        links[low, high] = bends
        for bend in bends:
            layers[bend[2]].append(bend)
        route: list[_Node] = [low, *bends, high]
        for lower, upper in itertools.pairwise(route):
            above[lower].append(upper)
            below[upper].append(lower)
    best, fewest = [list(layer) for layer in layers], _crossings(layers, above)
    for sweep in range(_SWEEPS):
        neighbours = below if sweep % 2 else above
        for layer in reversed(layers) if sweep % 2 else layers:
            _sort(layer, layers, neighbours)
        crossings = _crossings(layers, above)
        if crossings < fewest:
            best, fewest = [list(layer) for layer in layers], crossings
    return best, links


def _sort(
    layer: list[_Node], layers: list[list[_Node]], neighbours: dict[_Node, list[_Node]]
) -> None:
    """Order a layer by the mean place of each node's neighbours; those without keep theirs."""
    place = {n: (i + 1) / (len(row) + 1) for row in layers for i, n in enumerate(row)}

    def mean(node: _Node) -> float:
        near = neighbours[node] or [node]
        return sum(place[other] for other in near) / len(near)

    layer.sort(key=mean)


def _crossings(layers: list[list[_Node]], above: dict[_Node, list[_Node]]) -> int:
    """How many pairs of lines between neighbouring layers cross."""
    count = 0
    for upper, lower in itertools.pairwise(layers):
        place = {node: i for i, node in enumerate(upper)}
        seen: list[int] = []
        for node in lower:
            ends = sorted(place[other] for other in above[node])
            count += sum(1 for end in ends for other in seen if other > end)
            seen += ends
    return count


def _width(element: str, note: str) -> float:
    longest = max(len(_shortened(element)), round(len(note) * 0.8))
    return longest * _CHARACTER + 2 * _PADDING


def _text(label: str) -> str:
    """A label as XML text; what XML cannot hold becomes the replacement character."""
    return escape(_NOT_XML.sub("\ufffd", label))


def _shortened(element: str) -> str:
    return element if len(element) <= _LONGEST else element[: _LONGEST - 1] + "…"
