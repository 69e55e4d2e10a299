"""Facts: ground atoms with the leaves that support them, and the indexed base that holds them."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from kb.statement import (
    ALWAYS,
    Entity,
    Evidence,
    Modality,
    Polarity,
    Statement,
    TaxonClass,
    Text,
    Validity,
)

from .atom import Atom, Constant, Variable, is_predicate_name

Signature = tuple[str, int]
Row = tuple[int, ...]
Key = int | Row
Positions = tuple[int, ...]
Lookup = Callable[[Key], Sequence[Row]]


@dataclass(frozen=True, slots=True)
class Fact:
    """A ground atom that sources state.

    `leaf` names what supports it: a statement id (`st:...`) of the knowledge base or of a facts
    file, `provenance`, `identity`, `request`, or `assumed` for an assumption of the request.
    Several statements may give one atom: then there are several facts, and `leaf` order decides
    which is cited first. The fact is visible on the days of `validity`.
    """

    atom: Atom
    leaf: str
    validity: Validity = ALWAYS


def fact_id(atom: Atom) -> str:
    """Give the statement id of a fact of a facts file: `st:` and a digest of its text."""
    return f"st:{hashlib.sha256(str(atom).encode()).hexdigest()[:32]}"


def gives_facts(statement: Statement) -> bool:
    """Whether policies see a statement: asserted, of a dimension that can name a predicate."""
    return statement.modality is Modality.ASSERTED and is_predicate_name(statement.dimension)


def term_of(statement: Statement) -> Constant:
    """Give the value of a statement as policies see it: names, classes and texts are texts."""
    match statement.value:
        case Entity(text) | TaxonClass(text) | Text(text):
            return text
        case value:
            return value


def facts_of(
    statement_id: str, statement: Statement, evidence: Sequence[Evidence]
) -> tuple[Fact, ...]:
    """Give the facts of a statement: `d(S, V)`, `d(S, V, St)` and where it is stated.

    A statement that policies do not see gives none; a denial gives `-d(..)`.
    """
    if not gives_facts(statement):
        return ()
    name, subject, value = statement.dimension, statement.subject, term_of(statement)
    validity, negated = statement.validity, statement.polarity is Polarity.DENIED
    return (
        Fact(Atom(name, (subject, value), negated), statement_id, validity),
        Fact(Atom(name, (subject, value, statement_id), negated), statement_id, validity),
        *(
            Fact(Atom("stated_in", (statement_id, f"doc:{source}")), "provenance")
            for source in sorted({item.source_sha256 for item in evidence})
        ),
    )


Stating = tuple[str, Validity]
"""What states a row: a leaf, and when it holds."""

Stated = tuple[int, int, int, str, Validity]
"""A statement in ids: subject, value, statement id; then its leaf and validity."""


class Relation:
    """The rows of one signature, with indexes that are built when first asked for.

    Rows are in the order they came. A row is `bounded` if everything that states it is. Rows that
    come from statements are cut from them, `width` columns of each, when first asked for.
    """

    __slots__ = ("_bounded", "_indexes", "_rows", "_source", "_width", "arity")

    def __init__(self, arity: int, source: Sequence[Stated] | None = None) -> None:
        self.arity = arity
        self._source, self._width = source, arity
        self._rows: dict[Row, tuple[Stating, ...]] = {}
        self._bounded: dict[Row, tuple[Stating, ...]] = {}
        self._indexes: dict[Positions, dict[Key, Sequence[Row]]] = {}

    def add(self, row: Row, leaf: str, validity: Validity) -> None:
        """Add what states a row."""
        _add_row(self._rows, self._bounded, row, (leaf, validity))

    def _fill(self) -> None:
        source, width = self._source, self._width
        if source is None:
            return
        rows: dict[Row, tuple[Stating, ...]] = {}
        bounded: dict[Row, tuple[Stating, ...]] = {}
        for stated in source:
            row: Row = stated[:2] if width == 2 else stated[:3]
            _add_row(rows, bounded, row, stated[3:])
        # Published in one step each, the mark last: another thread fills again or finds all.
        self._rows, self._bounded = rows, bounded
        self._source = None

    @property
    def rows(self) -> dict[Row, tuple[Stating, ...]]:
        """Every row with what states it, by leaf."""
        if self._source is not None:
            self._fill()
        return self._rows

    def index(self, positions: Positions) -> dict[Key, Sequence[Row]]:
        """Give rows by their values at `positions`: a bare id for one position, else a tuple."""
        found = self._indexes.get(positions)
        if found is None:
            grouped: dict[Key, list[Row]] = {}
            if not positions:
                grouped[()] = list(self.rows)
            elif len(positions) == 1:
                (at,) = positions
                for row in self.rows:
                    grouped.setdefault(row[at], []).append(row)
            elif len(positions) == self.arity:
                grouped = {row: [row] for row in self.rows}
            else:
                for row in self.rows:
                    grouped.setdefault(tuple([row[at] for at in positions]), []).append(row)
            # Published in one step: another thread sees no index or all of it.
            found = self._indexes[positions] = dict(grouped)
        return found

    def lookup(self, positions: Positions, day: datetime.date | None) -> Lookup:
        """Give the function from a key to the rows that are visible on `day`."""
        get = self.index(positions).get
        bounded = self._bounded
        if day is None or not bounded:
            return lambda key: get(key, ())

        def visible(key: Key) -> Sequence[Row]:
            rows = get(key, ())
            if any(row in bounded for row in rows):
                return [
                    row
                    for row in rows
                    if row not in bounded
                    or any(validity.holds_on(day) for _, validity in bounded[row])
                ]
            return rows

        return visible


def _add_row(
    rows: dict[Row, tuple[Stating, ...]],
    bounded: dict[Row, tuple[Stating, ...]],
    row: Row,
    stating: Stating,
) -> None:
    others = rows.get(row)
    if others is None:
        rows[row] = (stating,)
        if stating[1] is not ALWAYS:
            bounded[row] = (stating,)
    elif stating not in others:
        together = tuple(sorted((*others, stating), key=_leaf_order))
        rows[row] = together
        if any(validity is ALWAYS for _, validity in together):
            bounded.pop(row, None)
        else:
            bounded[row] = together


class FactBase:
    """An indexed, unchanging set of facts; constants are interned, rows are tuples of their ids.

    `with_facts` lays further facts over it without touching it. Building costs about 2 us per
    fact; each index is built at the first lookup that needs it. Several threads may read one base.
    """

    __slots__ = ("_added_ids", "_added_values", "_ids", "_layers", "_signatures", "_values")

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        self._ids: dict[Constant, int] = {}
        self._values: list[Constant] = []
        self._added_ids: dict[Constant, int] = {}
        self._added_values: list[Constant] = []
        self._layers: dict[Signature, tuple[Relation, ...]] = {}
        self._signatures: frozenset[Signature] | None = None
        self._add(facts, self._ids, self._values, 0)

    @staticmethod
    def of_statements(
        statements: Iterable[tuple[str, Statement, Sequence[Evidence]]],
    ) -> FactBase:
        """Give the base of the facts that `facts_of` gives of each, with its id and evidence.

        Faster than by way of facts: rows with the statement, and where it is stated, are made when
        a policy first asks for them.
        """
        base = FactBase()
        ids, values = base._ids, base._values

        def intern(value: Constant) -> int:
            number = ids.get(value)
            if number is None:
                number = ids[value] = len(values)
                values.append(value)
            return number

        stated: dict[str, list[Stated]] = {}
        provenance: list[Stated] = []
        for statement_id, statement, evidence in statements:
            if not gives_facts(statement):
                continue
            sign = "-" if statement.polarity is Polarity.DENIED else ""
            rows = stated.setdefault(sign + statement.dimension, [])
            number = intern(statement_id)
            rows.append(
                (
                    intern(statement.subject),
                    intern(term_of(statement)),
                    number,
                    statement_id,
                    _lasting(statement.validity),
                )
            )
            for source in sorted({item.source_sha256 for item in evidence}):
                document = intern(f"doc:{source}")
                provenance.append((number, document, document, "provenance", ALWAYS))
        for name, source_rows in stated.items():
            for arity in (2, 3):
                base._layers[name, arity] = (Relation(arity, source_rows),)
        if provenance:
            base._layers["stated_in", 2] = (Relation(2, provenance),)
        return base

    def _add(
        self, facts: Iterable[Fact], ids: dict[Constant, int], values: list[Constant], first: int
    ) -> None:
        base = self._ids if first else ids
        fresh: dict[Signature, Relation] = {}
        for fact in facts:
            atom = fact.atom
            row: list[int] = []
            for argument in atom.arguments:
                if isinstance(argument, Variable):
                    raise ValueError(f"the fact {atom} holds a variable; facts are ground")
                number = base.get(argument)
                if number is None:
                    number = ids.get(argument)
                    if number is None:
                        number = ids[argument] = first + len(values)
                        values.append(argument)
                row.append(number)
            signature = atom.signature
            relation = fresh.get(signature)
            if relation is None:
                relation = fresh[signature] = Relation(signature[1])
            relation.add(tuple(row), fact.leaf, _lasting(fact.validity))
        for signature, relation in fresh.items():
            self._layers[signature] = (*self._layers.get(signature, ()), relation)

    def with_facts(self, facts: Iterable[Fact]) -> FactBase:
        """Give a base with further facts; the cost depends on what was and is laid over only."""
        laid = FactBase()
        laid._ids, laid._values = self._ids, self._values
        laid._added_ids, laid._added_values = dict(self._added_ids), list(self._added_values)
        laid._layers = dict(self._layers)
        laid._signatures = None
        laid._add(facts, laid._added_ids, laid._added_values, max(len(self._values), 1))
        return laid

    def signatures(self) -> frozenset[Signature]:
        """Give predicate (with `-` for denials) and arity of everything stated, on any day."""
        found = self._signatures
        if found is None:
            found = self._signatures = frozenset(self._layers)
        return found

    def facts(self) -> Iterator[Fact]:
        """Give every fact, whatever its validity, by signature and then as it came."""
        terms = self.terms()
        for signature in sorted(self._layers):
            for relation in self._layers[signature]:
                for row, statings in relation.rows.items():
                    atom = terms.atom(signature, row)
                    yield from (Fact(atom, *stating) for stating in statings)

    def __len__(self) -> int:
        return sum(
            len(statings)
            for layers in self._layers.values()
            for relation in layers
            for statings in relation.rows.values()
        )

    def match(self, pattern: Atom, valid_on: datetime.date | None) -> tuple[Fact, ...]:
        """Give the visible facts that match an atom, by (text, leaf).

        A variable matches anything, the same value wherever it stands twice.
        """
        positions, key_parts = [], []
        places: dict[str, list[int]] = {}
        terms = self.terms()
        for at, argument in enumerate(pattern.arguments):
            if isinstance(argument, Variable):
                places.setdefault(argument.name, []).append(at)
            else:
                positions.append(at)
                key_parts.append(terms.intern(argument))
        key: Key = key_parts[0] if len(key_parts) == 1 else tuple(key_parts)
        rows = self.lookup(pattern.signature, tuple(positions), valid_on)(key)
        found = [
            fact
            for row in rows
            if all(len({row[at] for at in group}) == 1 for group in places.values())
            for fact in self.facts_at(pattern.signature, row, valid_on, terms)
        ]
        return tuple(sorted(found, key=lambda fact: (str(fact.atom), fact.leaf)))

    def lookup(
        self, signature: Signature, positions: Positions, valid_on: datetime.date | None
    ) -> Lookup:
        """Give the function from a key (values at `positions`) to the visible rows."""
        layers = self._layers.get(signature, ())
        if not layers:
            return _nothing
        if len(layers) == 1:
            return layers[0].lookup(positions, valid_on)
        lookups = [layer.lookup(positions, valid_on) for layer in layers]
        return lambda key: list(dict.fromkeys(chain(*[look(key) for look in lookups])))

    def states(self, signature: Signature, row: Row, valid_on: datetime.date | None) -> bool:
        """Whether a visible fact gives the row."""
        return bool(self._statings(signature, row, valid_on))

    def _statings(
        self, signature: Signature, row: Row, valid_on: datetime.date | None
    ) -> Sequence[Stating]:
        layers = self._layers.get(signature, ())
        if len(layers) == 1:
            found: Sequence[Stating] = layers[0].rows.get(row, ())
        else:
            several = chain(*[layer.rows.get(row, ()) for layer in layers])
            found = sorted(several, key=_leaf_order)
        if valid_on is None:
            return found
        return [
            stating for stating in found if stating[1] is ALWAYS or stating[1].holds_on(valid_on)
        ]

    def facts_at(
        self,
        signature: Signature,
        row: Row,
        valid_on: datetime.date | None,
        terms: Terms | None = None,
    ) -> tuple[Fact, ...]:
        """Give the visible facts of one row, by leaf; `terms` may be those of an evaluation."""
        found = self._statings(signature, row, valid_on)
        if not found:
            return ()
        atom = (terms or self.terms()).atom(signature, row)
        return tuple([Fact(atom, *stating) for stating in found])

    def terms(self) -> Terms:
        """Give a table of constants for one evaluation, which may add its own."""
        return Terms(self._ids, self._values, dict(self._added_ids), list(self._added_values))


def _lasting(validity: Validity) -> Validity:
    """Give ALWAYS itself for a validity without bounds, so that it can be told by identity."""
    return ALWAYS if validity.start is None and validity.end is None else validity


def _leaf_order(stating: Stating) -> tuple[str, str, str]:
    leaf, validity = stating
    return leaf, str(validity.start or ""), str(validity.end or "")


def _nothing(_: Key) -> Sequence[Row]:
    return ()


class Terms:
    """Constants by id and ids by constant: those of a base, and those added since."""

    __slots__ = ("_added_ids", "_added_values", "_first", "_ids", "_values")

    def __init__(
        self,
        ids: dict[Constant, int],
        values: list[Constant],
        added_ids: dict[Constant, int],
        added_values: list[Constant],
    ) -> None:
        self._ids, self._values = ids, values
        self._added_ids, self._added_values = added_ids, added_values
        self._first = max(len(values), 1)

    def intern(self, value: Constant) -> int:
        """Give the id of a constant, adding it if it is new."""
        number = self._ids.get(value)
        if number is None:
            number = self._added_ids.get(value)
            if number is None:
                number = self._added_ids[value] = self._first + len(self._added_values)
                self._added_values.append(value)
        return number

    def value(self, number: int) -> Constant:
        """Give the constant of an id."""
        first = self._first
        return self._values[number] if number < first else self._added_values[number - first]

    def atom(self, signature: Signature, row: Row) -> Atom:
        """Give the atom of a row."""
        name, value = signature[0], self.value
        negated = name[0] == "-"
        arguments = tuple([value(number) for number in row])
        return Atom(name[1:] if negated else name, arguments, negated)
