"""How encyclopedic articles open and name kin: forms that the tagger and the parser miss."""

from __future__ import annotations

import json

import pytest

from extract.ingest import ingest_document
from extract.pack import Pack
from kb.document import decode
from kb.statement import Entity, Modality, Polarity, TaxonClass, Text

LEAD = "Ann Lee (born 4 May 1950) is an Irish painter. "
HER = "Ann Lee"


def triples(pack: Pack, title: str, text: str) -> set[tuple[str, str, str]]:
    """Give what a passage asserts, names of entities aside."""
    data = json.dumps([{"title": title, "text": text}]).encode()
    found = set()
    for each, _ in ingest_document([], [pack], decode(data, name="pages.json")).grounded:
        if (each.polarity, each.modality) == (Polarity.AFFIRMED, Modality.ASSERTED):
            match each.value:
                case Entity(name) | TaxonClass(name) | Text(name):
                    value = name
                case other:
                    value = str(other)
            found.add((each.subject, each.dimension, value))
    return found


def values(pack: Pack, title: str, text: str, dimension: str) -> set[str]:
    return {
        value
        for subject, name, value in triples(pack, title, text)
        if subject == title and name == dimension
    }


OPENINGS = [
    # A life in brackets is a person's, whatever the title ends with or the tagger thinks.
    ("Tom Hill (pitcher)", "Tom Hill (born in Cork) is a pitcher.", "place_of_birth", {"Cork"}),
    ("Ann Hall", "Ann Hall (born May 1950) is a founder of clubs.", "date_of_birth", {"1950-05"}),
    (
        "Jo Ray",
        "Jo Ray (born 4 May 1950) is an Irish film, television and stage actress.",
        "country_of_citizenship",
        {"Ireland"},
    ),
    # Titles that hold a sign, a denial or another title.
    ("Who Ran Home?", "Who Ran Home? is a 1950 film directed by Tom Roe.", "director", {"Tom Roe"}),
    (
        "Run Home",
        "Run Home or Do Not Run is a 1950 film directed by Tom Roe.",
        "director",
        {"Tom Roe"},
    ),
    (
        "Der Hafen",
        'Der Hafen ("The Harbour") is a 1950 film directed by Tom Roe and starring Jo Ray.',
        "cast_member",
        {"Jo Ray"},
    ),
    (
        "Der Hafen",
        'Der Hafen (English: "Life is a Harbour") is a 1950 film directed by Tom Roe.',
        "director",
        {"Tom Roe"},
    ),
    (
        "The Long Quay",
        "Starring Jo Ray, The Long Quay is a lost 1920 silent film directed by Tom Roe.",
        "director",
        {"Tom Roe"},
    ),
    (
        "Dawn Chorus",
        '"Dawn Chorus" is a charity single. It was written by Tom Roe and Jo Ray.',
        "composer",
        {"Tom Roe", "Jo Ray"},
    ),
    ("Roe", "Roe Inc. is an Irish company founded in 1909.", "inception", {"1909"}),
    # Where something is from.
    (HER, "Ann Lee (born 1950) is a Scottish-born Irish painter.", "nationality", {"Irish"}),
    (HER, "Ann Lee is a Scottish born Irish painter.", "nationality", {"Irish"}),
    (HER, "Ann Lee is a motorcycle racer from Cork, Ireland.", "nationality", {"Ireland"}),
    (HER, "Ann Lee was a refugee from Austria.", "nationality", set()),
    (HER, "Ann Lee is a character from the Irish series Quay.", "nationality", set()),
    ("Quay", "Quay is 1950 Irish film.", "country_of_origin", {"Ireland"}),
    ("Quay", "Quay is a country song.", "country_of_origin", set()),
    ("Ulm", "Ulm is a village in Central District of Botswana.", "country", {"Botswana"}),
    # Dates and places in brackets.
    (HER, "Ann Lee (c. 1504, in Cork – 26 May 1559) was a nun.", "place_of_birth", {"Cork"}),
    (HER, "Ann Lee (in Cork – 26 May 1559 in Ulm) was a nun.", "place_of_birth", {"Cork"}),
    (HER, "Ann Lee (in Cork – 26 May 1559 in Ulm) was a nun.", "place_of_death", {"Ulm"}),
    (HER, "Ann Lee (born 1912 – 3 May 1970 Cork) was a nun.", "place_of_birth", set()),
    (HER, "Ann Lee (1410 ‒ September 1449) was a nun.", "date_of_death", {"1449-09"}),
]  # fmt: skip


@pytest.mark.parametrize(("title", "text", "dimension", "expected"), OPENINGS)
def test_openings(wiki: Pack, title: str, text: str, dimension: str, expected: set[str]) -> None:
    assert values(wiki, title, text, dimension) == expected


