"""Rules and policies, read from the text of a policy, and the order in which a body is walked."""

from __future__ import annotations

import functools
import itertools
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from .arithmetic import Tree
from .format import reject
from .language import Reader, Unreadable, name_anonymous, without_comments, write

Bindings = dict[str, str]
"""Values of variables, as canonical terms."""
Arguments = tuple[str | None, ...]
"""Arguments of a call or an answer as canonical terms; None where unbound."""
Ground = tuple[str, Arguments]
"""An atom as signature, `p/2` or `-p/2`, and arguments."""

PRELUDE_SHA256 = "f5f63f4afaabfa980ea18ccc46fadd4b83db13c43dca250c73825619fc505f87"
"""Digest of the rules that stand beside every policy."""
PRELUDE_HEADS = frozenset(
    (
        *("under/2", "alias/2", "stated_by/4", "may_coincide/2", "in_taxonomy/1"),
        *("told_apart/2", "told_disjoint/2"),
    )
)
"""What these rules conclude."""
NEVER_STATED = PRELUDE_HEADS | {"valid_on/1", "stated_in/2", "same_name/2"}
"""What follows from rules, the request, evidence or spelling; no source states it."""
IDENTITY = "prelude.identity:"
"""Begins the names of rules that carry a predicate over to other names of an entity."""
VALUE_RULES = {
    "prelude.one_value:": (
        '-{d}(X, V) :- {d}(X, W), functional("{d}"), told_apart(W, V).',
        "{{X}} has one {d}, which is {{W}}; nothing lies under both {{W}} and {{V}}",
    ),
    "prelude.one_value_named:": (
        '-{d}(X, V) :- {d}(X, W), functional("{d}"), folded(W) != folded(V), '
        "not in_taxonomy(W), not in_taxonomy(V), not may_coincide(W, V).",
        "{{X}} has one {d}, which is {{W}} and not {{V}}",
    ),
    "prelude.disjoint_values:": (
        "-{d}(X, V) :- {d}(X, W), told_disjoint(W, V).",
        "the {d} of {{X}} is {{W}}, which excludes {{V}}",
    ),
}
"""Rules by which one value of a dimension excludes another: text and sentence, by their names."""
COMPLETE_ORDER = frozenset(("may_coincide/2", "in_taxonomy/1"))
"""What is closed because taxonomies and names are complete for meets (as the request has them)."""
DECIDED_BY_ORDER = COMPLETE_ORDER | {"under/2", "told_apart/2", "told_disjoint/2"}
"""What the order of values decides: where it refuses a value, another value is asked for."""
DECLARATIONS = frozenset(("functional/1", "disjoint/2"))
"""What declarations say."""
NEVER_RENAMED = frozenset(
    (
        *("stated_in/2", "valid_on/1", "same_name/2", "document_kind/2", "issuer/2"),
        *("issued_on/2", "same_as/2", "subclass_of/2"),
    )
)
"""What is not carried over to other names of an entity."""
_SIDES = ("left", "right", "result")
ANONYMOUS = re.compile(r"_[0-9]+\Z")

# ---------------------------------------------------------------- atoms


def signature(tree: Tree) -> str:
    """Give `p/2` or `-p/2`."""
    return f"{'-' if tree['negated'] else ''}{tree['predicate']}/{len(tree['arguments'])}"


def complement(sign: str) -> str:
    """Give the strong negation of a signature or an atom."""
    return sign[1:] if sign[0] == "-" else f"-{sign}"


def arguments(tree: Tree, bindings: Mapping[str, str]) -> Arguments:
    """Give the arguments of an atom as canonical terms, None for unbound variables."""
    return tuple(
        [
            bindings.get(item["variable"]) if "variable" in item else write(item)
            for item in tree["arguments"]
        ]
    )


def match(tree: Tree, row: Arguments, bindings: Bindings) -> Bindings | None:
    """Bind the variables of an atom to a row or a call; None where they disagree."""
    found = bindings.copy()
    for item, value in zip(tree["arguments"], row, strict=True):
        if value is None:
            continue
        known = found.setdefault(item["variable"], value) if "variable" in item else write(item)
        if known != value:
            return None
    return found


def agrees(pattern: Arguments, row: Arguments) -> bool:
    """Whether a row answers a call."""
    return all(item in (None, value) for item, value in zip(pattern, row, strict=True))


def read_atom(text: str, rejection: str) -> tuple[str, Arguments, Tree]:
    """Read an atom as signature, arguments and tree, or reject what is none."""
    try:
        reader = Reader(without_comments(text)[0], is_goal=True)
        tree = reader.atom()
        reader.accept(".")
        if reader.kind != "end":
            raise Unreadable(f"unexpected {reader.token!r} after an atom", reader.start)
    except Unreadable as error:
        reject(rejection, f"{text!r} is no atom: {error}")
    name_anonymous(tree, itertools.count(1))
    return signature(tree), arguments(tree, {}), tree


def written(tree: Tree) -> str:
    """Write an atom with variables canonically: those without a name as `_`."""
    names = [item.get("variable", "") for item in tree["arguments"]]
    return write(tree, {name: "_" for name in names if ANONYMOUS.match(name)})


def write_call(sign: str, call: Arguments) -> str:
    """Write a signature with arguments, `_` for what is unbound."""
    inner = ", ".join(["_" if item is None else item for item in call])
    name = sign.rpartition("/")[0]
    return f"{name}({inner})" if call else name


def writer(tree: Tree) -> Callable[[Bindings], str]:
    """Make a fast writer of an atom under bindings that hold all its variables."""
    names = [item["variable"] for item in tree["arguments"] if "variable" in item]
    pattern = write(tree, dict.fromkeys(names, "\x00")).replace("%", "%%").replace("\0", "%s")
    if not names:
        return lambda _: pattern.replace("%%", "%")
    getter = operator.itemgetter(*names)
    return lambda bindings: pattern % getter(bindings)


