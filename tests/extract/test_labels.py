"""Lines, headings and letterheads of documents, and the short names they give."""

from __future__ import annotations

from extract.extractor import Extraction
from extract.ingest import ingest_document
from extract.pack import Pack
from kb.document import decode
from kb.statement import Modality, Polarity, Statement, value_to_json


def read(pack: Pack, text: str, name: str = "a.md") -> Extraction:
    return ingest_document((), [pack], decode(text.encode(), name=name))


def found(extraction: Extraction, dimension: str) -> list[Statement]:
    return [statement for statement, _ in extraction.grounded if statement.dimension == dimension]


def value(statement: Statement) -> str:
    return value_to_json(statement.value)["value"]


def test_a_document_states_its_kind_issuer_and_day(supplier: Pack) -> None:
    text = "# Certificate of insurance\n\nIssued by: Elm Assurance plc\nDate: 3 May 2025\n"
    extraction = read(supplier, text)
    subject = "doc:" + decode(text.encode(), name="a.md").source_sha256
    assert {(s.subject, s.dimension, value(s)) for s, _ in extraction.grounded} == {
        (subject, "document_kind", "Insurance certificate"),
        (subject, "issuer", "Elm Assurance plc"),
        (subject, "issued_on", "2025-05-03"),
    }


def test_a_line_wins_over_the_heading(supplier: Pack) -> None:
    extraction = read(supplier, "# Letter on the audit report\n\nDocument: Audit report\n")
    assert [value(s) for s in found(extraction, "document_kind")] == ["Audit report"]


def test_the_letterhead_is_the_issuer(supplier: Pack) -> None:
    text = "Elm Assurance plc\n12 Quay Street\n\nCERTIFICATE\n\nInsured: Oak Ltd\n"
    assert [value(s) for s in found(read(supplier, text, "a.txt"), "issuer")] == [
        "Elm Assurance plc"
    ]


def test_the_subject_is_the_line_of_the_section_else_its_heading(supplier: Pack) -> None:
    text = (
        "# Audits\n\n## Elm Ltd\n\nRating: Good\n\n## Second audit\n\nAuditee: Oak Ltd\n"
        "Rating: Poor\n\n## Details\n\nRating: Excellent\n"
    )
    extraction = read(supplier, text)
    assert [(s.subject, value(s)) for s in found(extraction, "audit_rating")] == [
        ("Elm Ltd", "Good"),
        ("Oak Ltd", "Poor"),
    ]
    assert [r.reason for r in extraction.rejected] == [
        "the line does not say what it is about; expected a line such as 'Company: ..' above it"
    ]


def test_sections_without_a_subject_have_the_only_one_of_the_document(supplier: Pack) -> None:
    text = "# Report\n\nCompany: Elm Ltd\n\n## Details\n\nRegistered country: Ireland\n"
    assert [s.subject for s in found(read(supplier, text), "registered_country")] == ["Elm Ltd"]


def test_validity_of_a_section_bounds_what_it_certifies(supplier: Pack) -> None:
    text = (
        "Insured: Elm Ltd\nLimit of liability: EUR 5m\n\nThe policy is valid from 1 January 2026\n"
        "to 31 December 2026. Elm Ltd is not certified under ISO 9001.\n"
    )
    extraction = read(supplier, text, "a.txt")
    (cover,) = found(extraction, "liability_cover")
    assert (str(cover.validity.start), str(cover.validity.end)) == ("2026-01-01", "2027-01-01")
    (standard,) = found(extraction, "certified_under")
    assert standard.polarity is Polarity.DENIED
    assert standard.validity.end is None


def test_values_may_be_denied_doubtful_or_open(supplier: Pack) -> None:
    text = (
        "Company: Elm Ltd\nCertified under: not ISO 9001\nActivity: Road freight (planned)\n"
        "Rating: not assessed\nRegistered country: Irland\n"
    )
    extraction = read(supplier, text, "a.txt")
    (standard,) = found(extraction, "certified_under")
    assert standard.polarity is Polarity.DENIED
    (activity,) = found(extraction, "activity")
    assert activity.modality is Modality.PLANNED
    assert [r.reason for r in extraction.rejected] == [
        "the line leaves audit_rating open",
        "'Irland' is no class of registered_country; nearest is 'ireland'",
    ]


