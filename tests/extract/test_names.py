"""Looking names up: exactly, folded, up to a disambiguator, and the nearest of unknown ones."""

from __future__ import annotations

import unicodedata

from extract.names import (
    Disambiguated,
    Exact,
    NameIndex,
    SameName,
    UnknownName,
    bare,
    disambiguator,
    nearest_words,
)

INDEX = NameIndex(
    [
        "Kismet",
        "Kismet (1955 film)",
        "Home (2009 film)",
        "Home (2015 film)",
        "Ștefan",
        "NATO",
        "Nato",
    ]
)


def test_a_name_as_written_is_exact_and_tells_of_others() -> None:
    assert INDEX.look_up("Kismet") == Exact("Kismet", ("Kismet (1955 film)",))
    assert INDEX.look_up("Kismet (1955 film)") == Exact("Kismet (1955 film)")


def test_case_space_and_composition_are_the_same_name() -> None:
    assert INDEX.look_up("  kismet ") == SameName(("Kismet",))
    assert INDEX.look_up(unicodedata.normalize("NFD", "ștefan")) == SameName(("Ștefan",))


def test_every_name_that_folds_alike_is_a_reading() -> None:
    assert INDEX.look_up("nato") == SameName(("NATO", "Nato"))
    assert INDEX.look_up("Nato") == SameName(("NATO", "Nato"))
    assert INDEX.look_up("Nato", delimited=True) == Exact("Nato")


def test_a_bare_name_has_every_disambiguated_reading() -> None:
    assert INDEX.look_up("Home") == Disambiguated(("Home (2009 film)", "Home (2015 film)"))


def test_a_disambiguated_name_may_be_the_bare_one_but_no_other() -> None:
    assert INDEX.look_up("Kismet (1944 film)") == Disambiguated(("Kismet",))
    assert isinstance(INDEX.look_up("Home (1999 film)"), UnknownName)


def test_an_unknown_name_has_its_nearest() -> None:
    assert INDEX.look_up("Kismett") == UnknownName(("Kismet",))


def test_disambiguators_are_taken_apart() -> None:
    assert (bare("Kismet (1955 film)"), disambiguator("Kismet (1955 film)")) == (
        "Kismet",
        "1955 film",
    )
    assert (bare("(Untitled)"), disambiguator("(Untitled)")) == ("(Untitled)", "")


def test_nearest_words_are_sorted_by_nearness() -> None:
    assert nearest_words("directer", ["director", "directed", "born"]) == ("directed", "director")
