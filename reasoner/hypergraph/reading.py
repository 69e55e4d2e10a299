"""The JSON form of requirement hypergraphs (docs/hypergraph.md), with all problems reported."""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection, Iterable
from typing import Any

from ..errors import HypergraphRejected
from .graph import GraphAtom, Hyperedge, Hypergraph, Unit

FORMAT = "proofweave.hypergraph/1"

_HINTS = 20
_HINTS_UP_TO = 10_000
"""Looking for near names is slow: only for the first problems, among so many names."""

_FIELDS = {
    "": ("format", "atoms", "hyperedges", "units", "given", "goals", "contradictions"),
    "atoms": ("id", "text", "query", "expected"),
    "hyperedges": ("id", "tail", "head", "witness", "text", "cite"),
    "units": ("id", "states", "witnesses", "text", "source"),
}


def read_hypergraph(data: bytes | str, *, name: str) -> Hypergraph:
    """Read a hypergraph; `name` is what messages call the file.

    Raises HypergraphRejected with all problems, in the order of the file.
    """
    reader = _Reader(name)
    graph = reader.read(data)
    if reader.problems or graph is None:
        raise HypergraphRejected(name, tuple(reader.problems))
    return graph


def write_hypergraph(graph: Hypergraph) -> str:
    """Write a hypergraph canonically; what it reads back as is equal."""

    def entry(value: object, names: Iterable[str]) -> dict[str, object]:
        pairs = ((name, getattr(value, name)) for name in names)
        return {name: field for name, field in pairs if field not in ("", ()) or name == "tail"}

    body: dict[str, object] = {
        "format": FORMAT,
        "atoms": [
            found if len(found := entry(atom, _FIELDS["atoms"])) > 1 else atom.id
            for atom in graph.atoms
        ],
        "hyperedges": [entry(edge, _FIELDS["hyperedges"]) for edge in graph.hyperedges],
        "units": [entry(unit, _FIELDS["units"]) for unit in graph.units],
        "given": graph.given,
        "goals": graph.goals,
        "contradictions": graph.contradictions,
    }
    return json.dumps(body, ensure_ascii=False, indent=1) + "\n"


