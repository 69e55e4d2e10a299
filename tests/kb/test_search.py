from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
import tantivy

from kb.document import Document, decode
from kb.knowledge_base import KnowledgeBase
from kb.search import Reach, TextIndex


def admit(base: KnowledgeBase, text: str, name: str) -> Document:
    document = decode(text.encode(), name=name)
    base.admit(document, text.encode(), [], run="r1")
    return document


def found(base: KnowledgeBase, query: str, limit: int = 10) -> list[str]:
    return [hit.text for hit in base.search(query, limit)]


def test_the_passage_with_the_rarer_words_comes_first(base: KnowledgeBase) -> None:
    admit(
        base, "# Cover\n\nThe cover is high.\n\nThe cover of Nordwind is low.\n\nNothing.", "a.md"
    )
    assert found(base, "What is the cover of Nordwind?")[0] == "The cover of Nordwind is low."
    assert "Nothing." not in found(base, "Nordwind")


def test_a_passage_is_found_by_its_title(base: KnowledgeBase) -> None:
    document = admit(base, "# Ada Lovelace\n\nBorn in London.\n\n# Other\n\nBorn in Rome.", "a.md")
    (hit,) = base.search("lovelace", 10)
    assert (hit.title, hit.text) == ("Ada Lovelace", "Born in London.")
    assert document.text[hit.start : hit.end] == hit.text
    assert hit.source_sha256 == document.source_sha256


def test_a_heading_without_text_is_still_found(base: KnowledgeBase) -> None:
    admit(base, "# Lonely\n\n# Other\n\nText.", "a.md")
    assert found(base, "lonely") == ["# Lonely"]


def test_words_match_whatever_their_case_accents_and_endings(base: KnowledgeBase) -> None:
    composed = unicodedata.normalize("NFC", "Die Prüfung der Café-Lieferanten; audited suppliers")
    admit(base, unicodedata.normalize("NFD", composed), "a.txt")
    for query in ("PRÜFUNG", unicodedata.normalize("NFD", "prüfung"), "cafe", "supplier", "audits"):
        assert len(found(base, query)) == 1, query


@pytest.mark.parametrize("query", ["", "  ", "?", '"unclosed AND (', "title:x* ~2", "a\x00b"])
def test_nothing_in_a_query_is_syntax(base: KnowledgeBase, query: str) -> None:
    admit(base, "Plain words, unclosed.", "a.txt")
    assert found(base, query) in ([], ["Plain words, unclosed."])


def test_equal_scores_are_ordered_by_source_and_position_also_at_the_cut(
    base: KnowledgeBase,
) -> None:
    documents = [admit(base, f"No {n}" + "\n\nsame words" * 7, f"{n}.txt") for n in range(5)]
    expected = sorted((d.source_sha256, p.start) for d in documents for p in d.passages[1:])
    for limit in (1, 3, 10, 34, 35, 99):
        hits = base.search("same", limit)
        assert [(hit.source_sha256, hit.start) for hit in hits] == expected[:limit]
    assert base.search("same", 0) == ()


def test_what_is_retracted_is_found_no_more_and_leaves_no_trace_in_scores(
    base: KnowledgeBase, tmp_path: Path
) -> None:
    kept = admit(base, "The cover of Nordwind is low.", "a.txt")
    gone = admit(base, "The cover of Nordwind is high, high, high.", "b.txt")
    assert len(found(base, "cover")) == 2
    base.retract_document(gone.source_sha256)
    assert found(base, "cover") == [kept.text]
    with KnowledgeBase.create(tmp_path / "other", namespace=base.namespace) as other:
        admit(other, kept.text, "a.txt")
        assert other.search("cover low", 5) == base.search("cover low", 5)


def test_scores_do_not_depend_on_when_the_index_caught_up(
    base: KnowledgeBase, tmp_path: Path
) -> None:
    texts = [f"Supplier {n} has cover {n % 3} and seat {n % 5}." for n in range(20)]
    for n, text in enumerate(texts):
        admit(base, text, f"{n}.txt")
        base.search("cover", 1)
    with KnowledgeBase.create(tmp_path / "other", namespace=base.namespace) as other:
        for n, text in reversed(list(enumerate(texts))):
            admit(other, text, f"{n}.txt")
        for query in ("cover 2", "seat 4 supplier 7"):
            assert other.search(query, 7) == base.search(query, 7)


def test_the_index_is_kept_and_caught_up(base: KnowledgeBase) -> None:
    admit(base, "First words.", "a.txt")
    assert found(base, "words") == ["First words."]
    base.close()
    with KnowledgeBase.open(base.directory) as again:
        admit(again, "Second words.", "b.txt")
        assert sorted(found(again, "words")) == ["First words.", "Second words."]
        again.publish_policy("p", "1", "ok(S).")
        assert len(found(again, "words")) == 2
    index = TextIndex(base.directory / "projections" / "text")
    assert index.revision == 4


def test_an_index_left_unfinished_is_built_anew(base: KnowledgeBase) -> None:
    admit(base, "First words.", "a.txt")
    found(base, "words")
    base.close()
    checkpoint = base.directory / "projections" / "text.revision"
    for harm in ("missing", "another format", "1 x"):
        checkpoint.unlink(missing_ok=True)
        if harm != "missing":
            checkpoint.write_text(harm, encoding="utf-8")
        with KnowledgeBase.open(base.directory) as again:
            assert found(again, "words") == ["First words."]