# ---------------------------------------------------------------- rules


def names_in(*trees: Tree) -> frozenset[str]:
    """Give the names of the variables of atoms or expressions."""
    found, waiting = set[str](), [*trees]
    for tree in waiting:  # grows meanwhile
        found.update([tree["variable"]] if "variable" in tree else ())
        waiting += tree.get("arguments", ())
    return frozenset(found)


class Literal:
    """A body literal made ready: its kind, its content as `tree`, its text under bindings.

    `names` are the variables it shares with its clause, `inside` those between the braces of an
    aggregate. An equation defines if one of its sides is a variable that no atom of the body
    holds: then it is true if both sides are the same value, elsewhere it compares. `defined` are
    such variables, each with the names in the other side.
    """

    __slots__ = ("conditions", "defined", "inside", "kind", "names", "sign", "text", "tree")

    def __init__(self, tree: Tree) -> None:
        ((self.kind, content),) = tree.items()
        self.tree: Tree = content
        self.sign = signature(content) if "predicate" in content else ""
        self.defined: list[tuple[str, frozenset[str]]] = []
        self.conditions = read_body(content.get("conditions", ()))
        self.inside = names_in(*content.get("terms", ())) | _all_names(self.conditions)
        self.names = names_in(content, *(content[key] for key in _SIDES if key in content))
        self.text: Callable[[Bindings], str] = functools.partial(write, tree)
        if self.kind == "positive":
            self.text = writer(content)
        elif self.kind == "absent":
            self.names = frozenset(name for name in self.names if not ANONYMOUS.match(name))

    def signs(self) -> Iterator[str]:
        """Yield the signatures it reads."""
        yield from (item.sign for item in (self, *self.conditions) if item.sign)


def read_body(trees: Sequence[Tree]) -> list[Literal]:
    """Make the literals of a body ready."""
    body = [Literal(tree) for tree in trees]
    held = _all_names(item for item in body if item.kind == "positive")
    for literal in body:
        if literal.tree.get("operator") == "=":
            sides = [literal.tree[key] for key in _SIDES if key in literal.tree]
            literal.defined = [
                (side["variable"], names_in(*(other for other in sides if other is not side)))
                for side in sides
                if "variable" in side and side["variable"] not in held
            ]
    return body


def _all_names(body: Iterable[Literal]) -> frozenset[str]:
    return frozenset[str]().union(*(item.names for item in body))


class Rule:
    """A rule made ready. `variables` are those that a binding must give."""

    def __init__(
        self, name: str, tree: Tree, text: str, cite: str | None, says: str | None
    ) -> None:
        self.id, self.tree, self.text, self.cite, self.says = name, tree, text, cite, says
        self.head: Tree = tree["head"]
        self.sign = signature(self.head)
        self.head_text = writer(self.head)
        self.head_names = names_in(self.head)
        self.body = read_body(tree["body"])
        self.variables = self.head_names | _all_names(
            literal for literal in self.body if literal.kind != "absent"
        )
        self._plans: dict[frozenset[str], list[Planned]] = {}

    def plan(self, bound: Iterable[str]) -> list[Planned]:
        """Give the body in the order in which it is walked for a call that knows `bound`."""
        key = frozenset(bound)
        if key not in self._plans:
            self._plans[key] = ordered(self.body, set(key), self.head_names)
        return self._plans[key]

    def called(self, call: Arguments) -> Bindings | None:
        """Bind the head to a call; None where it answers none such.

        A fact about everything, such as `under(V, V)`, answers only where the call binds it.
        """
        bindings = match(self.head, call, {})
        if bindings is None or not (self.body or self.head_names <= bindings.keys()):
            return None
        return bindings


class Planned(NamedTuple):
    """A body literal in its place: `assigns` is the variable it computes, if it does.

    Of an aggregate, `shared` are the names it shares with its clause, `inner` its conditions.
    """

    literal: Literal
    assigns: str = ""
    shared: frozenset[str] = frozenset()
    inner: tuple[Planned, ...] = ()


def ordered(body: Sequence[Literal], bound: set[str], outer: frozenset[str]) -> list[Planned]:
    """Order a body: whatever only checks or computes as soon as it can.

    Of the atoms the first with a known variable is next, else the first with a constant, else the
    first. Any order would be sound; this one makes the calls that a witness lists.
    """
    waiting, plan = list(body), list[Planned]()
    while waiting:
        ready = (_ready(literal, body, bound, outer) for literal in waiting)
        planned = next((item for item in ready if item is not None), None)
        if planned is None:
            planned = Planned(min(waiting, key=lambda literal: _rank(literal, bound)))
        waiting.remove(planned.literal)
        plan.append(planned)
        bound |= planned.literal.names
    return plan


def _rank(literal: Literal, bound: set[str]) -> int:
    if literal.kind != "positive":
        return 4
    if literal.names & bound:
        return 0
    if any("variable" not in item for item in literal.tree["arguments"]):
        return 1
    return 3 if literal.sign == "under/2" else 2


def _ready(
    literal: Literal, body: Sequence[Literal], bound: set[str], outer: frozenset[str]
) -> Planned | None:
    """Place a literal that can be checked or computed now."""
    free = literal.names - bound
    name = next((name for name, others in literal.defined if free == {name} - others), "")
    if free and not name:
        return None
    name = name if free else ""
    if literal.kind != "aggregate":
        return Planned(literal, name)
    shared = literal.inside & (outer | _all_names(body))
    if not shared <= bound:
        return None
    return Planned(literal, name, shared, tuple(ordered(literal.conditions, set(shared), shared)))
