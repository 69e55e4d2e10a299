"""The wiki pack reads titled passages; the title is what a passage is about."""

from __future__ import annotations

import json

import pytest

from extract.ingest import ingest_document
from extract.pack import Pack
from extract.pack_tests import example_document, run_pack_tests
from kb.document import decode
from kb.statement import Modality, Polarity, value_to_json


def facts(pack: Pack, title: str, text: str) -> set[tuple[str, str, str]]:
    extraction = ingest_document((), [pack], example_document(text, title=title))
    return {
        (statement.subject, statement.dimension, value_to_json(statement.value)["value"])
        for statement, _ in extraction.grounded
        if statement.modality is Modality.ASSERTED and statement.polarity is Polarity.AFFIRMED
    }


def test_examples_of_the_pack_hold(wiki: Pack) -> None:
    report = run_pack_tests(wiki)
    assert [str(failure) for failure in report.failures] == []
    assert report.untested == ()


def test_the_full_title_is_the_entity(wiki: Pack) -> None:
    text = (
        "John Albert Marlow (March 4, 1901 – May 6, 1977) was an American film director. "
        "Marlow was born in Denver, Colorado. He married the actress Eva Stone in 1930. "
        "His father was Peter Marlow."
    )
    assert facts(wiki, "John Marlow (director)", text) >= {
        ("John Marlow (director)", "date_of_birth", "1901-03-04"),
        ("John Marlow (director)", "date_of_death", "1977-05-06"),
        ("John Marlow (director)", "country_of_citizenship", "United States"),
        ("John Marlow (director)", "nationality", "American"),
        ("John Marlow (director)", "place_of_birth", "Denver"),
        ("John Marlow (director)", "spouse", "Eva Stone"),
        ("John Marlow (director)", "father", "Peter Marlow"),
        ("John Marlow (director)", "known_as", "John Albert Marlow"),
    }


def test_quotes_reach_back_to_the_name_a_pronoun_stands_for(wiki: Pack) -> None:
    text = "Eva Stone (born 4 May 1950) is an Irish singer. She was born in Cork."
    document = example_document(text, title="Eva Stone")
    quotes = [
        evidence.quote
        for statement, evidence in ingest_document((), [wiki], document).grounded
        if statement.dimension == "place_of_birth"
    ]
    assert quotes == [text]


def test_traces_of_tokenising_are_read_through(wiki: Pack) -> None:
    text = (
        "Marie- Anne Roux( 13 November 1900, Kuopio – 18 May 1985, Helsinki) was a Finnish writer."
    )
    found = facts(wiki, "Marie-Anne Roux", text)
    assert ("Marie-Anne Roux", "date_of_birth", "1900-11-13") in found
    assert ("Marie-Anne Roux", "place_of_birth", "Kuopio") in found
    assert ("Marie-Anne Roux", "date_of_death", "1985-05-18") in found
    assert ("Marie-Anne Roux", "place_of_death", "Helsinki") in found


def test_who_directed_what_is_kept_apart(wiki: Pack) -> None:
    text = (
        'Peter Lyle (born 1950) is a British actor. He is known for the film "Salt Roads", which '
        "was directed by Ann Moss."
    )
    found = facts(wiki, "Peter Lyle", text)
    assert ("Salt Roads", "director", "Ann Moss") in found
    assert not any(s == "Peter Lyle" and d == "director" for s, d, _ in found)


def test_a_credit_after_a_credit_belongs_to_the_film(wiki: Pack) -> None:
    text = (
        "Salt Roads is a 1999 British drama film directed by Ann Moss, produced by Jim Hay and "
        "starring Peter Lyle and Eva Stone."
    )
    found = facts(wiki, "Salt Roads (film)", text)
    assert {(d, v) for s, d, v in found if s == "Salt Roads (film)"} == {
        ("publication_date", "1999"),
        ("country_of_origin", "United Kingdom"),
        ("director", "Ann Moss"),
        ("producer", "Jim Hay"),
        ("cast_member", "Peter Lyle"),
        ("cast_member", "Eva Stone"),
        ("known_as", "Salt Roads"),
    }
    assert {s for s, _, _ in found} == {"Salt Roads (film)"}


def test_his_wife_is_the_wife_of_the_man_named_before(wiki: Pack) -> None:
    text = (
        "Rolf of Ness (1400 – 1450) was the eldest son of Olaf I, Duke of Ness, and his wife Inga."
    )
    found = facts(wiki, "Rolf of Ness", text)
    assert ("Rolf of Ness", "father", "Olaf I, Duke of Ness") in found
    assert ("Rolf of Ness", "mother", "Inga") in found
    assert ("Olaf I, Duke of Ness", "spouse", "Inga") in found
    assert ("Rolf of Ness", "spouse", "Inga") not in found


