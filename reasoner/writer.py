"""Writes the ids of an evaluation back as terms, rows as atoms; each text and atom once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from .atom import Atom, Constant, render_term
from .facts import Signature
from .relation import Row
from .slice import AtomPremise
from .terms import Terms


class _Texts(dict[int, str]):
    """Canonical texts of terms by id."""

    def __init__(self, value: Callable[[int], Constant]) -> None:
        super().__init__()
        self._value = value

    def __missing__(self, number: int) -> str:
        found = self[number] = render_term(self._value(number))
        return found


class _Atoms(dict[Row, Atom]):
    """Atoms of one signature by row."""

    def __init__(self, terms: Terms, signature: Signature) -> None:
        super().__init__()
        self._terms, self._signature = terms, signature

    def __missing__(self, row: Row) -> Atom:
        found = self[row] = self._terms.atom(self._signature, row)
        return found


class _Premises(dict[Row, AtomPremise]):
    """Positive premises of one signature by row."""

    def __init__(self, atom: Callable[[Row], Atom]) -> None:
        super().__init__()
        self._atom = atom

    def __missing__(self, row: Row) -> AtomPremise:
        found = self[row] = AtomPremise(self._atom(row))
        return found


class Writer:
    """Writes ids of one table of constants."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.text: Callable[[int], str] = _Texts(terms.value).__getitem__
        self._atoms: dict[Signature, Callable[[Row], Atom]] = {}
        self._premises: dict[Signature, Callable[[Row], AtomPremise]] = {}

    def row_text(self, signature: Signature, row: Row) -> str:
        """Give the text of the atom of a row."""
        if not row:
            return signature[0]
        return f"{signature[0]}({', '.join(map(self.text, row))})"

    def atom(self, signature: Signature) -> Callable[[Row], Atom]:
        """Give the function from rows to atoms."""
        found = self._atoms.get(signature)
        if found is None:
            found = self._atoms[signature] = _Atoms(self.terms, signature).__getitem__
        return found

    def premise(self, signature: Signature) -> Callable[[Row], AtomPremise]:
        """Give the function from rows to positive premises."""
        found = self._premises.get(signature)
        if found is None:
            found = self._premises[signature] = _Premises(self.atom(signature)).__getitem__
        return found

    def ranks(self, numbers: Iterable[int]) -> Callable[[int], int]:
        """Give the function from ids to their places by text; equal texts have one place."""
        texts = {number: self.text(number) for number in numbers}
        places: dict[str, int] = {}
        for text in sorted(texts.values()):
            places.setdefault(text, len(places))
        return {number: places[text] for number, text in texts.items()}.__getitem__

    def sort(self, rows: list[Row]) -> None:
        """Sort rows of one length by the texts of their terms from the second on."""
        columns: Sequence[tuple[int, ...]] = list(zip(*rows, strict=True))[1:]
        if len(rows) < 2 or not columns:
            return
        rank = self.ranks(set().union(*columns))
        keys = zip(*[map(rank, column) for column in columns], strict=True)
        rows[:] = [row for _, _, row in sorted(zip(keys, range(len(rows)), rows, strict=True))]
