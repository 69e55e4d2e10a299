"""What a rule lacks: an atom, a test that fails, or an absence that does not hold."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .atom import Atom, Constant, Variable, render_pattern


@dataclass(frozen=True, slots=True)
class Missing:
    """One thing a rule lacks; `detail` says why it is missing.

    `source` names what is missing where an absence or an aggregate, its text in `undetermined`,
    would need a complete source.

    `unknown_class` is a class that a value should lie under, and which no taxonomy holds.

    `atom` is what to find, its arguments resolved as far as known, and `expected` what the answer
    should be, where more than its kind is known. With `undetermined` it is a test of that text that
    cannot be decided; with `excluding` it is what should not hold, and does. `is_final` says that
    no fact can help this instance of the rule: the test is about values that its caller gave.
    """

    atom: Atom
    rule: str
    detail: str = ""
    undetermined: str = ""
    excluding: tuple[Atom, ...] = ()
    is_final: bool = False
    expected: str = ""
    source: str = ""
    unknown_class: Constant | None = None

    @property
    def text(self) -> str:
        """What is open: an atom, an absence that fails, or an undetermined test."""
        if self.undetermined:
            return self.undetermined
        return f"not {render_pattern(self.atom)}" if self.excluding else render_pattern(self.atom)

    def as_gap(self) -> Missing:
        """Give what would make an undetermined test unnecessary: another atom."""
        return self if self.source else replace(self, undetermined="")


@dataclass(frozen=True, slots=True)
class Derived:
    """A missing atom that rules conclude, called by `rule`.

    `instead` is what could be looked for where these rules cannot fire: another value of the atom
    that gave the arguments.
    """

    atom: Atom
    rule: str
    instead: Missing | None = None

    @property
    def key(self) -> str:
        """The call, whatever its variables are called."""
        return call_text(self.atom)


Need = Missing | Derived


def call_text(atom: Atom) -> str:
    """Write an atom with its variables numbered in order of occurrence."""
    names: dict[str, Variable] = {}
    arguments = tuple(
        names.setdefault(item.name, Variable(f"V{len(names) + 1}"))
        if isinstance(item, Variable)
        else item
        for item in atom.arguments
    )
    return str(Atom(atom.predicate, arguments, atom.negated))
