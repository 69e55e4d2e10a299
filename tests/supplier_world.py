"""The supplier example in another guise: other names, other values, other order, by a seed.

Whatever answers the example must answer these worlds the same way; nothing may be wired to it.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "supplier"

STEMS = (
    "Nordhafen",
    "Ostwind",
    "Kestrel",
    "Kestral",
    "Meridian",
    "Alpenglas",
    "Baltimar",
    "Tagus",
    "Sierra",
    "Hanse",
    "Rheinland",
    "Donau",
    "Atlantic",
    "Veritor",
    "Sigma",
    "Falk",
    "Moreau",
    "Orlov",
)
"""The parts of company names that are replaced; what follows them (`Logistik GmbH`) stays."""

_SYLLABLES = ("ka", "vel", "tor", "mi", "ran", "bru", "sol", "den", "fi", "lau", "gor", "pe", "nix")
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


@dataclass(frozen=True, slots=True)
class World:
    """Documents by file name, in the order to ingest them, and the new stem of each old one."""

    documents: tuple[tuple[str, bytes], ...]
    stems: dict[str, str]

    def name(self, original: str) -> str:
        """Give the new name of a company of the example."""
        for old, new in self.stems.items():
            original = re.sub(rf"\b{old}\b", new, original)
        return original


def original_world() -> World:
    """Give the example as it is shipped."""
    files = sorted((EXAMPLE / "documents").iterdir())
    return World(tuple((file.name, file.read_bytes()) for file in files), {})


def _new_stems(chance: random.Random) -> dict[str, str]:
    taken: set[str] = set()
    stems: dict[str, str] = {}
    for old in STEMS:
        while (new := "".join(chance.choices(_SYLLABLES, k=3)).capitalize()) in taken:
            pass
        taken.add(new)
        stems[old] = new
    return stems


def _other_day(match: re.Match[str], chance: random.Random) -> str:
    """Move a day inside its month; ends of months and of insurance years stay where they are."""
    day = int(match[1])
    if day in {1, 28, 30, 31}:
        return match[0]
    return f"{chance.randint(2, 27)} {match[2]} {match[3]}"


def _other_cover(match: re.Match[str], chance: random.Random) -> str:
    """Raise an amount by up to half a million; never lower it below what a rule asks."""
    amount = int(match[2].replace(",", "")) + chance.randint(1, 499) * 1000
    return f"{match[1]}{amount:,}{match[3]}"


def renamed_world(seed: int) -> World:
    """Give the example with other names, days, amounts and identifiers, in another order."""
    chance = random.Random(seed)
    stems = _new_stems(chance)
    world = World((), stems)
    documents = []
    for name, data in original_world().documents:
        text = world.name(data.decode())
        text = re.sub(
            rf"\b(\d{{1,2}}) ({'|'.join(_MONTHS)}) (\d{{4}})\b",
            lambda match: _other_day(match, chance),
            text,
        )
        text = re.sub(
            r"((?:EUR|USD) )([\d,]{7,})((?:\.\d\d)?)",
            lambda match: _other_cover(match, chance),
            text,
        )
        text = re.sub(r"\b[A-Z]{2}\d{2}[A-Z\d]{10,}\b", lambda m: _other_digits(m[0], chance), text)
        if name != "sanctions-list.csv":
            name = world.name(name.title()).lower()
        documents.append((name, text.encode()))
    chance.shuffle(documents)
    return World(tuple(documents), stems)


def _other_digits(identifier: str, chance: random.Random) -> str:
    return re.sub(r"\d", lambda _: str(chance.randint(0, 9)), identifier)