def test_a_name_beside_a_noun_is_its_subject(wiki: Pack) -> None:
    text = (
        "Rolf of Ness (1400 – 1450) was a duke. "
        "He married Greta Holm (1410 – 1460), daughter of Karl Dahl."
    )
    found = facts(wiki, "Rolf of Ness", text)
    assert ("Greta Holm", "father", "Karl Dahl") in found
    assert not any(s == "Rolf of Ness" and d == "father" for s, d, _ in found)


def test_words_of_titles_are_no_cues(wiki: Pack) -> None:
    title = "You Can Never Come Back"
    found = facts(wiki, title, f"{title} is a 1950 Italian film directed by Ugo Riva.")
    assert (title, "director", "Ugo Riva") in found


def test_places_inside_longer_names_are_not_countries(wiki: Pack) -> None:
    found = facts(wiki, "Wirra", "Wirra is a town in New South Wales, Australia.")
    assert found == {("Wirra", "country", "Australia")}


@pytest.mark.parametrize(
    ("text", "modality"),
    [
        ("Salt Roads is an upcoming film directed by Ann Moss.", Modality.PLANNED),
        ("Salt Roads is a film that may be directed by Ann Moss.", Modality.HEDGED),
        ("According to its agent, Salt Roads is a film directed by Ann Moss.", Modality.ATTRIBUTED),
    ],
)
def test_what_is_no_fact_is_marked(wiki: Pack, text: str, modality: Modality) -> None:
    document = example_document(text, title="Salt Roads")
    found = [
        statement.modality
        for statement, _ in ingest_document((), [wiki], document).grounded
        if statement.dimension == "director"
    ]
    assert found == [modality]


def test_titles_of_other_passages_are_whole_names(wiki: Pack) -> None:
    corpus = [
        {"title": "Max of Thorn and Tax", "text": "Max of Thorn and Tax (born 1970) is a prince."},
        {
            "title": "Otto Thorn",
            "text": "Otto Thorn (born 1940) is the father of Max of Thorn and Tax.",
        },
    ]
    document = decode(json.dumps(corpus).encode(), name="corpus.json")
    found = {
        (statement.subject, value_to_json(statement.value)["value"])
        for statement, _ in ingest_document((), [wiki], document).grounded
        if statement.dimension == "child"
    }
    assert found == {("Otto Thorn", "Max of Thorn and Tax")}


@pytest.mark.parametrize(
    "text",
    [
        "Rolf Dahl (1400 – 1450) was a duke. The son of Karl Dahl, he ruled in Ness.",
        "Rolf Dahl (1400 – 1450) was a duke. He was born in Bergen, the son of Karl Dahl.",
        "Rolf Dahl (1400 – 1450) was one of the sons of Karl Dahl.",
        "Rolf Dahl (1400 – 1450) was born as the third son of Karl Dahl.",
        "Rolf Dahl (1400 – 1450) was a duke. His father was the poet Karl Dahl.",
    ],
)
def test_forms_of_descent(wiki: Pack, text: str) -> None:
    found = facts(wiki, "Rolf Dahl", text)
    assert {(s, v) for s, d, v in found if d == "father"} == {("Rolf Dahl", "Karl Dahl")}


@pytest.mark.parametrize(
    "text",
    [
        "Rolf Dahl (1400 – 1450) was a duke. He left his land to the sons of Karl Holm.",
        "Rolf Dahl (1400 – 1450) was a duke. He married Agnes, the daughter of Karl Holm.",
        "Rolf Dahl (1400 – 1450) was a duke. He was the grandson of Karl Holm.",
    ],
)
def test_what_is_said_of_others_is_not_said_of_the_title(wiki: Pack, text: str) -> None:
    assert not any(d == "father" for _, d, _ in facts(wiki, "Rolf Dahl", text))


def test_a_document_keeps_the_finer_of_two_dates(wiki: Pack) -> None:
    text = "Rolf Dahl (4 May 1900 – 3 June 1950) was a poet. He died in 1950 in Bergen."
    document = example_document(text, title="Rolf Dahl")
    extraction = ingest_document((), [wiki], document)
    assert [
        str(statement.value)
        for statement, _ in extraction.grounded
        if statement.dimension == "date_of_death"
    ] == ["1950-06-03"]
    assert [rejection.reason for rejection in extraction.rejected] == [
        "the document states date_of_death more precisely elsewhere"
    ]
