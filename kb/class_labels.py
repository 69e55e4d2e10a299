"""Which class of a taxonomy a text names: by its label, another label, or either up to case."""

from __future__ import annotations

import difflib
import unicodedata
from collections import defaultdict

from .dimension import Dimension
from .errors import ValueUnreadable


class ClassLabels:
    """The labels of a taxonomic dimension.

    A dimension that nobody has defined has no classes, and every text names one.
    """

    def __init__(self, dimension: Dimension | None) -> None:
        self._name = dimension.name if dimension else ""
        self._order = dimension.taxonomy if dimension else None
        self._others: dict[str, set[str]] = defaultdict(set)
        self._folded: dict[str, set[str]] = defaultdict(set)
        if dimension is None or self._order is None:
            return
        for label, other in dimension.alternatives:
            self._others[other].add(label)
        for label in self._order.elements:
            self._folded[_fold(label)].add(label)
        for other, meant in self._others.items():
            self._folded[_fold(other)] |= meant

    def read(self, text: str) -> str:
        """Give the class that a text names.

        Its own label wins over others, and both over those that differ in case or in white space.
        Raises ValueUnreadable, naming the nearest label, for a text that names none or several.
        """
        if self._order is None or text in self._order:
            return text
        meant = self._others.get(text) or self._folded.get(_fold(text)) or set()
        if len(meant) == 1:
            return next(iter(meant))
        if meant:
            which = " or ".join(sorted(meant))
            raise ValueUnreadable(f"{text!r} may mean {which} in {self._name}; say which")
        near = difflib.get_close_matches(text, sorted({*self._order.elements, *self._others}), n=3)
        hint = f"; nearest: {', '.join(near)}" if near else ""
        raise ValueUnreadable(f"{self._name} has no class {text!r}{hint}")


def _fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).casefold().split())
