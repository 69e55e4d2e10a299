"""Turn a logical form into a typed plan: one step per hop, names looked up, unions defined."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from reasoner import plan
from reasoner.hop import Definition, DimensionType, Direction, Elapsed, Hop, Path
from reasoner.plan import (
    Bound,
    Candidate,
    Condition,
    Constraint,
    Count,
    Exclusion,
    Extremum,
    Given,
    Holds,
    Meet,
    Named,
    Operand,
    Order,
    Period,
    Plan,
    Reference,
    Same,
    Step,
    Superlative,
    Threshold,
)

from .logical_form import (
    Alike,
    Anything,
    Ask,
    Best,
    Both,
    Bounded,
    Comparand,
    CountCriterion,
    Criterion,
    Form,
    HowMany,
    Image,
    Matching,
    Member,
    Name,
    Ordered,
    Pick,
    Question,
    Relation,
    Several,
    Typed,
    Types,
    Value,
    Without,
)
from .names import Disambiguated, Exact, NameIndex, SameName, UnknownName, disambiguator
from .question_lexicon import Lexicon
from .question_tokens import words_of


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A meaning without a plan, because a name has several readings."""

    message: str
    readings: tuple[str, ...]


class _SeveralReadings(Exception):
    """Unwinds to `plan_of`; never leaves this file."""

    def __init__(self, outcome: Ambiguous) -> None:
        self.outcome = outcome


def plan_of(
    question: str,
    meaning: Question,
    lexicon: Lexicon,
    names: NameIndex,
    *,
    is_past: bool,
    stated: Collection[str] | None = None,
) -> Plan | Ambiguous:
    """Give the plan of a meaning, or the readings of a name that is ambiguous.

    A relation that may be several dimensions is one of the `stated` ones where there are any.
    Raises PlanInvalid for a meaning whose steps do not fit together.
    """
    builder = _Builder(lexicon, names, stated)
    try:
        builder.question(meaning)
    except _SeveralReadings as several:
        return several.outcome
    definitions = tuple(builder.definitions[name] for name in sorted(builder.definitions))
    used = set(builder.dimensions)
    for definition in definitions:
        used.update(definition.uses)
    known = lexicon.types.dimensions
    implying = {name for name, each in known.items() if each.inverse in used}
    steps = tuple(builder.steps)
    if used and used <= lexicon.without_return:
        steps = _without_return(steps, lexicon.types)
    return Plan(
        question=question,
        steps=steps,
        dimensions=tuple(known[name] for name in sorted(used | implying)),
        definitions=definitions,
        period=Period.ANY if is_past else Period.VALID_ON,
        notes=tuple(builder.notes),
    )


def _without_return(steps: tuple[Step, ...], types: Types) -> tuple[Step, ...]:
    """Exclude the entity a chain starts from wherever the chain arrives at its type again."""
    first = steps[0]
    if not isinstance(first, Meet) or not isinstance(first.conditions[0], Constraint):
        return steps
    start = first.conditions[0].operand
    exclusion = Exclusion(start)
    kept: list[Step] = [first]
    for step in steps[1:]:
        if isinstance(step, Meet) and exclusion not in step.conditions:
            last = step.conditions[0]
            returns = isinstance(last, Constraint) and types.agree(
                types.sources(first.conditions[0].hop) or ("?",), types.targets(last.hop)
            )
            step = Meet((*step.conditions, exclusion)) if returns else step
        kept.append(step)
    return tuple(kept)


