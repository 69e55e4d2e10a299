"""Documents over the wire: what is admitted, what is refused and why, and what is known after."""

from __future__ import annotations

import gzip
from pathlib import Path

import grpc
import pytest
from live_server import DOCUMENTS, Live, running, send
from proofweave.v1 import common_pb2, knowledge_pb2

from kb.knowledge_base import KnowledgeBase
from server.knowledge import Knowledge, create_knowledge
from server.pack_files import choose_packs
from server.settings import Settings
from server.status import failure_of


def test_every_statement_stands_at_its_span(live: Live) -> None:
    knowledge = live.services.knowledge
    request = knowledge_pb2.ListStatementsRequest(subject="Acme GmbH", page_size=100)
    statements = knowledge.ListStatements(request).statements
    found = {(one.dimension, one.value.WhichOneof("kind")) for one in statements}
    assert ("liability_cover", "quantity") in found
    for statement in statements:
        assert statement.evidence
        for evidence in statement.evidence:
            pieces = knowledge.ReadDocument(
                knowledge_pb2.ReadDocumentRequest(
                    name=evidence.document, start=evidence.start, end=evidence.end
                )
            )
            assert "".join(piece.text for piece in pieces) == evidence.quote


def test_a_batch_with_bad_files_keeps_the_good_ones(empty: Live) -> None:
    good = DOCUMENTS["acme-insurance.md"].encode()
    outcomes, summary = send(
        empty.services,
        {
            "empty.txt": b"",
            "first.md": good,
            "binary.txt": bytes(range(256)) * 4,
            "latin.txt": "Gew\xe4hr".encode("latin-1"),
            "large.txt": b"a " * 60_000,
            "bomb.txt.gz": gzip.compress(b"a " * 1_000_000),
            "second.md": good,
            "blank.md": b"  \n\n",
        },
    )
    by_name = {outcome.file_name: outcome for outcome in outcomes}
    assert [outcome.index for outcome in outcomes] == list(range(8))
    assert by_name["first.md"].admitted.is_new
    assert by_name["first.md"].admitted.statements_inserted > 0
    assert not by_name["second.md"].admitted.is_new, "the same bytes are the same document"
    assert by_name["second.md"].admitted.statements_inserted == 0
    reasons = {
        name: outcome.rejected.reason
        for name, outcome in by_name.items()
        if outcome.HasField("rejected")
    }
    assert reasons == {
        "empty.txt": "DOCUMENT_REJECTED",
        "binary.txt": "DOCUMENT_REJECTED",
        "latin.txt": "DOCUMENT_REJECTED",
        "large.txt": "UPLOAD_TOO_LARGE",
        "bomb.txt.gz": "DOCUMENT_REJECTED",
        "blank.md": "DOCUMENT_REJECTED",
    }
    assert all(
        name in outcome.rejected.message and "\n" not in outcome.rejected.message
        for name, outcome in by_name.items()
        if name in reasons
    )
    assert (summary.documents_admitted, summary.documents_new, summary.documents_rejected) == (
        2,
        1,
        6,
    )


def test_progress_is_told_to_who_asks_for_it(empty: Live) -> None:
    text = "".join(f"# Part {n}\n\nAcme GmbH is based in Hamburg.\n\n" for n in range(5))
    message = knowledge_pb2.IngestDocumentsRequest
    messages = [
        message(start=knowledge_pb2.IngestStart(progress=True)),
        message(document=common_pb2.FileHeader(file_name="a.md")),
        message(chunk=text.encode()),
    ]
    *steps, outcome, _ = empty.services.knowledge.IngestDocuments(iter(messages))
    assert outcome.outcome.admitted.is_new
    assert {step.WhichOneof("content") for step in steps} == {"progress"}
    assert {(step.progress.index, step.progress.file_name) for step in steps} == {(0, "a.md")}
    done = [step.progress.done for step in steps]
    assert (done[0], done[-1], sorted(done)) == (0, steps[-1].progress.total, done)


def test_ingesting_again_changes_nothing(live: Live) -> None:
    files = {name: text.encode() for name, text in DOCUMENTS.items()}
    _, first = send(live.services, files)
    _, second = send(live.services, files)
    assert second.statements_inserted == 0
    assert first.revision == second.revision


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [knowledge_pb2.IngestDocumentsRequest(chunk=b"a")],
        [
            knowledge_pb2.IngestDocumentsRequest(start=knowledge_pb2.IngestStart()),
            knowledge_pb2.IngestDocumentsRequest(chunk=b"a"),
        ],
        [
            knowledge_pb2.IngestDocumentsRequest(start=knowledge_pb2.IngestStart()),
            knowledge_pb2.IngestDocumentsRequest(),
        ],
    ],
    ids=["nothing", "no start", "no header", "empty message"],
)
def test_an_upload_out_of_order_is_refused(
    live: Live, messages: list[knowledge_pb2.IngestDocumentsRequest]
) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        list(live.services.knowledge.IngestDocuments(iter(messages)))
    assert failure_of(caught.value).reason == "REQUEST_REJECTED"


