"""Units: exact factors to SI units. What is not in this table converts to itself only."""

from __future__ import annotations

import functools
import re
from fractions import Fraction

_PREFIXES = (
    "Y:24 Z:21 E:18 P:15 T:12 G:9 M:6 k:3 h:2 da:1 d:-1 c:-2 m:-3 u:-6 µ:-6 μ:-6 n:-9 p:-12 f:-15 "
    "a:-18"
)
"""Before symbols, with their powers of ten."""
_PREFIX_NAMES = (
    "tera:12 giga:9 mega:6 kilo:3 hecto:2 deca:1 deci:-1 centi:-2 milli:-3 micro:-6 nano:-9 "
    "pico:-12"
)
"""Before names, with their powers of ten."""
_PREFIXED = """
m meter metre = 1 L; g gram = 1/1000 M; s second = 1 T; A ampere = 1 I; K kelvin = 1 K
mol mole = 1 N; l L liter litre = 1/1000 L3; Hz hertz = 1 T-1; bit = 1 B; B byte = 8 B
N newton = 1 L M T-2; Pa pascal = 1 L-1 M T-2; bar = 100000 L-1 M T-2
J joule = 1 L2 M T-2; Wh watt_hour = 3600 L2 M T-2; cal calorie = 4.184 L2 M T-2
W watt = 1 L2 M T-3; V volt = 1 L2 M T-3 I-1
"""
"""Units that take prefixes: names, factor, dimensions."""
_PLAIN = """
min minute = 60 T; h hr hour = 3600 T; d day = 86400 T; week = 604800 T
in inch inches = 0.0254 L; ft foot feet = 0.3048 L; yd yard = 0.9144 L; mi mile = 1609.344 L
nmi nautical_mile = 1852 L; ha hectare = 10000 L2; gal gallon = 0.003785411784 L3
t tonne metric_ton = 1000 M; lb pound = 0.45359237 M; oz ounce = 0.028349523125 M
atm atmosphere = 101325 L-1 M T-2; psi = 44482216152605/6451600000 L-1 M T-2
hp horsepower = 745.69987158227022 L2 M T-3; percent % = 1/100
"""
_SCALES = {
    **dict.fromkeys(("degC", "°C", "celsius", "degree_Celsius"), (Fraction(1), Fraction("273.15"))),
    **dict.fromkeys(
        ("degF", "°F", "fahrenheit", "degree_Fahrenheit"), (Fraction(5, 9), Fraction(229835, 900))
    ),
}
"""Temperatures: factor and offset to kelvin; they stand alone."""
_FACTOR = re.compile(r"([*/·]|\A)([^*/·^\d\s²³-]+)(²|³|(?:\^|\*\*)?-?\d+)?")
_POWERS = {"²": 2, "³": 3}
Unit = tuple[Fraction, dict[str, int]]


@functools.lru_cache(maxsize=1)
def _units() -> dict[str, Unit]:
    """Give factor and dimensions by every name a unit has."""
    units: dict[str, Unit] = {}
    for entry in re.split(r"[;\n]", (_PREFIXED + _PLAIN).replace("\n\n", "\n").strip()):
        names, _, content = entry.partition(" = ")
        factor, *parts = content.split()
        unit = _ratio(factor), {part[0]: int(part[1:] or 1) for part in parts}
        for name in names.split():
            is_symbol = len(name) < 3 or name in ("mol", "cal", "bar", "bit")
            units[name] = unit
            if not is_symbol or name in ("cal", "bit"):
                units.setdefault(name + "s", unit)
            if entry not in _PREFIXED:
                continue
            for pair in (_PREFIXES if is_symbol else _PREFIX_NAMES).split():
                prefix, _, power = pair.partition(":")
                scaled = unit[0] * Fraction(10) ** int(power), unit[1]
                units.setdefault(prefix + name, scaled)
                if not is_symbol:
                    units.setdefault(prefix + name + "s", scaled)
    del units["dB"], units["hbar"]  # decibel, and Planck's constant
    return units


def _ratio(text: str) -> Fraction:
    top, _, bottom = text.partition("/")
    return Fraction(top) / Fraction(bottom or 1)


def read_unit(unit: str) -> tuple[Fraction, Fraction, dict[str, int]] | None:
    """Give exact factor and offset to SI units and the dimensions; None for an unknown unit."""
    if unit in _SCALES:
        return *_SCALES[unit], {"K": 1}
    total, dimensions, position = Fraction(1), dict[str, int](), 0
    while position < len(unit):
        match = _FACTOR.match(unit, position)
        known = _units().get(match[2]) if match else None
        if match is None or known is None:
            return None
        written = (match[3] or "1").lstrip("^*")
        power = _POWERS.get(written) or int(written)
        if abs(power) > 9:
            return None
        power = -power if match[1] == "/" else power
        total *= known[0] ** power
        for name, exponent in known[1].items():
            dimensions[name] = dimensions.get(name, 0) + exponent * power
        position = match.end()
    return total, Fraction(0), {name: power for name, power in dimensions.items() if power}


@functools.lru_cache(maxsize=4096)
def conversion(source: str, target: str) -> tuple[Fraction, Fraction] | None:
    """Give exact factor and offset from one unit to another; None if there is no conversion."""
    if source == target:
        return Fraction(1), Fraction(0)
    left, right = read_unit(source), read_unit(target)
    if left is None or right is None or left[2] != right[2]:
        return None
    return left[0] / right[0], (left[1] - right[1]) / right[0]


def converted(magnitude: Fraction, source: str, target: str) -> Fraction | None:
    """Convert a magnitude exactly; None if there is no conversion."""
    found = conversion(source, target)
    return None if found is None else magnitude * found[0] + found[1]
