"""The operations that the forms of questions name: they build logical forms and check types."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reasoner.hop import Hop, ValueKind
from reasoner.plan import Extreme

from .logical_form import (
    Alike,
    Ask,
    Both,
    Criterion,
    Form,
    Image,
    Member,
    Mistyped,
    Name,
    Pick,
    Relation,
    Several,
    Typed,
    Types,
    Value,
    Without,
)

TypeNames = tuple[str, ...]


def operations(types: Types) -> Mapping[str, Callable[..., object]]:
    """Give the operations by name, over the types of the packs."""

    def image(relation: Relation, of: Form) -> Form:
        return Image(types.fitting(relation, types.of_form(of)), of)

    def back(relation: Relation, of: Form) -> Form:
        return image(relation.inverse, of)

    def without(of: Form, excluded: Form) -> Form:
        return Without(of, excluded)

    def typed(names: TypeNames, of: Form) -> Form:
        if not names:
            return of
        if not types.agree(names, types.of_form(of)):
            raise Mistyped
        match of:
            case Image(relation, inner):
                return Image(types.arriving(relation, names), inner)
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
        kept = types.arriving(relation, ("place", "organisation"))
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

    def valued(relation: Relation, names: TypeNames) -> Relation:
        return types.arriving(relation, names)

    def criterion(relation: Relation, extreme: str) -> Criterion:
        return Criterion(_of_kind(relation, lambda kind: kind.is_ordered), Extreme(extreme))

    def after(relation: Relation, of: Criterion) -> Criterion:
        return Criterion(compose(relation, of.relation), of.extreme)

    def several(left: Form, right: Form) -> Several:
        return Several((left, right))

    def enumerate_(first: Form, rest: Several) -> Several:
        return Several((first, *rest.members))

    def typed_all(names: TypeNames, of: Several) -> Several:
        return Several(tuple(typed(names, member) for member in of.members))

    def each(relation: Relation, of: Several) -> Several:
        return Several(tuple(image(relation, member) for member in of.members))

    def ask(of: Form) -> Ask:
        if isinstance(of, Name | Typed | Value):
            raise Mistyped
        return Ask(of)

    def pick(among: Several, by: Criterion) -> Pick:
        relation = by.relation
        for member in among.members:
            relation = types.fitting(relation, types.of_form(member))
        return Pick(among, Criterion(relation, by.extreme))

    def alike(among: Several, relation: Relation) -> Alike:
        for member in among.members:
            relation = types.fitting(relation, types.of_form(member))
        return Alike(among, relation)

    def member(one: Form, of: Form) -> Member:
        return Member(one, of)

    def any_() -> TypeNames:
        return ()

    def who() -> TypeNames:
        return ("organisation", "person")

    def constant(name: str) -> Callable[[], Relation]:
        return lambda: Relation.of([(Hop(name),)])

    dimensions = {f"${name}": constant(name) for name in (*types.dimensions, *types.definitions)}
    return dimensions | {
        "after": after,
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
        "member": member,
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
