"""The operations that the forms of questions name: they build logical forms and check types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from kb.quantity import Date, Quantity
from reasoner.clause import Operator
from reasoner.hop import Hop, ValueKind
from reasoner.plan import Extreme

from . import question_values as bounds
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
    Mistyped,
    Name,
    Ordered,
    Pick,
    Relation,
    Several,
    Typed,
    Types,
    Value,
    Without,
)

TypeNames = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Holders:
    """Those who are something to anything: "directors", with the types they have."""

    types: TypeNames
    relation: Relation


def _meet(forms: tuple[Form, ...]) -> Form:
    return forms[0] if len(forms) == 1 else Both(forms[0], _meet(forms[1:]))


_OPERATORS = {
    "less": Operator.LESS,
    "at_most": Operator.AT_MOST,
    "greater": Operator.GREATER,
    "at_least": Operator.AT_LEAST,
    "equal": Operator.EQUAL,
}


def operations(types: Types) -> Mapping[str, Callable[..., object]]:
    """Give the operations by name, over the types of the packs."""

    def image(relation: Relation, of: Form) -> Form:
        return Image(types.fitting(relation, types.of_form(of)), of)

    def back(relation: Relation, of: Form) -> Form:
        return image(relation.inverse, of)

    def without(of: Form, excluded: Form) -> Form:
        return Without(of, excluded)

    def typed(wanted: TypeNames | Holders, of: Form) -> Form:
        if isinstance(wanted, Holders):
            found = typed(wanted.types, of)
            inner = found.of if isinstance(found, Without) else found
            if isinstance(inner, Image) and set(inner.relation.paths) & set(wanted.relation.paths):
                return found
            return Both(found, Image(wanted.relation, Anything()))
        names = wanted
        if not names:
            return of
        if not types.agree(names, types.of_form(of)):
            raise Mistyped
        match of:
            case Image(relation, inner):
                return Image(types.narrowed(relation, names), inner)
            case Without(inner, excluded):
                return Without(typed(names, inner), excluded)
            case Name() | Typed():
                return Typed(names, of)
        return of

    def role(relation: Relation, of: Form) -> Form:
        return typed(role_types(relation), of)

    def role_types(relation: Relation) -> TypeNames:
        return types.of_form(Image(relation, Value("")))

    def same_relation(one: Relation, other: Relation) -> Relation:
        kept = set(one.paths) & set(other.paths)
        if not kept:
            raise Mistyped
        return Relation.of(kept)

    def together(relation: Relation, of: Form) -> Form:
        return Without(image(relation, back(relation, of)), of)

    def compose(first: Relation, second: Relation) -> Relation:
        return types.fitting(first.then(second), ())

    def where(relation: Relation) -> Relation:
        kept = types.arriving(relation, ("place", "organization"))
        return _of_kind(kept, lambda kind: not kind.is_ordered)

    def why(relation: Relation) -> Relation:
        return types.arriving(_of_kind(relation, lambda kind: not kind.is_ordered), ("cause",))

    def when(relation: Relation) -> Relation:
        kept = [
            path
            for path in relation.paths
            if types.kind(path[-1]) is ValueKind.TIME
            or types.agree(types.targets(path[-1]) or ("?",), ("time",))
        ]
        if not kept:
            raise Mistyped
        return Relation.of(kept)

    def _of_kind(relation: Relation, accepts: Callable[[ValueKind], bool]) -> Relation:
        kept = [path for path in relation.paths if accepts(types.kind(path[-1]))]
        if not kept:
            raise Mistyped
        return Relation.of(kept)

    def holders(relation: Relation) -> Holders:
        return Holders(role_types(relation), relation)

    def meet_image(relation: Relation, of: Several) -> Form:
        return _meet(tuple(image(relation, member) for member in of.members))

    def meet_back(relation: Relation, of: Several) -> Form:
        return meet_image(relation.inverse, of)

    def matching(left: Form, right: Form) -> Matching:
        return Matching(ask(left).of, ask(right).of)

    def valued(relation: Relation, names: TypeNames) -> Relation:
        kept = types.narrowed(relation, names)
        # the same year is not the same date
        return _of_kind(kept, lambda kind: kind is not ValueKind.TIME)

    def criterion(relation: Relation, extreme: str) -> Criterion:
        return Criterion(_of_kind(relation, lambda kind: kind.is_ordered), Extreme(extreme))

    def after(relation: Relation, of: Criterion) -> Criterion:
        return Criterion(compose(relation, of.relation), of.extreme)

    def several(left: Form, right: Form) -> Several:
        return Several((left, right))

    def enumerate_(first: Form, rest: Several) -> Several:
        return Several((first, *rest.members))

    def typed_all(wanted: TypeNames | Holders, of: Several) -> Several:
        names = wanted.types if isinstance(wanted, Holders) else wanted
        return Several(tuple(typed(names, member) for member in of.members))

    def each(relation: Relation, of: Several) -> Several:
        return Several(tuple(image(relation, member) for member in of.members))

    def ask(of: Form) -> Ask:
        if isinstance(of, Name | Typed | Value):
            raise Mistyped
        return Ask(of)

    def how_many(of: Form) -> HowMany:
        return HowMany(ask(of).of)

    def comparable(relation: Relation, comparands: tuple[Comparand, ...]) -> Relation:
        """Keep the paths whose values are of the kind of what they are compared with."""
        operand = comparands[0].value
        if isinstance(operand, Image):
            others = {types.kind(path[-1]) for path in operand.relation.paths}
            return _of_kind(relation, lambda kind: kind in others)
        assert isinstance(operand, Value), "comparisons are with values"
        match operand.value:
            case Date():
                kinds = {ValueKind.TIME}
            case Quantity():
                kinds = {ValueKind.QUANTITY}
            case Fraction():
                kinds = {ValueKind.NUMBER, ValueKind.QUANTITY}
            case _:
                raise Mistyped
        return _of_kind(relation, lambda kind: kind in kinds)

    def compared(operator: str, operand: Form) -> tuple[Comparand, ...]:
        if isinstance(operand, Value) and isinstance(operand.value, Date | str):
            raise Mistyped
        if isinstance(operand, Image):
            operand = Image(_of_kind(operand.relation, lambda kind: kind.is_ordered), operand.of)
        elif not isinstance(operand, Value):
            raise Mistyped
        return (Comparand(_OPERATORS[operator], operand),)

    def much(relation: Relation) -> Relation:
        return _of_kind(relation, lambda kind: kind in (ValueKind.QUANTITY, ValueKind.NUMBER))

    def dated(
        bound: Callable[[Date], tuple[Comparand, ...]],
    ) -> Callable[[Value], tuple[Comparand, ...]]:
        def apply(value: Value) -> tuple[Comparand, ...]:
            if not isinstance(value.value, Date):
                raise Mistyped
            return bound(value.value)

        return apply

    def bounded(relation: Relation, comparands: tuple[Comparand, ...]) -> Form:
        kept = types.fitting(comparable(relation, comparands), ())
        if any(len(path) > 1 for path in kept.paths):
            raise Mistyped
        return Bounded(kept, comparands)

    def ordered(of: Form, comparands: tuple[Comparand, ...]) -> Ordered:
        if isinstance(of, Image):
            of = Image(comparable(of.relation, comparands), of.of)
        return Ordered(ask(of).of, comparands)

    def than(relation: Relation, operator: str, left: Form, right: Form) -> Ordered:
        kept = _of_kind(relation, lambda kind: kind.is_ordered)
        other = image(kept, right)
        return Ordered(image(kept, left), (Comparand(_OPERATORS[operator], other),))

    def than_by(criterion: Criterion, left: Form, right: Form) -> Ordered:
        operator = "less" if criterion.extreme is Extreme.LEAST else "greater"
        return than(criterion.relation, operator, left, right)

    def best(wanted: TypeNames | Holders, by: Criterion, of: Form | None = None) -> Best:
        if isinstance(wanted, Holders):
            raise Mistyped
        names = wanted
        relation = types.fitting(by.relation, names)
        if any(len(path) > 1 for path in relation.paths):
            raise Mistyped
        return Best(names, of, Criterion(relation, by.extreme))

    def best_of(names: TypeNames, of: Form, by: Criterion) -> Best:
        found = ask(typed(names, of)).of
        return best(types.of_form(found), by, found)

    def count_criterion(relation: Relation, extreme: str) -> CountCriterion:
        kept = _of_kind(relation, lambda kind: not kind.is_ordered)
        return CountCriterion(kept, Extreme(extreme))

    def pick(among: Several, by: Criterion | CountCriterion) -> Pick:
        relation = by.relation
        for member in among.members:
            relation = types.fitting(relation, types.of_form(member))
        return Pick(among, replace(by, relation=relation))

    def alike(among: Several, relation: Relation) -> Alike:
        for member in among.members:
            relation = types.fitting(relation, types.of_form(member))
        return Alike(among, relation)

    def member(one: Form, of: Form) -> Member | Matching:
        if isinstance(one, Name | Typed | Value):
            return Member(one, of)
        return matching(one, of)

    def any_() -> TypeNames:
        return ()

    def who() -> TypeNames:
        return ("organization", "person")

    def constant(name: str) -> Callable[[], Relation]:
        return lambda: Relation.of([(Hop(name),)])

    dimensions = {f"${name}": constant(name) for name in (*types.dimensions, *types.definitions)}
    return dimensions | {
        "after": after,
        "after_date": dated(bounds.after),
        "before_date": dated(bounds.before),
        "best": best,
        "best_of": best_of,
        "bounded": bounded,
        "compared": compared,
        "count_criterion": count_criterion,
        "holders": holders,
        "how_many": how_many,
        "ordered": ordered,
        "since_date": dated(bounds.since),
        "than": than,
        "than_by": than_by,
        "until_date": dated(bounds.until),
        "within_date": dated(bounds.within),
        "alike": alike,
        "any": any_,
        "ask": ask,
        "back": back,
        "both": Both,
        "compose": compose,
        "criterion": criterion,
        "each": each,
        "enumerate": enumerate_,
        "image": image,
        "matching": matching,
        "meet_back": meet_back,
        "meet_image": meet_image,
        "member": member,
        "much": much,
        "pick": pick,
        "role": role,
        "role_types": role_types,
        "same_relation": same_relation,
        "several": several,
        "together": together,
        "typed": typed,
        "typed_all": typed_all,
        "valued": valued,
        "when": when,
        "where": where,
        "who": who,
        "why": why,
        "without": without,
    }
