"""Titles with a qualifier, and the links from bare names to them."""

from __future__ import annotations

import pytest

from extract.pack import Pack
from extract.packs import shipped_packs
from extract.title_links import TitledPassage, TitleLinker, Use
from extract.titles import calls_by_bare_name, split_title


@pytest.mark.parametrize(
    ("title", "parts"),
    [
        ("Ann Moss (director)", ("Ann Moss", "director")),
        ("Dawn (1998 film)", ("Dawn", "1998 film")),
        ("Ann Moss (footballer, born 1955)", ("Ann Moss", "footballer, born 1955")),
        ("Inga of Ness (1844–1899)", ("Inga of Ness", "1844–1899")),
        ("Dawn (EP) (album)", ("Dawn (EP)", "album")),
        ("Ann Moss", ("Ann Moss", "")),
        ("Bank of Ness (Asia)", ("Bank of Ness (Asia)", "")),
        ("Dawn (disambiguation)", ("Dawn (disambiguation)", "")),
        ("(director)", ("(director)", "")),
    ],
)
def test_a_qualifier_describes(title: str, parts: tuple[str, str]) -> None:
    assert split_title(title) == parts


@pytest.mark.parametrize(
    ("lead", "opening", "after", "does"),
    [
        ("Ann Moss", "Ann Moss is a director.", " is a director.", True),
        ("Ann Clara Moss", "Ann Clara Moss is a director.", " is a director.", True),
        ("A. C. Moss", "A. C. Moss, known as Ann Moss, is a director.", ", known as", True),
        ("A. C. Moss", "A. C. Moss is a director.", " is a director.", False),
        ("Moss Ann", "Moss Ann is a director.", " is a director.", False),
        ("Ann Moss", "Ann Moss (director) is a play.", " (director) is a play.", False),
    ],
)
def test_a_passage_calls_its_subject_by_the_bare_name(
    lead: str, opening: str, after: str, does: bool
) -> None:
    assert calls_by_bare_name("Ann Moss (director)", lead, opening, after) is does


@pytest.fixture(scope="module")
def linker() -> TitleLinker:
    packs: tuple[Pack, ...] = tuple(pack for pack in shipped_packs() if pack.name == "wiki")
    return TitleLinker(packs)


def _passage(title: str, opening: str, more: str = "") -> TitledPassage:
    return TitledPassage(title, f"{title}\n{opening}", f"{title}\n{opening} {more}")


DIRECTOR = _passage("Ann Moss (director)", "Ann Moss (1950–2001) was a British film director.")
POLITICIAN = _passage("Ann Moss (politician)", "Ann Moss (1960–2011) was a Canadian politician.")
DIRECTED = Use("director", "Salt Roads", is_value=True)


def _chosen(
    linker: TitleLinker,
    passages: list[TitledPassage],
    uses: list[Use],
    *titles: str,
    name: str = "Ann Moss",
) -> list[str]:
    found = linker.choose(passages, {name: set(uses)}, titles={*titles})
    return [passage.title for passage in found]


def test_the_role_of_a_use_chooses_among_namesakes(linker: TitleLinker) -> None:
    for passages in ([DIRECTOR], [DIRECTOR, POLITICIAN], [POLITICIAN, DIRECTOR]):
        assert _chosen(linker, passages, [DIRECTED]) == ["Ann Moss (director)"]
    assert _chosen(linker, [POLITICIAN], [DIRECTED]) == []


def test_the_opening_may_name_the_role(linker: TitleLinker) -> None:
    actor = _passage("Ann Moss (actor)", "Ann Moss was an American actor, director and writer.")
    assert _chosen(linker, [actor], [DIRECTED]) == ["Ann Moss (actor)"]


def test_two_that_agree_are_linked_neither(linker: TitleLinker) -> None:
    other = _passage("Ann Moss (filmmaker)", "Ann Moss is a Canadian filmmaker.")
    assert _chosen(linker, [DIRECTOR, other], [DIRECTED]) == []


def test_a_name_with_a_passage_of_its_own_is_not_linked(linker: TitleLinker) -> None:
    assert _chosen(linker, [DIRECTOR], [DIRECTED], "Ann Moss") == []


def test_every_use_must_agree(linker: TitleLinker) -> None:
    father = Use("mother", "Peter Lyle", is_value=True)
    assert _chosen(linker, [DIRECTOR], [DIRECTED, father]) == []
    told = _passage(DIRECTOR.title, "Ann Moss was a film director.", "Her son is Peter Lyle.")
    assert _chosen(linker, [told], [DIRECTED, father]) == [DIRECTOR.title]


def test_a_passage_that_names_the_other_side_agrees(linker: TitleLinker) -> None:
    told = _passage("Inga (1844–1899)", "Inga was a queen.", "She was the wife of Rolf of Ness.")
    spouse = Use("spouse", "Rolf of Ness (king)", is_value=True)
    assert _chosen(linker, [told], [spouse], name="Inga") == ["Inga (1844–1899)"]
    stranger = Use("spouse", "Olaf", is_value=True)
    assert _chosen(linker, [told], [stranger], name="Inga") == []


def test_the_kind_of_what_is_titled_must_be_asked_for(linker: TitleLinker) -> None:
    film = _passage("Ann Moss (film)", "Ann Moss is a film by the director of Salt Roads.")
    assert _chosen(linker, [film], [DIRECTED]) == []


def test_one_word_alone_is_linked_by_its_qualifier_only(linker: TitleLinker) -> None:
    rain = _passage("Rain (entertainer)", "Rain is a singer and director.")
    sung = Use("performer", "Salt Song", is_value=True)
    directed = Use("director", "Salt Roads", is_value=True)
    assert _chosen(linker, [rain], [sung], name="Rain") == ["Rain (entertainer)"]
    assert _chosen(linker, [rain], [directed], name="Rain") == []


def test_a_name_that_nobody_else_uses_needs_no_link(linker: TitleLinker) -> None:
    assert _chosen(linker, [DIRECTOR], []) == []


def test_an_unknown_dimension_agrees_with_nothing(linker: TitleLinker) -> None:
    assert _chosen(linker, [DIRECTOR], [Use("friend", "Salt Roads", is_value=True)]) == []
