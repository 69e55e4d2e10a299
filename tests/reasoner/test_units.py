"""The checker's own table of units agrees with Pint wherever it knows a conversion."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest

from kb.units import conversion as by_pint
from kb.units import is_unit
from reasoner.checker import units as checker

COMPOUND = ["km/h", "m/s", "m**2", "m^2", "m²", "cm²", "ha", "kg*m/s**2", "kWh", "MJ", "W*h", "m³"]


def known_units() -> list[str]:
    """List what the checker knows, without the rarer prefixes."""
    rare = ("Y", "Z", "E", "P", "f", "a", "u", "μ", "hecto", "deca", "deci", "pico")
    plain = [unit for unit in checker._units() if not unit.startswith(rare)]
    scales = [name for names in checker._SCALES for name in names.split()]
    return sorted({*plain, *scales, *COMPOUND})


def test_every_unit_of_the_checker_is_one_for_pint() -> None:
    assert [unit for unit in known_units() if not is_unit(unit)] == []


def test_conversions_agree_with_pint() -> None:
    groups: dict[str, list[str]] = {}
    for unit in known_units():
        found = checker.read_unit(unit)
        assert found is not None, unit
        groups.setdefault(str(sorted(found[2].items())), []).append(unit)
    checked = 0
    for units in groups.values():
        for other in units:
            ours = checker.conversion(units[0], other)
            theirs = by_pint(units[0], other)
            assert ours is not None
            assert theirs is not None, (units[0], other)
            assert ours == (theirs.factor, theirs.offset), (units[0], other)
            checked += 1
    assert checked > 200


@pytest.mark.parametrize(
    ("unit", "other"),
    [
        ("EUR", "USD"),
        ("kg", "m"),
        ("kg", "EUR"),
        ("furlong", "m"),
        ("", "m"),
        ("m/", "m"),
        ("year", "day"),
        ("m**99", "m"),
        ("degC/m", "K/m"),
    ],
)
def test_no_conversion_is_made_up(unit: str, other: str) -> None:
    assert checker.conversion(unit, other) is None
    assert checker.conversion(other, unit) is None


def test_a_unit_is_itself_even_if_unknown() -> None:
    assert checker.conversion("EUR", "EUR") == (Fraction(1), Fraction(0))


def test_temperatures_have_an_offset() -> None:
    assert checker.converted(Fraction(20), "degC", "K") == Fraction("293.15")
    assert checker.converted(Fraction(212), "degF", "degC") == 100


def test_conversions_are_inverse() -> None:
    for unit, other in combinations(["km", "mi", "ft", "cm"], 2):
        there, back = checker.conversion(unit, other), checker.conversion(other, unit)
        assert there is not None
        assert back is not None
        assert there[0] * back[0] == 1
