"""Taxonomies of packs: classes with one line per edge, so that the line is the edge's quote."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kb.dimension import Dimension
from kb.document import Document, Passage
from kb.statement import Evidence, Statement, TaxonClass

from .normalize import fold
from .pack_file import PackNode, nearest

SUBCLASS_OF = "subclass_of"
TAXONOMY_READER = "taxonomy/1"


@dataclass(frozen=True, slots=True)
class Edge:
    """A class and its parent, with the half-open span of the line that says so."""

    child: str
    parent: str
    start: int
    end: int


@dataclass(frozen=True)
class Taxonomy:
    """Classes under one root, with other labels of classes and pairs that exclude each other.

    `edges` are in file order; `labels` maps a class to its other labels in file order; `disjoint`
    are sorted pairs. `text` is the file, the source that statements about classes quote.
    """

    name: str
    root: str
    edges: tuple[Edge, ...]
    labels: Mapping[str, tuple[str, ...]]
    disjoint: tuple[tuple[str, str], ...]
    file: str
    text: str

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """Every class including the root, sorted."""
        return tuple(sorted({self.root, *(edge.child for edge in self.edges)}))

    @cached_property
    def by_label(self) -> Mapping[str, str]:
        """The class for each folded label; preferred labels win."""
        found = {fold(label): name for name in sorted(self.labels) for label in self.labels[name]}
        found.update({fold(name): name for name in self.classes})
        return found

    def read(self, text: str) -> str | None:
        """Give the class a text names, or None."""
        folded = fold(text)
        return self.by_label.get(folded) or self.by_label.get(folded.removeprefix("the "))

    def nearest(self, text: str) -> str | None:
        """Give the label nearest to a text that names no class, or None."""
        return nearest(text, list(self.by_label))

    def document(self) -> Document:
        """Give the taxonomy file as a document, one passage."""
        data = self.text.encode()
        return Document(
            source_sha256=hashlib.sha256(data).hexdigest(),
            name=self.file,
            title=f"Taxonomy {self.name}",
            media_type="application/yaml",
            decoder="text/1",
            text=self.text,
            passages=(Passage(f"Taxonomy {self.name}", 0, len(self.text)),),
        )

    def statements(self) -> tuple[tuple[Statement, Evidence], ...]:
        """Give one `subclass_of` statement per edge, in file order, quoting its line."""
        document = self.document()
        text_sha256 = document.text_sha256
        grounded = []
        for edge in self.edges:
            statement = Statement(edge.child, SUBCLASS_OF, TaxonClass(edge.parent))
            evidence = Evidence(
                statement_id=statement.id,
                source_sha256=document.source_sha256,
                text_sha256=text_sha256,
                start=edge.start,
                end=edge.end,
                quote=self.text[edge.start : edge.end],
                extractor=TAXONOMY_READER,
            )
            grounded.append((statement, evidence))
        return tuple(grounded)


def taxonomy_of(dimension: Dimension) -> Taxonomy | None:
    """Give the classes and labels of a dimension that no pack declares; it quotes nothing."""
    order = dimension.taxonomy
    if order is None:
        return None
    labels: dict[str, tuple[str, ...]] = {}
    for name, label in dimension.alternatives:
        labels[name] = (*labels.get(name, ()), label)
    return Taxonomy(
        name=dimension.name,
        root=dimension.root or "",
        edges=tuple(Edge(child, parent, 0, 0) for child, parent in order.covers),
        labels=labels,
        disjoint=dimension.disjoint,
        file="",
        text="",
    )


def read_taxonomy(node: PackNode, text: str, file: str) -> Taxonomy:
    """Read a taxonomy file; problems are reported at their lines."""
    fields = node.fields(
        {"taxonomy", "root", "classes", "labels", "disjoint"},
        required={"taxonomy", "root", "classes"},
    )
    root = fields.text("root")
    lines = _line_spans(text)
    edges: list[Edge] = []
    seen: set[tuple[str, str]] = set()
    classes = fields.get("classes")
    for child, parents in classes.pairs() if classes is not None else ():
        for parent in parents.items():
            pair = (child.text(), parent.text())
            if pair in seen:
                child.complain(f"the edge {pair[0]!r}: {pair[1]!r} is given twice")
                continue
            seen.add(pair)
            start, end = lines[parent.line - 1]
            edges.append(Edge(*pair, start, end))
    known = {root, *(edge.child for edge in edges)}
    if classes is not None:
        _check_edges(classes, root, known)
    labels: dict[str, tuple[str, ...]] = {}
    owner = {fold(name): name for name in sorted(known)}
    labels_node = fields.get("labels")
    for key, value in labels_node.pairs() if labels_node is not None else ():
        name = key.text()
        if name not in known:
            key.complain(f"{name!r} is no class of this taxonomy{_near(name, known)}")
            continue
        for label in value.items():
            other = owner.setdefault(fold(label.text()), name)
            if other != name:
                label.complain(f"the label {label.text()!r} of {name!r} already names {other!r}")
        labels[name] = value.texts()
    return Taxonomy(
        name=fields.text("taxonomy"),
        root=root,
        edges=tuple(edges),
        labels=labels,
        disjoint=_disjoint(fields.get("disjoint"), known, edges),
        file=file,
        text=text,
    )


def _check_edges(classes: PackNode, root: str, known: set[str]) -> None:
    parents_of: dict[str, list[str]] = {}
    for child, parents in classes.pairs():
        if child.text() == root:
            child.complain(f"the root {root!r} has a parent; expected none")
        for parent in parents.items():
            parents_of.setdefault(child.text(), []).append(parent.text())
            if parent.text() not in known:
                parent.complain(
                    f"the parent {parent.text()!r} is no class of this taxonomy"
                    + _near(parent.text(), known)
                )
    for child, _ in classes.pairs():
        if child.text() in _ancestors(child.text(), parents_of):
            child.complain(f"the class {child.text()!r} is its own ancestor")


def _ancestors(name: str, parents_of: Mapping[str, Sequence[str]]) -> set[str]:
    reached: set[str] = set()
    rest = list(parents_of.get(name, ()))
    while rest:
        parent = rest.pop()
        if parent not in reached:
            reached.add(parent)
            rest.extend(parents_of.get(parent, ()))
    return reached


def _disjoint(
    node: PackNode | None, known: set[str], edges: list[Edge]
) -> tuple[tuple[str, str], ...]:
    """Read `[a, b, ...]` (pairwise disjoint) or `children of X` (its direct children are).

    A class below both of a pair could have no instance and is reported.
    """
    pairs: set[tuple[str, str]] = set()
    parents_of: dict[str, list[str]] = {}
    for edge in edges:
        parents_of.setdefault(edge.child, []).append(edge.parent)
    for item in node.items() if node is not None else ():
        if item.is_list():
            members = item.texts()
        else:
            parent = item.text().removeprefix("children of ")
            members = tuple(edge.child for edge in edges if edge.parent == parent)
            if not members:
                item.complain(
                    f"{item.text()!r} names no disjoint classes; "
                    "expected a list of classes or 'children of CLASS'"
                )
        for name in members:
            if name not in known:
                item.complain(f"{name!r} is no class of this taxonomy{_near(name, known)}")
        given = {
            (min(a, b), max(a, b)) for a in members for b in members if a != b and {a, b} <= known
        }
        for low in sorted(known):
            above = _ancestors(low, parents_of) | {low}
            for pair in sorted(given):
                if set(pair) <= above:
                    item.complain(
                        f"{low!r} lies below both {pair[0]!r} and {pair[1]!r}, which are disjoint"
                    )
        pairs |= given
    return tuple(sorted(pairs))


def _near(name: str, known: set[str]) -> str:
    near = nearest(name, known)
    return f"; nearest is {near!r}" if near else ""


def _line_spans(text: str) -> list[tuple[int, int]]:
    """Give the span of each line without its indentation and trailing blanks."""
    spans, start = [], 0
    for line in text.split("\n"):
        content = line.strip()
        offset = start + line.find(content)
        spans.append((offset, offset + len(content)))
        start += len(line) + 1
    return spans