KIN = [
    ("She is the daughter of poet Tom Lee and older sister of poet Jo Lee.", "sibling", {"Jo Lee"}),
    ("The only daughter of Tom Lee, 4th Earl of Ulm, and his wife Lady Jo Roe.", "father",
     {"Tom Lee, 4th Earl of Ulm"}),
    ("The only daughter of Tom Lee, 4th Earl of Ulm, and his wife Lady Jo Roe.", "mother",
     {"Lady Jo Roe"}),
    ("Born Ann Roe in Cork, the daughter of Tom Roe.", "father", {"Tom Roe"}),
    ("She was the daughter of Tom Lee, a judge in Cork, and his second wife, Jo Roe.", "mother",
     {"Jo Roe"}),
    ("She is the daughter of Tom Roe (a friend of Paul Ray and of Max Hale in Cork) and Jo Roe.",
     "mother", {"Jo Roe"}),
    ("She was the daughter of Queen Jo of Ulm and Duke Tom of Cork.", "father",
     {"Duke Tom of Cork"}),
    ("She was the daughter of Queen Jo of Ulm and Duke Tom of Cork.", "mother",
     {"Queen Jo of Ulm"}),
    ("She is the daughter of Caroline Roe.", "mother", {"Caroline Roe"}),
    ("She is the daughter of Caroline Roe.", "father", set()),
    ("She was the youngest daughter born to Tom Lee, Duke of Ulm, and his wife, Jo Roe.", "father",
     {"Tom Lee, Duke of Ulm"}),
    ("She is the daughter of Tom I of Ulm (younger brother of Max II of Ulm) and his wife, Jo Roe.",
     "spouse", set()),
    ("Her grandparents were Tom Roe and his first wife, Jo Ray.", "spouse", set()),
    ("Lee was married to the stage designer and screenwriter Tom Roe until 1990.",
     "spouse", {"Tom Roe"}),
    ("In 1975 she married in Cork, Ireland, Tom Roe.", "spouse", {"Tom Roe"}),
    ("She married twice, first to Tom Roe, and then to Max Hale, 1st Baron Hale.", "spouse",
     {"Tom Roe", "Max Hale, 1st Baron Hale"}),
    ("Through a second marriage with Tom Roe, she became rich.", "spouse", {"Tom Roe"}),
    ("She taught her brother's daughter, the dancer Jo Roe.", "child", set()),
    ("She is the mother of Tom Roe and Max Roe.", "child", {"Tom Roe", "Max Roe"}),
    ("She is the mother of two painters: Tom Roe and Max Roe.", "child", {"Tom Roe", "Max Roe"}),
    ("Two of Lee's younger sisters were Jo Lee and Una Lee.", "sibling",
     {"Jo Lee", "Una Lee"}),
    ("She is the sister of Tom Lee (born 1954), a judge.", "date_of_birth", {"1950-05-04"}),
    ("After her father died in 1953, she went to Cork.", "date_of_death", set()),
    ("After Lee shot a soldier, who was killed in 1864, she hid.", "date_of_death", set()),
    ("Lee died on 3 March 1990.", "date_of_death", {"1990-03-03"}),
    ("She is the wife of Prince Tom of Ulm and Austria, the son of King Max.", "father", set()),
    ("She is the daughter of Archduke Joseph August of Austria.", "father",
     {"Archduke Joseph August of Austria"}),
    ("She is the daughter of Tom V, Grand Duke of Ulm.", "father", {"Tom V, Grand Duke of Ulm"}),
    ("She is the daughter of Sultan Tom II of the Ulm Empire.", "father", {"Tom II"}),
    ("She studied at the Royal Academy of Painting and Sculpture.", "educated_at",
     {"Royal Academy of Painting and Sculpture"}),
    ("She studied at the Royal Academy of Music and Trinity College.", "educated_at",
     {"Royal Academy of Music", "Trinity College"}),
    ("She attended Christ Church, Oxford.", "educated_at", {"Christ Church"}),
    ("She earned a doctorate from the University of Cork in 1980.", "educated_at",
     {"University of Cork"}),
    ("She attended the Congress of Ulm.", "educated_at", set()),
    ("She was born to Swedish parents in Cork.", "place_of_birth", {"Cork"}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "dimension", "expected"), KIN)
def test_kin_and_lives(wiki: Pack, text: str, dimension: str, expected: set[str]) -> None:
    assert values(wiki, HER, LEAD + text, dimension) == expected


def test_what_stands_behind_a_noun_is_the_thing(wiki: Pack) -> None:
    text = (
        '"Grey Quay" is a song written by Ailsa Kerr for the film "Long Road", a 2009 film '
        'directed by Tom Roe. It was on the album "Old Tides", released in December 1960.'
    )
    found = triples(wiki, "Grey Quay", text)
    assert ("Long Road", "director", "Tom Roe") in found
    assert ("Old Tides", "publication_date", "1960-12") in found
    assert not {name for subject, name, _ in found if subject == "Grey Quay"} & {
        "director",
        "publication_date",
    }


def test_a_namesake_is_not_the_title(wiki: Pack) -> None:
    text = "Ann Lee was an Irish nun. Another Ann Lee, the wife of Tom Roe, was a painter."
    assert values(wiki, HER, text, "spouse") == set()


def test_relatives_with_the_name_of_the_title_keep_theirs(wiki: Pack) -> None:
    text = "Ann May Fane Lee (1850 – 1900) was a nun. She was a sister of Ann Fane Lee."
    assert values(wiki, "Ann May Fane Lee", text, "sibling") == {"Ann Fane Lee"}


@pytest.mark.parametrize(("noun", "dimension"), [("song", "composer"), ("film", "screenwriter")])
def test_a_pattern_may_ask_what_the_passage_opens_with(
    wiki: Pack, noun: str, dimension: str
) -> None:
    found = triples(wiki, "Grey Quay", f"Grey Quay is a 1990 {noun}. It was written by Tom Roe.")
    said = {name for _, name, value in found if value == "Tom Roe"}
    assert said == {dimension}
