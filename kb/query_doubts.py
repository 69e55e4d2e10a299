"""What a query names and nothing has: a misspelt dimension finds no row, and nobody would notice.

A doubt is told beside the answer and changes nothing of it. Dimensions are told by IRIs in the data
namespace, graphs by IRIs behind GRAPH, FROM and FROM NAMED; what SERVICE asks elsewhere is not
ours.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

import pyoxigraph as ox

from . import vocabulary as iri
from .errors import KnowledgeError
from .query_budget import QueryOptions
from .rdf_quads import META, TYPE, VERDICTS, pw
from .sparql import Token, tokens

_NEAREST = 3
_NAMES_A_GRAPH = re.compile(r"graph\s*(?:<|[\w.-]*:)")
_SHORT = re.compile(r"\bd:([\w.%\\-]+)")
_ESCAPED = re.compile(r"\\(.)")


class QueryDoubts:
    """Looks names up in a store that others change."""

    def __init__(self, store: ox.Store, namespace: str) -> None:
        self._store = store
        self._namespace = namespace
        self._dimensions = iri.dimension_iri(namespace, "")
        self._named = re.compile(rf"<{re.escape(self._dimensions)}([^<>\s]+)>")
        self._known: set[str] = set()
        self._change = 0

    def of(self, text: str, options: QueryOptions, *, change: int) -> tuple[str, ...]:
        """Give the doubts about a query that can be read, in the order in which it names things.

        `change` is a number that grows with the changes of the store; what was found is remembered
        until the next.
        """
        if change != self._change:
            self._change = change
            self._known.clear()
        found = set(self._named.findall(text))
        if "d:" in text:
            found.update(_SHORT.findall(text))
        lower = text.lower()
        if (
            found <= self._known
            and f"<{self._dimensions}>" not in text
            and not options.default_graphs
            and not options.named_graphs
            and "from" not in lower
            and _NAMES_A_GRAPH.search(lower) is None
        ):
            return ()
        self._known |= {name for name in found if self._is_known(self._dimensions + name)}
        graphs = [*options.default_graphs, *options.named_graphs]
        doubts: dict[str, None] = {}
        for named, is_graph in self._names(text):
            if is_graph:
                graphs.append(named)
            elif named.startswith(self._dimensions) and not self._is_known(named):
                doubts[self._about_dimension(named)] = None
        for graph in graphs:
            if not self._is_graph(graph):
                doubts[f"there is no graph <{graph}>, so nothing is found in it"] = None
        return tuple(doubts)

    def _names(self, text: str) -> Iterator[tuple[str, bool]]:
        """Give the IRIs that a query names, and whether as a graph; none of a SERVICE clause."""
        prefixes = iri.prefixes(self._namespace)
        elsewhere: int | None = None  # depth of braces within a clause
        before: list[Token] = []
        for token in tokens(text):
            if token.kind == "space":
                continue
            if token.kind == "word" and token.text.upper() == "SERVICE":
                elsewhere = 0
            if elsewhere is not None:
                elsewhere += {"{": 1, "}": -1}.get(token.text, 0)
                if elsewhere == 0 and token.text == "}":
                    elsewhere = None
                continue
            words = [each.text.upper() for each in before[-2:] if each.kind == "word"]
            before.append(token)
            if token.kind == "iri":
                named = token.text[1:-1]
                if len(before) > 2 and before[-3].text.upper() == "PREFIX":
                    prefixes[before[-2].text.removesuffix(":")] = named
                    continue
            elif token.kind == "name" and words[-1:] != ["PREFIX"]:
                prefix, _, local = token.text.partition(":")
                if prefix not in prefixes:
                    continue
                named = prefixes[prefix] + _ESCAPED.sub(r"\1", local)
            else:
                continue
            if words[-1:] != ["BASE"]:
                yield named, words[-1:] in (["GRAPH"], ["FROM"]) or words == ["FROM", "NAMED"]

    def _is_known(self, named: str) -> bool:
        """Whether an IRI is that of a dimension: defined, or of a statement without definition."""
        node = _node(named)
        if node is None:
            return False
        look = self._store.quads_for_pattern
        places = (look(None, node, None), look(node, None, None), look(None, None, node))
        return any(next(place, None) is not None for place in places)

    def _is_graph(self, named: str) -> bool:
        node = _node(named)
        return node in (META, VERDICTS) or (
            node is not None and self._store.contains_named_graph(node)
        )

    def _about_dimension(self, named: str) -> str:
        try:
            name = iri.dimension_name(self._namespace, named)
        except KnowledgeError:
            name = named.removeprefix(self._dimensions)
        near = difflib.get_close_matches(name, self._defined(), n=_NEAREST)
        hint = f"; the nearest: {', '.join(near)}" if near else ""
        return f"no statement has the dimension {name}, and none is defined{hint}"

    def _defined(self) -> list[str]:
        quads = self._store.quads_for_pattern(None, TYPE, pw("Dimension"), ox.DefaultGraph())
        nodes = [quad.subject.value for quad in quads if isinstance(quad.subject, ox.NamedNode)]
        return sorted(iri.dimension_name(self._namespace, node) for node in nodes)


def _node(named: str) -> ox.NamedNode | None:
    try:
        return ox.NamedNode(named)
    except ValueError:  # relative to a BASE: nothing that we name
        return None
