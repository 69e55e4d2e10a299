"""What check_policy finds: each rule of the language, broken once."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reasoner.clause import Policy
from reasoner.clause_lint import nearest_name, nearest_names
from reasoner.errors import Finding, PolicyRejected, Severity
from reasoner.lint import NAMED_OF_A_CYCLE, check_policy
from reasoner.policy import parse_policy
from reasoner.policy_text import read_policy


def _read(text: str) -> Policy:
    policy, findings = read_policy(text, name="x")
    assert not findings
    return policy


def _findings(text: str, known: set[tuple[str, int]] | None = None) -> list[Finding]:
    return list(check_policy(_read(text), known=known))


def _codes(text: str, known: set[tuple[str, int]] | None = None) -> list[tuple[str, bool]]:
    return [(f.code, f.severity is Severity.ERROR) for f in _findings(text, known)]


CLEAN = """
closed(listed/1, "list"). closed(pay/3, "books").
%! rule: a
%! says: "{X} is fine by {Y}"
good(X) :- base(X, Y), Y > 3, not listed(X), not bad(X, _).
bad(X, N) :- listed(X), N = #sum{A, E : pay(X, A, E)}.
path(X, Y) :- base(X, Y).
path(X, Z) :- path(X, Y), base(Y, Z).
class(X) :- base(X, V), under(V, "class").
"""


def test_a_clean_policy_has_no_findings() -> None:
    assert _codes(CLEAN) == []
    assert _codes(CLEAN, {("base", 2), ("listed", 1), ("pay", 3)}) == []


@pytest.mark.parametrize(
    "text",
    [
        "p(X, Y) :- q(X).",
        "p(X) :- q(X), Y > 3.",
        "p(X) :- q(X), X = Y + 1.",
        "p(Y) :- q(X), Y > X.",
        'closed(r/1, "s"). p(X) :- q(X), not r(Y).',
        'closed(r/2, "s"). p(X) :- q(X), N = #sum{A : r(B, _)}, N > 2.',
        'closed(r/2, "s"). p(X) :- q(Z), N = #count{A : r(X, A)}, N > Z.',
        'closed(r/1, "s"). p(N) :- q(X), N < #count{A : r(A)}, X > 2.',
        "p(_) :- q(X), X > 1.",
        "p(X).",
    ],
)
def test_unsafe_variables(text: str) -> None:
    assert ("unsafe", True) in _codes(text)


@pytest.mark.parametrize(
    "text",
    [
        "p(Y) :- q(X), Y = X + 1.",
        "p(Z) :- q(X), Z = Y, Y = X.",
        "p(Y) :- Y = 3.",
        'closed(r/1, "s"). p(N) :- N = #count{A : r(A)}.',
        'closed(r/2, "s"). p(X) :- q(X), not r(X, _).',
    ],
)
def test_variables_that_something_binds_are_safe(text: str) -> None:
    assert "unsafe" not in [code for code, _ in _codes(text)]


def test_every_unsafe_variable_is_named() -> None:
    messages = " ".join(f.message for f in _findings("p(A, B) :- q(C, C), D > 1."))
    assert all(f"binds {name} " in messages for name in "ABD")


def test_undefined_predicates_are_named_with_the_nearest() -> None:
    (finding,) = _findings("p(X) :- liabilty_cover(X, _).", {("liability_cover", 2)})
    assert (finding.code, finding.severity) == ("undefined", Severity.WARNING)
    assert "did you mean liability_cover?" in finding.message
    (finding,) = _findings("p(X) :- colour(X, _).", {("liability_cover", 2)})
    assert "open requirement" in finding.message
    (finding,) = _findings("p(X) :- insurred(X). insured(X) :- q(X).")
    assert "did you mean insured?" in finding.message


def test_a_predicate_closed_or_built_in_is_defined() -> None:
    text = 'closed(a/1, "s"). p(X) :- a(X), stated_by(X, _, _, _), under(X, "c"), valid_on(_).'
    assert _codes(text, set()) == []


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("p(X) :- q(X). p(X, Y) :- r(X, Y).", None),
        ("p(X) :- q(X). r(X) :- p(X, X).", None),
        ("p(X) :- q(X), q(X, X).", None),
        ('closed(q/1, "s"). p(X) :- q(X, X).', None),
        ("p(X) :- q(X).", {("q", 2)}),
        ("p(X) :- under(X).", None),
    ],
)
def test_arity_clash(text: str, known: set[tuple[str, int]] | None) -> None:
    assert ("arity", True) in _codes(text, known)


def test_a_stored_predicate_may_be_read_with_its_statement() -> None:
    text = "p(X) :- q(X, V), q(X, V, S), stated_by(S, _, _, _)."
    assert _codes(text, {("q", 2)}) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("p(X) :- q(X), not r(X).", "r/1"),
        ("p(X) :- q(X), not r(X). r(X) :- s(X, _).", "s/2"),
        ("p(X) :- q(X), #count{Y : r(X, Y)} > 2.", "r/2"),
        ('p(X) :- q(X), not under(X, "c").', "subclass_of/2"),
        ("p(X) :- q(X), not -r(X).", "-r/1"),
        ("p(X) :- q(X), not stated_by(X, _, _, _).", "/2"),
    ],
)
def test_negation_and_aggregates_need_closed_predicates(text: str, name: str) -> None:
    found = [f for f in _findings(text) if f.code == "open"]
    assert found
    assert found[0].severity is Severity.ERROR
    assert name in found[0].message


def test_derived_predicates_are_closed_through_closed_ones() -> None:
    text = 'closed(s/2, "s"). p(X) :- q(X), not r(X). r(X) :- s(X, Y), t(Y), X != Y. t(3).'
    assert _codes(text) == []
    # Facts of a derived predicate need a declaration of their own.
    assert ("open", True) in _codes(text, {("q", 1), ("r", 1), ("s", 2)})


def test_negation_through_a_cycle_is_named() -> None:
    text = 'closed(m/2, "s"). win(X) :- m(X, Y), not win(Y).'
    (finding,) = _findings(text)
    assert (finding.code, finding.severity) == ("unstratified", Severity.WARNING)
    assert "win/1" in finding.message


@pytest.mark.parametrize(
    "text",
    [
        'closed(q/1, "s"). p(X) :- q(X), r(X), not r(X). r(X) :- q(X).',
        "p(X) :- q(X), 1 > 2.",
        "p(X) :- q(X), X != X.",
        "p(X) :- p(X), q(X).",
        "p(X) :- r(X). r(X) :- p(X).",
    ],
)
def test_rules_that_can_never_fire(text: str) -> None:
    assert ("never_fires", False) in _codes(text)


def test_a_misspelt_unit_is_a_warning() -> None:
    text = """low(B) :- height(B, H), H <= @quantity("22 metrs"), H > max(@quantity("1 m"), 3).
    rate(B) :- paid(B, P), P > @quantity("5 EUR"), P < abs(@quantity("9 ducats"))."""
    found = [(finding.line, finding.code) for finding in _findings(text)]
    assert found == [(1, "unknown_unit"), (2, "unknown_unit")]


@pytest.mark.parametrize(
    "text",
    [
        "n(0). n(Y) :- n(X), Y = X + 1.",
        "d(X, C) :- e(X, C). d(Y, D) :- d(X, C), e(X, Y), D = C + 1.",
        "a(X, C) :- e(X, C). a(Y, D) :- b(Y, C), D = C * 2. b(X, C) :- a(X, C).",
        "n(X) :- e(X). n(Z) :- n(X), Y = X + 1, Z = max(Y, X).",
    ],
)
def test_values_created_around_recursion(text: str) -> None:
    assert ("creates_values", True) in _codes(text)


@pytest.mark.parametrize(
    "text",
    [
        "n(0). m(Y) :- n(X), Y = X + 1.",
        "d(X, C) :- e(X, C). d(Y, D) :- d(X, C), f(X, Y, E), D = min(C, E).",
        "d(X, C) :- e(X, C). d(Y, D) :- d(X, C), f(X, Y, D), D = C + 1.",
        "d(X) :- e(X). d(Y) :- d(X), f(X, Y, C), D = C + 1, D > 2.",
    ],
)
def test_values_computed_beside_recursion_are_fine(text: str) -> None:
    assert "creates_values" not in [code for code, _ in _codes(text)]


def test_right_recursion_is_warned_of() -> None:
    text = "path(X, Y) :- edge(X, Y). path(X, Y) :- edge(X, Z), path(Z, Y)."
    assert _codes(text) == [("right_recursion", False)]


def test_variables_that_stand_once() -> None:
    (finding,) = _findings("p(X) :- q(X, Y).")
    assert (finding.code, finding.severity) == ("single_variable", Severity.WARNING)
    assert _codes("p(X) :- q(X, _), r(X, _Y).") == []


def test_sentences_name_variables_of_their_rule() -> None:
    (finding,) = _findings('%! rule: a\n%! says: "{Supplie} ok"\np(Supplier) :- q(Supplier).')
    assert (finding.code, finding.severity) == ("sentence", Severity.ERROR)
    assert "did you mean Supplier?" in finding.message
    (finding,) = _findings('%! rule: a\n%! says: "{X ok"\np(X) :- q(X).')
    assert finding.code == "sentence"


@pytest.mark.parametrize(
    "text",
    [
        "under(X, Y) :- q(X, Y).",
        "valid_on(X) :- q(X).",
        "%! rule: prelude.mine\np(X) :- q(X).",
    ],
)
def test_what_the_prelude_defines_is_reserved(text: str) -> None:
    assert ("reserved", True) in _codes(text)


def test_under_without_a_known_argument() -> None:
    assert ("unbound_under", False) in _codes("p(V, C) :- under(V, C).")
    assert _codes("p(V, C) :- under(V, C), q(V).") == []


def test_reading_and_checking_report_together() -> None:
    with pytest.raises(PolicyRejected) as caught:
        parse_policy("p(X, Y) :- q(X).\nq(1.5).\nr(X) :- s(X), not t(X).", name="x")
    found = [(f.line, f.code) for f in caught.value.findings if f.severity is Severity.ERROR]
    assert found == [(1, "unsafe"), (2, "decimal"), (3, "open")]
    assert (1, "single_variable") in [(f.line, f.code) for f in caught.value.findings]


def test_warnings_do_not_stop_a_policy() -> None:
    assert parse_policy("p(X) :- q(X, Y).", name="x").clauses


def test_a_finding_stands_at_its_atom() -> None:
    text = """% q(X) is no body