class _Reader:
    """Collects problems while it reads; each names its place in the file."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.problems: list[str] = []

    def fault(self, place: str, message: str) -> None:
        self.problems.append(f"{place}: {message}" if place else message)

    def _nearest(self, name: str, names: Collection[str]) -> str:
        if len(self.problems) >= _HINTS or len(names) > _HINTS_UP_TO:
            return ""
        near = difflib.get_close_matches(name, sorted(names), 1)
        return f"; did you mean {near[0]!r}?" if near else ""

    def read(self, data: bytes | str) -> Hypergraph | None:
        root = self._parse(data)
        if not isinstance(root, dict):
            if not self.problems:
                self.fault("", f"the top level is {_kind(root)}; expected an object")
            return None
        self._known_fields(root, "", "")
        if root.get("format") != FORMAT:
            self.fault("format", f"found {root.get('format')!r}; expected {FORMAT!r}")
        atoms = self._atoms(root)
        ids = frozenset(atom.id for atom in atoms)
        edges = self._edges(root, ids)
        units = self._units(root, ids, frozenset(edge.id for edge in edges))
        offered = {edge: unit.id for unit in reversed(units) for edge in unit.witnesses}
        return Hypergraph(
            tuple(sorted(atoms, key=lambda atom: atom.id)),
            tuple(sorted(self._witnessed(edges, root, offered), key=lambda edge: edge.id)),
            tuple(sorted(units, key=lambda unit: unit.id)),
            tuple(sorted(set(self._references(root, "given", "", ids, "atom")))),
            tuple(sorted(set(self._references(root, "goals", "", ids, "atom")))),
            self._pairs(root, ids),
        )

    def _parse(self, data: bytes | str) -> Any:
        try:
            text = data if isinstance(data, str) else data.decode("utf-8-sig")
            return json.loads(text, object_pairs_hook=self._object, parse_constant=self._constant)
        except UnicodeDecodeError as error:
            self.fault("", f"byte {error.start} is not UTF-8; expected JSON in UTF-8")
        except json.JSONDecodeError as error:
            place = f"line {error.lineno} column {error.colno}"
            self.fault("", f"{place} is not JSON ({error.msg}); expected one object")
        except RecursionError:
            self.fault("", "brackets are nested too deeply; expected at most lists in objects")
        return None

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            seen: set[str] = set()
            twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]  # add gives None, on purpose
            self.fault("", f"field {twice!r} stands twice in one object; expected it once")
        return found

    def _constant(self, text: str) -> None:
        self.fault("", f"{text} is no JSON value; expected a string, list or object")

    def _known_fields(self, entry: dict[str, Any], kind: str, place: str) -> None:
        for field in entry:
            if field not in _FIELDS[kind]:
                near = self._nearest(field, _FIELDS[kind])
                listed = ", ".join(_FIELDS[kind])
                self.fault(place, f"no field {field!r}; expected {listed}{near}")

    def _list(self, entry: dict[str, Any], field: str, place: str) -> list[Any]:
        found = entry.get(field, [])
        if isinstance(found, list):
            return found
        self.fault(_at(place, field), f"found {_kind(found)}; expected a list")
        return []

    def _text(self, entry: dict[str, Any], field: str, place: str) -> str:
        found = entry.get(field, "")
        if isinstance(found, str):
            self._encodable(found, _at(place, field))
            return found
        self.fault(_at(place, field), f"found {_kind(found)}; expected a string")
        return ""

    def _id(self, found: Any, place: str, seen: dict[str, str]) -> str | None:
        if not isinstance(found, str) or not found.strip():
            shown = "an empty string" if isinstance(found, str) else _kind(found)
            self.fault(place, f"found {shown}; expected a non-empty string as id")
            return None
        if found in seen:
            self.fault(place, f"id {found!r} is taken by {seen[found]}; expected a new one")
            return None
        self._encodable(found, place)
        seen[found] = place.removesuffix(".id")
        return found

    def _encodable(self, text: str, place: str) -> None:
        if not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
            self.fault(place, f"{text!a} holds half a surrogate pair; expected Unicode text")

    def _entries(self, root: dict[str, Any], kind: str) -> Iterable[tuple[str, dict[str, Any]]]:
        for index, entry in enumerate(self._list(root, kind, "")):
            place = f"{kind}[{index}]"
            if kind == "atoms" and isinstance(entry, str):
                yield place, {"id": entry}
            elif isinstance(entry, dict):
                self._known_fields(entry, kind, place)
                yield place, entry
            else:
                wanted = "a string or an object" if kind == "atoms" else "an object"
                self.fault(place, f"found {_kind(entry)}; expected {wanted}")

    def _references(
        self, entry: dict[str, Any], field: str, place: str, ids: Collection[str], kind: str
    ) -> list[str]:
        found = []
        for index, name in enumerate(self._list(entry, field, place)):
            if self._is_known(name, f"{_at(place, field)}[{index}]", ids, kind):
                found.append(name)
        return found

    def _is_known(self, name: Any, place: str, ids: Collection[str], kind: str) -> bool:
        if not isinstance(name, str):
            self.fault(place, f"found {_kind(name)}; expected the id of an {kind}")
        elif name not in ids:
            near = self._nearest(name, ids)
            self.fault(place, f"no {kind} {name!r}; expected one that is listed{near}")
        else:
            return True
        return False

    def _atoms(self, root: dict[str, Any]) -> list[GraphAtom]:
        if "atoms" not in root:
            self.fault("atoms", "found nothing; expected the list of all atoms")
        atoms = []
        seen: dict[str, str] = {}
        for place, entry in self._entries(root, "atoms"):
            found = self._id(entry.get("id"), f"{place}.id", seen)
            texts = (self._text(entry, field, place) for field in _FIELDS["atoms"][1:])
            if found is not None:
                atoms.append(GraphAtom(found, *texts))
        return atoms

    def _edges(self, root: dict[str, Any], ids: Collection[str]) -> list[Hyperedge]:
        edges = []
        seen: dict[str, str] = {}
        for place, entry in self._entries(root, "hyperedges"):
            found = self._id(entry.get("id"), f"{place}.id", seen)
            if "tail" not in entry:
                self.fault(f"{place}.tail", "found nothing; expected a list of atoms, maybe empty")
            tail = self._references(entry, "tail", place, ids, "atom")
            head = entry.get("head")
            known = self._is_known(head, f"{place}.head", ids, "atom")
            witness = entry.get("witness", False)
            if not isinstance(witness, bool):
                self.fault(f"{place}.witness", f"found {_kind(witness)}; expected true or false")
            texts = [self._text(entry, field, place) for field in ("text", "cite")]
            if found is not None:
                target = str(head) if known else ""
                edges.append(
                    Hyperedge(found, tuple(sorted(set(tail))), target, witness is True, *texts)
                )
        return edges

    def _units(
        self, root: dict[str, Any], ids: Collection[str], edges: Collection[str]
    ) -> list[Unit]:
        units = []
        seen: dict[str, str] = {}
        for place, entry in self._entries(root, "units"):
            found = self._id(entry.get("id"), f"{place}.id", seen)
            states = self._references(entry, "states", place, ids, "atom")
            witnesses = self._references(entry, "witnesses", place, edges, "hyperedge")
            texts = [self._text(entry, field, place) for field in ("text", "source")]
            if found is not None:
                units.append(
                    Unit(found, tuple(sorted(set(states))), tuple(sorted(set(witnesses))), *texts)
                )
        return units

    def _witnessed(
        self, edges: list[Hyperedge], root: dict[str, Any], offered: dict[str, str]
    ) -> Iterable[Hyperedge]:
        """Mark edges that a unit witnesses; such an edge may not say that it needs none."""
        denied = {
            entry.get("id")
            for entry in self._list(root, "hyperedges", "")
            if isinstance(entry, dict) and entry.get("witness") is False
        }
        for edge in edges:
            unit = offered.get(edge.id)
            if unit is not None and edge.id in denied:
                self.fault(
                    f"hyperedge {edge.id!r}",
                    f"needs no witness, yet unit {unit!r} witnesses it; expected witness true",
                )
            witness = edge.witness or unit is not None
            yield Hyperedge(edge.id, edge.tail, edge.head, witness, edge.text, edge.cite)

    def _pairs(self, root: dict[str, Any], ids: Collection[str]) -> tuple[tuple[str, str], ...]:
        pairs = set()
        for index, entry in enumerate(self._list(root, "contradictions", "")):
            place = f"contradictions[{index}]"
            if not isinstance(entry, list) or len(entry) != 2:
                self.fault(place, f"found {_kind(entry)}; expected a list of two atoms")
                continue
            known = [self._is_known(x, f"{place}[{i}]", ids, "atom") for i, x in enumerate(entry)]
            if not all(known):
                continue
            one, other = sorted(entry)
            if one == other:
                self.fault(place, f"{one!r} contradicts itself; expected two different atoms")
            pairs.add((one, other))
        return tuple(sorted(pairs))


def _at(place: str, field: str) -> str:
    return f"{place}.{field}" if place else field


def _kind(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case str():
            return f"the string {value[:40]!r}"
        case int() | float():
            return f"the number {value}"
        case list():
            return f"a list of {len(value)}"
    return "an object"
