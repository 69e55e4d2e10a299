"""Which derived atoms are certain when some comparisons are undetermined.

Evaluation finds what is *possible*: undetermined comparisons count as true. The certain atoms are
the closure of the instances without a doubt; it is computed only when one occurred, and grows with
the evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from .facts import Signature
from .relation import Row

Record = tuple[int, ...]
"""A captured instance: clause number, then the ids of its values in the order of its slots."""

Ground = tuple[Signature, Row]


class Certainty:
    """The growing closure of undoubted records.

    Source: Dowling and Gallier 1984, linear-time unit propagation for Horn formulae.
    """

    __slots__ = (
        "_body",
        "_certain",
        "_doubts",
        "_head",
        "_is_stated",
        "_next",
        "_records",
        "_waiting",
    )

    def __init__(
        self,
        records: Sequence[Record],
        doubts: Mapping[Record, object],
        *,
        head: Callable[[Record], Ground],
        body: Callable[[Record], Sequence[Ground]],
        is_stated: Callable[[Ground], bool],
    ) -> None:
        self._records, self._doubts = records, doubts
        self._head, self._body, self._is_stated = head, body, is_stated
        self._next = 0
        self._certain: set[Ground] = set()
        self._waiting: dict[Ground, list[tuple[list[int], Ground]]] = {}

    def holds(self, ground: Ground) -> bool:
        """Whether an atom is stated, or certain by the records so far."""
        if self._is_stated(ground):
            return True
        self._advance()
        return ground in self._certain

    def _advance(self) -> None:
        for at in range(self._next, len(self._records)):
            record = self._records[at]
            if record in self._doubts:
                continue
            head = self._head(record)
            if head in self._certain:
                continue
            missing = {
                premise
                for premise in self._body(record)
                if premise not in self._certain and not self._is_stated(premise)
            }
            if not missing:
                self._derive(head)
                continue
            counter = [len(missing)]
            for premise in missing:
                self._waiting.setdefault(premise, []).append((counter, head))
        self._next = len(self._records)

    def _derive(self, ground: Ground) -> None:
        queue = [ground]
        for derived in queue:
            if derived in self._certain:
                continue
            self._certain.add(derived)
            for counter, head in self._waiting.pop(derived, ()):
                counter[0] -= 1
                if counter[0] == 0:
                    queue.append(head)