def test_an_unknown_knowledge_base_is_named(live: Live) -> None:
    start = knowledge_pb2.IngestStart(parent="knowledgeBases/kbb")
    messages = iter([knowledge_pb2.IngestDocumentsRequest(start=start)])
    with pytest.raises(grpc.RpcError) as caught:
        list(live.services.knowledge.IngestDocuments(messages))
    failure = failure_of(caught.value)
    assert failure.status is grpc.StatusCode.NOT_FOUND
    assert "kbb" in failure.message


def test_documents_are_listed_in_pages(live: Live) -> None:
    seen: list[str] = []
    request = knowledge_pb2.ListDocumentsRequest(page_size=1)
    while True:
        response = live.services.knowledge.ListDocuments(request)
        seen += [document.name for document in response.documents]
        if not response.next_page_token:
            break
        request.page_token = response.next_page_token
    assert len(seen) == len(set(seen)) >= len(DOCUMENTS)


def test_a_retracted_document_takes_its_statements_along(empty: Live) -> None:
    knowledge = empty.services.knowledge
    outcomes, _ = send(empty.services, {"a.md": DOCUMENTS["acme-insurance.md"].encode()})
    name = outcomes[0].admitted.document.name
    request = knowledge_pb2.ListStatementsRequest(subject="Acme GmbH")
    assert knowledge.ListStatements(request).statements
    knowledge.RetractDocument(knowledge_pb2.RetractDocumentRequest(name=name))
    assert not knowledge.ListStatements(request).statements
    with pytest.raises(grpc.RpcError) as caught:
        knowledge.GetDocument(knowledge_pb2.GetDocumentRequest(name=name))
    assert failure_of(caught.value).status is grpc.StatusCode.NOT_FOUND


def test_a_table_is_imported_as_an_operation(empty: Live) -> None:
    rows = b"name,liability_cover\nAcme GmbH,5000000 EUR\nTiny Ltd,\n"
    operation = _import(empty, "register.csv", rows)
    assert operation.state == knowledge_pb2.Operation.STATE_SUCCEEDED
    assert operation.outcome.admitted.statements_inserted == 1
    request = knowledge_pb2.ListStatementsRequest(dimension="liability_cover")
    (statement,) = empty.services.knowledge.ListStatements(request).statements
    assert statement.evidence[0].quote == "Acme GmbH,5000000 EUR"
    assert statement.value.quantity == "5000000 EUR"


def test_a_header_that_names_no_dimension_imports_nothing(empty: Live) -> None:
    rows = b"name,liabilty_cover,Policy holder\nAcme GmbH,5000000 EUR,x\n"
    operation = _import(empty, "register.csv", rows)
    assert operation.state == knowledge_pb2.Operation.STATE_FAILED
    assert operation.problem.reason == "MAPPING_REJECTED"
    assert "'liabilty_cover' (nearest: liability_cover)" in operation.problem.message
    assert "'Policy holder'" in operation.problem.message
    listed = empty.services.knowledge.ListDocuments(knowledge_pb2.ListDocumentsRequest())
    assert all(document.file_name != "register.csv" for document in listed.documents)


def test_a_new_column_beside_known_ones_is_imported_and_named(empty: Live) -> None:
    rows = b"name,liability_cover,Ward\nAcme GmbH,5000000 EUR,East\n"
    operation = _import(empty, "register.csv", rows)
    assert list(operation.outcome.admitted.undefined_columns) == ["Ward"]
    assert operation.outcome.admitted.statements_inserted == 2


def test_a_misspelt_column_beside_known_ones_imports_nothing(empty: Live) -> None:
    rows = b"name,liability_cover,insured_bye\nAcme GmbH,5000000 EUR,Hanse AG\n"
    operation = _import(empty, "register.csv", rows)
    assert operation.problem.reason == "MAPPING_REJECTED"
    assert "'insured_bye' (nearest: insured_by)" in operation.problem.message


def test_a_header_may_use_labels_and_days_of_validity(empty: Live) -> None:
    rows = b"name;Liability cover;Valid from;Valid until\nAcme GmbH;5000000 EUR;2026-01-01;2026\n"
    operation = _import(empty, "register.csv", rows)
    assert operation.state == knowledge_pb2.Operation.STATE_SUCCEEDED, operation.problem
    request = knowledge_pb2.ListStatementsRequest(dimension="liability_cover")
    (statement,) = empty.services.knowledge.ListStatements(request).statements
    assert (statement.validity.start, statement.validity.end) == ("2026-01-01", "2027-01-01")