def test_a_short_name_is_an_identity_with_its_quote(supplier: Pack) -> None:
    text = (
        '# Contract\n\nThis contract binds Elm Logistics GmbH ("Elm") and Oak AG (the "Buyer").\n\n'
        "## Terms\n\nElm is registered in Ireland. The Buyer is registered in Spain.\n"
    )
    extraction = read(supplier, text)
    assert {(s.subject, value(s)) for s in found(extraction, "same_as")} == {
        ("Elm Logistics GmbH", "Elm"),
        ("Oak AG", "Buyer"),
    }
    assert ("Elm Logistics GmbH", "Ireland") in {
        (s.subject, value(s)) for s in found(extraction, "registered_country")
    }
    quotes = [e.quote for s, e in extraction.grounded if value(s) == "Ireland"]
    assert quotes[0].startswith('Elm Logistics GmbH ("Elm")')


def test_a_translation_in_brackets_is_no_short_name(supplier: Pack) -> None:
    extraction = read(supplier, 'The ship Seute Deern ("Sweet Girl") lies in the harbour.\n')
    assert found(extraction, "same_as") == []


def test_hidden_and_struck_text_is_no_source(supplier: Pack) -> None:
    text = (
        "Company: Elm Ltd\n\n<!-- Registered country: Spain -->\n\n"
        "~~Elm Ltd is registered in Spain.~~\n"
    )
    assert found(read(supplier, text), "registered_country") == []


def test_a_value_may_stand_below_its_label(supplier: Pack) -> None:
    text = "Company:\nElm Ltd\nRegistered country:\nIreland\n"
    extraction = read(supplier, text, "a.txt")
    (country,) = found(extraction, "registered_country")
    assert (country.subject, value(country)) == ("Elm Ltd", "Ireland")


def test_a_line_with_another_label_is_running_text(supplier: Pack) -> None:
    text = "Please note: Elm Ltd is not certified\nunder ISO 9001.\n"
    (standard,) = found(read(supplier, text, "a.txt"), "certified_under")
    assert (standard.subject, standard.polarity) == ("Elm Ltd", Polarity.DENIED)


def test_long_texts_are_read_in_units(supplier: Pack) -> None:
    filler = "The weather was fine that day. " * 900
    text = (
        f"{filler}Elm Ltd is registered in Ireland. {filler}\n\nOak Ltd is registered in Spain.\n"
    )
    extraction = read(supplier, text, "a.txt")
    assert {(s.subject, value(s)) for s in found(extraction, "registered_country")} == {
        ("Elm Ltd", "Ireland"),
        ("Oak Ltd", "Spain"),
    }
    for statement, evidence in extraction.grounded:
        assert statement.subject in evidence.quote
        assert len(evidence.quote) < 100


def test_a_heading_that_calls_the_document_something_is_no_subject(supplier: Pack) -> None:
    text = "# Framework Agreement\n\nDate: 3 May 2025\nRegistered country: Ireland\n"
    assert found(read(supplier, text), "registered_country") == []


def test_pronouns_mean_the_subject_of_their_own_sentence_first(supplier: Pack) -> None:
    text = (
        "Acme Corp. is registered in Ireland. Gamma S.p.A. was certified under ISO 9001 until "
        "3 May 2024; it is not certified under ISO 14001.\n"
    )
    assert {
        (s.subject, value(s), s.polarity, str(s.validity.end))
        for s in found(read(supplier, text), "certified_under")
    } == {
        ("Gamma S.p.A.", "ISO 9001", Polarity.AFFIRMED, "2024-05-04"),
        ("Gamma S.p.A.", "ISO 14001", Polarity.DENIED, "None"),
    }


def test_coordinated_subjects_each_have_each_value(supplier: Pack) -> None:
    text = "Elm Ltd and Oak AG are certified under ISO 9001 and ISO 14001.\n"
    assert {(s.subject, value(s)) for s in found(read(supplier, text), "certified_under")} == {
        ("Elm Ltd", "ISO 9001"),
        ("Elm Ltd", "ISO 14001"),
        ("Oak AG", "ISO 9001"),
        ("Oak AG", "ISO 14001"),
    }


def test_a_single_common_word_is_no_subject(supplier: Pack) -> None:
    for heading in ("Note", "Remarks", "Particulars"):
        text = f"# {heading}\n\nRegistered country: Ireland\n"
        assert found(read(supplier, text), "registered_country") == []