p(X) :- r(X, "q(X)"), % q(X)
  not q(X).
path(X, Y) :- edge(X, Y).
path(X, Y) :- edge(X, Z),
  path(Z, Y).
waits(X) :- r(X, _), after(X).
after(X) :- waits(X).
two(X) :- r(X, _), insurred_supplier(X).
insured_supplier(X) :- r(X, _), same(X).
same(X) :- r(X, _), same(X).
"""
    policy, _ = read_policy(text, name="p")
    places = {(one.code, one.line, one.column) for one in check_policy(policy)}
    assert {
        ("open", 3, 7),
        ("right_recursion", 6, 3),
        ("never_fires", 7, 22),
        ("never_fires", 8, 13),
        ("undefined", 9, 20),
        ("never_fires", 11, 21),
    } <= places


@settings(deadline=None)
@given(
    st.lists(st.text("abcd_", min_size=1, max_size=9), max_size=8),
    st.lists(st.text("abcd_", min_size=1, max_size=9), max_size=20),
    st.sampled_from([60, 70, 85]),
)
def test_names_compared_together_are_those_compared_alone(
    wanted: list[str], choices: list[str], least: int
) -> None:
    alone = {name: nearest_name(name, choices, least=least) for name in wanted}
    together = dict(nearest_names(wanted, choices, least=least))
    assert together == {name: near for name, near in alone.items() if near is not None}


def test_a_long_cycle_through_negation_is_named_in_part() -> None:
    count = NAMED_OF_A_CYCLE + 5
    rules = [f"p{n}(X) :- a(X), not p{(n + 1) % count}(X)." for n in range(count)]
    policy, _ = read_policy("\n".join([*rules, 'closed(a/1, "s").']) + "\n", name="p")
    found = [f.message for f in check_policy(policy) if f.code == "unstratified"]
    assert len(found) == count
    assert all(" and 5 more; " in message for message in found)