def test_an_import_says_how_far_it_is(empty: Live) -> None:
    rows = b"name,liability_cover\nAcme GmbH,5000000 EUR\n"
    operation = _import(empty, "register.csv", rows)
    assert operation.done == operation.total == len(rows)


def test_refusals_are_told_by_reason_with_lines_and_fit_a_message(empty: Live) -> None:
    bad = "".join(f"Firm {n},x{n % 400}\n" for n in range(1200))
    rows = f"name,liability_cover\nAcme GmbH,5000000 EUR\n{bad}".encode()
    admitted = _import(empty, "register.csv", rows).outcome.admitted
    assert admitted.statements_inserted == 1
    assert len(admitted.refused) == 101
    assert sum(each.count for each in admitted.refused) == 1200
    assert sum(admitted.rejected_by_reason.values()) == 1200
    first = admitted.refused[0]
    assert (first.count, list(first.lines)) == (3, [3, 403, 803])
    assert admitted.refused[-1].reason == "other reasons"


def test_rdf_is_imported_as_an_operation(empty: Live) -> None:
    message = knowledge_pb2.ImportStatementsRequest
    data = (
        b'<a:s> <a:liability_cover> "5 EUR"^^<https://w3id.org/proofweave/ns#quantity> .\n'
        b"<a:s> <a:liability_covr> <a:o> .\n<a:s> <a:ward> <a:o> .\n"
    )
    header = common_pb2.FileHeader(file_name="x.data", media_type="application/n-triples")
    start = knowledge_pb2.ImportStart(file=header, define=True)
    messages = [message(start=start), message(chunk=data)]
    operation = empty.services.knowledge.ImportStatements(iter(messages)).operation
    request = knowledge_pb2.GetOperationRequest(name=operation.name, wait_ms=10_000)
    operation = empty.services.knowledge.GetOperation(request).operation
    assert operation.state == knowledge_pb2.Operation.STATE_SUCCEEDED, operation.problem
    assert operation.done == operation.total == 2 * len(data)
    admitted = operation.outcome.admitted
    assert list(admitted.defined_dimensions) == ["liability_covr", "ward"]
    assert (admitted.statements_inserted, len(admitted.refused)) == (3, 0)


TRIPLES = "Kismet|directed_by|William Dieterle\nKismet|release_year|1955\nBoom|has_genre|Noir\n"


@pytest.mark.parametrize(
    "text",
    [TRIPLES, f"subject|relation|object\n{TRIPLES}", f"broken\n{TRIPLES}"],
    ids=["no header", "the header of the mapping", "a broken row"],
)
def test_a_table_without_a_header_is_read_by_a_packs_mapping(
    tmp_path: Path, settings: Settings, text: str
) -> None:
    create_knowledge(tmp_path / "kb", namespace="https://example.org/kb/", packs=("metaqa",))
    with running(tmp_path / "kb", settings) as films:
        operation = _import(films, "kb.txt", text.encode())
        assert operation.state == knowledge_pb2.Operation.STATE_SUCCEEDED, operation.problem
        admitted = operation.outcome.admitted
        assert admitted.mapping == "metaqa/kb.mapping.yaml"
        assert admitted.statements_inserted == 3
        (film,) = films.services.knowledge.ListStatements(
            knowledge_pb2.ListStatementsRequest(dimension="directed_by")
        ).statements
        assert (film.subject, film.value.entity) == ("Kismet", "William Dieterle")


@pytest.mark.parametrize(
    "rows",
    ["A|likes|B\nB|likes|C\n", "A|x\nB|directed_by\n", "A|directed_by|B|x\nC|directed_by|D|x\n"],
)
def test_a_mapping_that_does_not_fit_is_not_used(
    tmp_path: Path, settings: Settings, rows: str
) -> None:
    create_knowledge(tmp_path / "kb", namespace="https://example.org/kb/", packs=("metaqa",))
    with running(tmp_path / "kb", settings) as films:
        operation = _import(films, "kb.txt", rows.encode())
        assert operation.state == knowledge_pb2.Operation.STATE_FAILED
        assert operation.problem.reason == "MAPPING_REJECTED"


def test_a_table_without_a_header_fails_with_a_reason(empty: Live) -> None:
    operation = _import(empty, "register.csv", b"")
    assert operation.state == knowledge_pb2.Operation.STATE_FAILED
    assert operation.problem.reason == "DOCUMENT_REJECTED"