@dataclass
class _Builder:
    lexicon: Lexicon
    names: NameIndex
    stated: Collection[str] | None = None
    steps: list[Step] = field(default_factory=list)
    dimensions: set[str] = field(default_factory=set)
    definitions: dict[str, Definition] = field(default_factory=dict)
    notes: dict[str, None] = field(default_factory=dict)

    def question(self, meaning: Question) -> None:
        match meaning:
            case Ask(of):
                self.add_meet(self.conditions(of))
            case HowMany(of):
                self.steps.append(Count(self.add_meet(self.conditions(of))))
            case Pick(among, criterion):
                self.steps.append(self.extremum(among, criterion))
            case Best(_, of, criterion):
                (hop,) = self.hops(criterion.relation)
                whom = None if of is None else self.add_meet(self.conditions(of))
                self.steps.append(Superlative(whom, hop.dimension, criterion.extreme))
            case Alike(among, relation):
                ends = tuple(
                    self.follow(relation, self.operand(member, self.starts(relation)))
                    for member in among.members
                )
                self.steps.append(Same(ends))
            case Matching(left, right):
                first = self.add_meet(self.conditions(left))
                self.steps.append(Same((first, self.add_meet(self.conditions(right)))))
            case Ordered(of, comparands):
                values = self.add_meet(self.conditions(of))
                self.steps.append(Order(values, self.thresholds(comparands)))
            case Member(member, of):
                whole = self.add_meet(self.conditions(of))
                one = self.operand(member)
                assert isinstance(one, Named | Given), "a member is named"
                self.steps.append(Holds(one, whole))

    def extremum(self, among: Several, criterion: Criterion | CountCriterion) -> Extremum:
        candidates = []
        for member in among.members:
            entity = self.operand(member, self.starts(criterion.relation))
            assert isinstance(entity, Named | Reference), "candidates are entities"
            measure = self.follow(criterion.relation, entity)
            if isinstance(criterion, CountCriterion):
                self.steps.append(Count(measure))
                measure = Reference(len(self.steps) - 1)
            candidates.append(Candidate(entity, measure))
        return Extremum(tuple(candidates), criterion.extreme)

    def thresholds(self, comparands: tuple[Comparand, ...]) -> tuple[Threshold, ...]:
        found = []
        for comparand in comparands:
            operand = self.operand(comparand.value)
            assert isinstance(operand, Reference | Given), "a threshold is a value"
            found.append(Threshold(comparand.operator, operand))
        return tuple(found)

    def add_meet(self, conditions: tuple[Condition, ...]) -> Reference:
        step = Meet(conditions)
        if step in self.steps:
            return Reference(self.steps.index(step))
        self.steps.append(step)
        return Reference(len(self.steps) - 1)

    def conditions(self, form: Form) -> tuple[Condition, ...]:
        """Give the conditions under which something is a member of a form's set."""
        match form:
            case Image(relation, of):
                operand = self.operand(of, self.starts(relation))
                hops = self.hops(relation)
                for hop in hops[:-1]:
                    operand = self.add_meet((Constraint(hop, operand),))
                return (Constraint(hops[-1], operand),)
            case Both(left, right):
                return self.conditions(left) + self.conditions(right)
            case Without(of, excluded):
                return (*self.conditions(of), Exclusion(self.operand(excluded)))
            case Bounded(relation, comparands):
                (hop,) = self.hops(relation)
                return (Bound(hop.dimension, self.thresholds(comparands)),)
            case Typed(_, of):
                return self.conditions(of)
            case Name() | Value() | Anything():
                raise AssertionError("a name is an operand, not a set")

    def starts(self, relation: Relation) -> tuple[str, ...]:
        """Give the types that a relation may start from; empty where one path starts anywhere."""
        found = [self.lexicon.types.sources(path[0]) for path in relation.paths]
        return tuple(sorted({each for types in found for each in types})) if all(found) else ()

    def operand(self, form: Form, types: tuple[str, ...] = ()) -> Operand:
        """Give the operand of a form; `types` are what its place asks for, to choose readings."""
        match form:
            case Name():
                return self.named(form, types)
            case Value(value):
                return Given(value)
            case Anything():
                return plan.Anything()
            case Typed(narrower, of):
                return self.operand(of, narrower)
            case Image() | Both() | Without() | Bounded():
                return self.add_meet(self.conditions(form))

    def follow(self, relation: Relation, operand: Operand) -> Reference:
        for hop in self.hops(relation):
            operand = self.add_meet((Constraint(hop, operand),))
        assert isinstance(operand, Reference), "a relation has a hop"
        return operand

    def hops(self, relation: Relation) -> tuple[Hop, ...]:
        """Give the one path of a relation; several become a defined union."""
        paths = self.likely(relation)
        if len(paths) > 1:
            return (Hop(self.union(paths)),)
        hops: list[Hop] = []
        for hop in paths[0]:
            definition = self.lexicon.types.definitions.get(hop.dimension)
            if definition is None:
                self.dimensions.add(hop.dimension)
                hops.append(hop)
            elif path := _only_path(definition):
                if hop.direction is Direction.BACKWARD:
                    path = tuple(each.inverse for each in reversed(path))
                self.dimensions |= {each.dimension for each in path}
                hops += path
            else:
                self.definitions[definition.type.name] = definition
                hops.append(hop)
        return tuple(hops)

    def likely(self, relation: Relation) -> tuple[Path, ...]:
        """Keep the paths over dimensions of which something is stated, if there are any."""
        if self.stated is None:
            return relation.paths
        definitions = self.lexicon.types.definitions
        kept = tuple(
            path
            for path in relation.paths
            if all(
                name in self.stated
                for hop in path
                for name in (
                    definitions[hop.dimension].uses
                    if hop.dimension in definitions
                    else (hop.dimension,)
                )
            )
        )
        return kept or relation.paths

    def union(self, alternatives: tuple[Path, ...]) -> str:
        """Define the union of the paths of an ambiguous relation; every rule of it is visible."""
        types = self.lexicon.types
        paths = tuple(
            tuple(inner for hop in path for inner in self._expanded(hop)) for path in alternatives
        )
        ends = [path[-1] for path in paths]
        label = " or ".join(dict.fromkeys(types.dimension(end.dimension).label for end in ends))
        stem = f"{paths[0][-1].dimension}_or_other"
        name, count = stem, 1
        while name in self.definitions and self.definitions[name].alternatives != paths:
            count += 1
            name = f"{stem}_{count}"
        closed = {types.dimension(end.dimension).closed_by for end in ends}
        self.definitions[name] = Definition(
            DimensionType(
                name=name,
                kind=types.kind(ends[0]),
                label=label,
                closed_by=closed.pop() if len(closed) == 1 else "",
            ),
            paths,
        )
        return name

    def _expanded(self, hop: Hop) -> tuple[Hop, ...]:
        definition = self.lexicon.types.definitions.get(hop.dimension)
        path = _only_path(definition) if definition is not None else None
        if path is None:
            return (hop,)
        if hop.direction is Direction.BACKWARD:
            return tuple(each.inverse for each in reversed(path))
        return path

    def named(self, name: Name, types: tuple[str, ...]) -> Named:
        match self.names.look_up(name.text, delimited=name.delimited):
            case Exact(found, others):
                if others:
                    self.note(f"“{found}” is read as that name, not as {_listed(others)}")
                return Named(name.text, (found,))
            case SameName(found):
                return Named(name.text, found)
            case Disambiguated(found):
                fitting = self.called(found, types) or found
                if len(fitting) > 1:
                    message = f"“{name.text}” may be {_listed(fitting)}; expected one of them"
                    raise _SeveralReadings(Ambiguous(message, fitting))
                others = tuple(each for each in found if each not in fitting)
                rest = f", not as {_listed(others)}" if others else ""
                self.note(f"“{name.text}” is read as {_listed(fitting)}{rest}")
                return Named(name.text, fitting)
            case UnknownName(nearest):
                near = f"; nearest is {_listed(nearest)}" if nearest else ""
                self.note(f"“{name.text}” is no known name{near}")
                return Named(name.text, (name.text,))

    def called(self, names: tuple[str, ...], types: tuple[str, ...]) -> tuple[str, ...]:
        """Keep the names whose disambiguator speaks of one of the types: "1944 film"."""
        known = self.lexicon.types
        nouns = {
            phrase
            for phrase, named in self.lexicon.type_nouns.items()
            if any(wanted in known.ancestors(each) for each in named for wanted in types)
        }
        return tuple(
            name
            for name in names
            if any((word,) in nouns for word in words_of(disambiguator(name)))
        )

    def note(self, text: str) -> None:
        self.notes[text] = None


def _listed(names: tuple[str, ...]) -> str:
    shown = " or ".join(f"“{name}”" for name in names[:_SHOWN])
    more = len(names) - _SHOWN
    return f"{shown} or {more} more" if more > 0 else shown


_SHOWN = 5


def _only_path(definition: Definition) -> Path | None:
    """Give the path of a derived dimension that is nothing but one path."""
    if len(definition.alternatives) > 1 or isinstance(definition.alternatives[0], Elapsed):
        return None
    return definition.alternatives[0]
