"""Values of quantity dimensions have a unit that measures what the dimension does."""

from __future__ import annotations

from pathlib import Path

import pytest

from extract.pack import PackDimension
from extract.packs import load_pack
from extract.values import read_value
from kb.errors import ValueUnreadable

PACK = """\
pack: building
version: "1"
title: building
dimensions:
  - {name: height, kind: quantity, unit: m}
  - {name: load, kind: quantity, unit: MJ}
  - {name: cover, kind: quantity, unit: EUR}
  - {name: term, kind: quantity, unit: day}
"""


@pytest.fixture
def dimensions(tmp_path: Path) -> dict[str, PackDimension]:
    """The dimensions of a pack of quantities."""
    folder = tmp_path / "building"
    folder.mkdir()
    (folder / "pack.yaml").write_text(PACK)
    return {dimension.name: dimension for dimension in load_pack(folder).dimensions}


@pytest.mark.parametrize(
    ("dimension", "written", "label", "read"),
    [
        ("height", "12 m", "", "12 m"),
        ("height", "1.2 km", "", "1.2 km"),
        ("height", "12", "Height (m)", "12 m"),
        ("load", "480 MJ", "", "480 MJ"),
        ("cover", "EUR 5 m", "", "5000000 EUR"),
        ("cover", "5 million", "Cover (USD)", "5000000 USD"),
        ("term", "24 months", "", "24 month"),
    ],
)
def test_quantities_of_the_unit(
    dimensions: dict[str, PackDimension], dimension: str, written: str, label: str, read: str
) -> None:
    value = read_value(dimensions[dimension], written, label=label)
    assert str(value) == read


@pytest.mark.parametrize(
    ("dimension", "written", "said"),
    [
        ("height", "12 kg", "12 m"),
        ("height", "12", "12 m"),
        ("cover", "12 m", "EUR 5 million"),
        ("term", "EUR 12", "12 day"),
    ],
)
def test_other_units_are_no_values(
    dimensions: dict[str, PackDimension], dimension: str, written: str, said: str
) -> None:
    with pytest.raises(ValueUnreadable, match=f"such as {said}"):
        read_value(dimensions[dimension], written)