def test_dimensions_are_listed_and_near_names_given(live: Live) -> None:
    knowledge = live.services.knowledge
    names = [
        one.name
        for one in knowledge.ListDimensions(knowledge_pb2.ListDimensionsRequest()).dimensions
    ]
    assert "knowledgeBases/kb/dimensions/liability_cover" in names
    with pytest.raises(grpc.RpcError) as caught:
        knowledge.GetDimension(knowledge_pb2.GetDimensionRequest(name="liability_covr"))
    assert "liability_cover" in failure_of(caught.value).message


def test_an_order_with_a_cycle_does_not_go_live(empty: Live) -> None:
    edges = [("a", "b"), ("b", "a"), ("c", "d")]
    dimension = knowledge_pb2.Dimension(
        name="genre",
        kind=knowledge_pb2.DIMENSION_KIND_TAXONOMIC,
        taxonomy=[knowledge_pb2.TaxonomyEdge(child=low, parent=high) for low, high in edges],
    )
    request = knowledge_pb2.DefineDimensionRequest(dimension=dimension)
    with pytest.raises(grpc.RpcError) as caught:
        empty.services.knowledge.DefineDimension(request)
    failure = failure_of(caught.value)
    assert failure.reason == "DIMENSION_REJECTED"
    assert "cycle" in failure.message
    assert "root" in failure.message


def test_statements_are_queried_as_rdf(live: Live) -> None:
    request = knowledge_pb2.QueryGraphRequest(
        query='SELECT ?s { ?s ?p ?o FILTER(CONTAINS(STR(?s), "Acme_GmbH")) } LIMIT 1',
        accept="text/csv",
    )
    pieces = list(live.services.knowledge.QueryGraph(request))
    assert pieces[0].media_type.startswith("text/csv")
    assert b"Acme_GmbH" in b"".join(piece.chunk for piece in pieces)


def test_passages_are_searched(live: Live) -> None:
    request = knowledge_pb2.SearchPassagesRequest(query="liability cover Acme", limit=3)
    hits = live.services.knowledge.SearchPassages(request).hits
    assert any("Acme GmbH" in hit.text for hit in hits)


def test_passages_are_searched_as_far_as_asked(empty: Live) -> None:
    pages = b"# Red Dawn\n\nDirected by Ann Lee.\n\n# Ann Lee\n\nBorn in Ulm."
    send(empty.services, {"a.md": pages})
    found = {}
    for reach in knowledge_pb2.SearchReach.values():
        request = knowledge_pb2.SearchPassagesRequest(query="Who made Red Dawn?", reach=reach)
        hits = empty.services.knowledge.SearchPassages(request).hits
        found[reach] = [hit.title for hit in hits]
    assert list(found.values()) == [["Red Dawn"], ["Red Dawn"], ["Red Dawn", "Ann Lee"]]
    with pytest.raises(grpc.RpcError, match="expected NAMED or LINKED"):
        empty.services.knowledge.SearchPassages(knowledge_pb2.SearchPassagesRequest(reach=7))  # type: ignore[arg-type]


def test_the_log_holds(live: Live) -> None:
    response = live.services.knowledge.VerifyLog(knowledge_pb2.VerifyLogRequest())
    assert int(response.revision) > 0
    assert len(response.log_head) == 64


def test_revisions_are_watched(empty: Live) -> None:
    stream = empty.services.knowledge.WatchRevisions(knowledge_pb2.WatchRevisionsRequest())
    first = next(stream)
    send(empty.services, {"a.md": DOCUMENTS["acme-insurance.md"].encode()})
    second = next(stream)
    assert int(second.revision) > int(first.revision)
    stream.cancel()


def _import(found: Live, name: str, data: bytes) -> knowledge_pb2.Operation:
    message = knowledge_pb2.ImportStatementsRequest
    start = knowledge_pb2.ImportStart(file=common_pb2.FileHeader(file_name=name))
    messages = [message(start=start), message(chunk=data)]
    operation = found.services.knowledge.ImportStatements(iter(messages)).operation
    request = knowledge_pb2.GetOperationRequest(name=operation.name, wait_ms=10_000)
    return found.services.knowledge.GetOperation(request).operation


def test_facts_follow_the_log(empty: Live) -> None:
    """An event that brings no facts keeps them; one that does, or takes some away, changes them."""
    base = KnowledgeBase.open(empty.directory)
    knowledge = Knowledge("kb", base, choose_packs(["supplier"]))
    before = knowledge.facts()
    base.publish_policy("p", "1", "a.\n")
    assert knowledge.facts() is before
    outcomes, _ = send(empty.services, {"a.md": DOCUMENTS["acme-insurance.md"].encode()})
    after = knowledge.facts()
    assert len(after) > len(before)
    base.retract_document(outcomes[0].admitted.document.source_sha256)
    assert len(knowledge.facts()) == len(before)
    base.close()