def test_an_index_of_an_earlier_format_is_built_anew(base: KnowledgeBase) -> None:
    admit(base, "First words.", "a.txt")
    folder = base.directory / "projections" / "text"
    folder.mkdir(parents=True)
    earlier = tantivy.SchemaBuilder().add_text_field("title", stored=True).build()
    writer = tantivy.Index(earlier, str(folder)).writer(15_000_000, 1)
    writer.add_document(tantivy.Document(title="of another shape"))
    writer.commit()
    writer.wait_merging_threads()
    (folder.parent / "text.revision").write_text(f"3 {base.revision}\n", encoding="utf-8")
    assert found(base, "words") == ["First words."]
    assert found(base, "shape") == []


def test_a_title_that_the_query_names_comes_before_passages_full_of_its_words(
    base: KnowledgeBase,
) -> None:
    admit(base, "\n\n".join(f"# River {n}\n\nWater, and hills." for n in range(30)), "rivers.md")
    admit(base, "# Ann Lee and Ann Lee\n\nAnn Lee, Ann Lee.", "a.md")
    admit(base, "# Ann Lee (poet)\n\nA poet of the north who wrote of rivers and hills.", "b.md")
    for query in ("When was Ann Lee born?", "What did ANN LEE write?", "Ann Lee (poet)"):
        assert base.search(query, 1)[0].title == "Ann Lee (poet)", query


def test_a_title_that_many_passages_share_brings_none_of_them_before_what_fits(
    base: KnowledgeBase,
) -> None:
    ships = "\n\n".join(f"# Iris (number {n})\n\nA ship." for n in range(40))
    admit(base, ships, "ships.md")
    admit(base, "\n\n".join(f"# Town {n}\n\nA town." for n in range(260)), "towns.md")
    admit(base, "# Flowers\n\nAn iris opens its violet petals at noon in May.", "b.md")
    assert base.search("Which violet petals has an Iris?", 1)[0].title == "Flowers"


def test_a_name_inside_a_longer_name_is_not_named(base: KnowledgeBase) -> None:
    admit(
        base, "# Lee\n\nA river.\n\n# Ann Lee\n\nA poet.\n\n# Other\n\nAnn Lee of Lee, Ann.", "a.md"
    )
    titles = [hit.title for hit in base.search("Who was Ann Lee?", 3)]
    assert titles[0] == "Ann Lee"


def test_words_that_questions_are_made_of_find_nothing_beside_others(base: KnowledgeBase) -> None:
    admit(base, "Who is who, and what is it that they did to whom?", "a.txt")
    admit(base, "The cover of Nordwind is low.", "b.txt")
    assert found(base, "What is the cover of Nordwind?") == ["The cover of Nordwind is low."]
    assert found(base, "who and whom?") == ["Who is who, and what is it that they did to whom?"]


def test_a_linked_search_finds_what_the_best_passage_names(base: KnowledgeBase) -> None:
    admit(base, "# Red Dawn Rising\n\nA film that was directed by Ann Lee in Rome.", "a.md")
    admit(base, "# Ann Lee (director)\n\nBorn on 3 May 1950.", "b.md")
    admit(base, "# Rome\n\nA city on the Tiber.", "c.md")
    admit(base, "# Films\n\nA film has a director, born or not.", "d.md")
    question = "Where was the director of the film Red Dawn Rising born?"
    assert [hit.title for hit in base.search(question, 4)] == [
        "Red Dawn Rising", "Films", "Ann Lee (director)",
    ]  # fmt: skip
    linked = [hit.title for hit in base.search(question, 4, reach=Reach.LINKED)]
    assert linked[:2] == ["Red Dawn Rising", "Ann Lee (director)"]
    assert "Rome" in linked


def test_a_linked_search_finds_what_is_said_of_a_name_under_another_title(
    base: KnowledgeBase,
) -> None:
    admit(base, "# Signmark\n\nA rapper who was born in Land7.", "a.md")
    for n in range(30):  # the seventh has a word more, and so comes last by the question alone
        more = " Rare." if n == 7 else ""
        text = f"# Coin {n}\n\nThe currency used in Land{n} before the euro.{more}"
        admit(base, text, f"{n}.md")
    question = "What currency was used before the euro where Signmark is from?"
    assert [hit.title for hit in base.search(question, 1, reach=Reach.NAMED)] == ["Signmark"]
    linked = [hit.title for hit in base.search(question, 6, reach=Reach.LINKED)]
    assert linked[:2] == ["Signmark", "Coin 7"]


def test_a_linked_search_follows_no_passage_that_is_gone(base: KnowledgeBase) -> None:
    gone = admit(base, "# Red Dawn Rising\n\nDirected by Ann Lee.", "a.md")
    admit(base, "# Ann Lee\n\nBorn on 3 May 1950.", "b.md")
    assert len(base.search("Red Dawn Rising", 4, reach=Reach.LINKED)) == 2
    base.retract_document(gone.source_sha256)
    assert base.search("Red Dawn Rising", 4, reach=Reach.LINKED) == ()
