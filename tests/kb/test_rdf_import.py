"""RDF as a source: what becomes a statement, what is quoted, what is refused, and going on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kb.dimension import Dimension, DimensionKind
from kb.document import decode
from kb.errors import MappingRejected
from kb.knowledge_base import KnowledgeBase
from kb.quantity import parse_date, parse_quantity
from kb.rdf_import import UNNAMED_CLASS, RdfOptions, RdfReport, import_rdf
from kb.rdf_pieces import LONGEST_PIECE, LONGEST_QUOTE, BrokenPiece
from kb.rdf_reading import ANNOTATION, SPOKEN_OF, Read, read_rdf
from kb.statement import Entity, Statement, TaxonClass, Text, Value
from kb.table_mapping import read_mapping

ROOT = Path(__file__).parents[2]
PREFIXES = (
    "@prefix f: <http://films.example/> .\n@prefix p: <http://terms.example/p#> .\n"
    "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .\n"
)
FORMATS = {
    "nt": ox.RdfFormat.N_TRIPLES,
    "nq": ox.RdfFormat.N_QUADS,
    "ttl": ox.RdfFormat.TURTLE,
    "trig": ox.RdfFormat.TRIG,
    "rdf": ox.RdfFormat.RDF_XML,
    "jsonld": ox.RdfFormat.JSON_LD,
}


def read(text: str, name: str = "films.ttl") -> tuple[list[Read], list[BrokenPiece]]:
    document = decode(text.encode(), name=name)
    found = list(read_rdf(document))
    broken = [each for each in found if isinstance(each, BrokenPiece)]
    return [each for each in found if isinstance(each, Read)], broken


def quotes(text: str, name: str = "films.ttl") -> list[tuple[int, str, str]]:
    """Line, quote and object of each triple; the line is that on which the quote begins."""
    found, broken = read(text, name)
    assert broken == []
    for each in found:
        assert text.count("\n", 0, each.start) + 1 == each.line
    return [(each.line, text[each.start : each.end], each.object) for each in found]


# ---- what is quoted


def test_a_line_is_the_quote_in_the_line_formats() -> None:
    line = '<http://a.example/s> <http://a.example/p> "é\\n"@en .'
    assert quotes(f"# one\n\n{line}\n", "a.nt") == [(3, line, "é\n")]
    quad = "<http://a.example/s> <http://a.example/p> _:b <http://a.example/g> . # it"
    assert [(n, quote) for n, quote, _ in quotes(quad, "a.nq")] == [(1, quad)]


def test_a_statement_is_the_quote_in_turtle() -> None:
    said = "f:Boom a p:Film ; p:says \"it. ends\\\" here.\" , '''a\n. b''' ; p:size 1.5 ."
    text = f"{PREFIXES}# f:No p:no p:no .\n{said} f:B.oom p:is f:T .\nf:Last p:of _:b.c."
    found = quotes(text)
    assert [(line, quote) for line, quote, _ in found] == [
        *[(5, said)] * 4,
        (6, "f:B.oom p:is f:T ."),
        (7, "f:Last p:of _:b.c."),
    ]
    assert [value for _, _, value in found[1:4]] == ['it. ends" here.', "a\n. b", "1.5"]


def test_a_statement_within_braces_is_the_quote_in_trig() -> None:
    text = (
        f"{PREFIXES}GRAPH f:g {{ f:a p:b 'x }}' . f:c p:d 2 }}\n"
        "f:g { f:e p:f 3 . } {} f:h p:i 4 ."
    )
    assert [(quote.strip(), value) for _, quote, value in quotes(text, "films.trig")] == [
        ("f:a p:b 'x }' .", "x }"),
        ("f:c p:d 2", "2"),
        ("f:e p:f 3 .", "3"),
        ("f:h p:i 4 .", "4"),
    ]


RDF_XML = """<?xml version="1.0"?>
<!DOCTYPE r:RDF [<!ENTITY f "http://films.example/">]>
<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:p="http://terms.example/p#"
  xml:lang="de">
{}
</r:RDF>
"""


def test_an_element_is_the_quote_in_rdf_xml() -> None:
    one = '<p:Film r:about="&f;Ü"><p:title>Schön</p:title><p:by r:nodeID="n"/></p:Film>'
    two = '<r:Description r:about="&f;b" p:x="1>0"/>'
    found = quotes(RDF_XML.format(f"{one}<!-- {two} -->\n{two}"), "films.rdf")
    assert [(line, quote) for line, quote, _ in found] == [*[(5, one)] * 3, (6, two)]
    alone = two.replace("&f;", "http://f.example/").replace(
        "r:about", 'xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:p="a:b" r:about'
    )
    assert [quote for _, quote, _ in quotes(f"{alone}\n", "one.owl")] == [alone]


def test_an_object_is_the_quote_in_json_ld() -> None:
    one = '{"@id": "http://a.example/ä", "p": ["v", {"q": 2}]}'
    two = '{"@id": "_:x", "p": "w"}'
    text = f'{{"@graph": [{one},\n {two}], "@context": {{"@vocab": "http://t.example/"}}}}'
    assert [(line, quote) for line, quote, _ in quotes(text, "a.jsonld")] == [
        *[(1, one)] * 3,
        (2, two),
    ]
    listed = '[{"@id": "a:b", "a:p": 1}, {"@id": "a:c", "a:p": 2}]'
    assert len({quote for _, quote, _ in quotes(listed, "a.jsonld")}) == 2
    whole = '{"@context": {"p": "a:p"}, "@id": "a:b", "p": 1}'
    assert [quote for _, quote, _ in quotes(whole, "a.jsonld")] == [whole]


MANY = 60


def long_forms() -> dict[str, str]:
    """One subject with much said of it, in each syntax that cuts it."""
    said = range(MANY)
    turtle = " ;\n ".join(f'p:about "what is said in number {n}", f:o{n}' for n in said)
    xml = "\n".join(f"<p:about>what is said in number {n}</p:about>" for n in said)
    json = ",\n".join(f'"a:p{n}": "what is said in number {n}"' for n in said)
    return {
        "films.ttl": f"{PREFIXES}_:s a p:Film ;\n {turtle} .",
        "films.rdf": RDF_XML.format(f'<p:Film r:nodeID="s">{xml}</p:Film>'),
        "films.jsonld": f'{{"@id": "_:s", "@type": "a:Film", {json}}}',
    }


@pytest.mark.parametrize("name", ["films.ttl", "films.rdf", "films.jsonld"])
def test_a_long_description_is_cut_into_what_it_says(name: str) -> None:
    text = long_forms()[name]
    found, broken = read(text, name)
    assert broken == []
    assert len({each.subject for each in found}) == 1
    literals = [each for each in found if each.datatype]
    assert [each.object for each in literals] == [
        f"what is said in number {n}" for n in range(MANY)
    ]
    for each in literals:
        quote = text[each.start : each.end]
        assert each.object in quote
        assert len(quote) < 100
        assert each.form == "part"
    assert sum(each.predicate.endswith("type") for each in found) == 1


def test_what_cannot_be_cut_is_refused_when_it_is_very_long() -> None:
    inner = " ; ".join(f"p:x{n} {n}" for n in range(LONGEST_PIECE // 8))
    found, broken = read(f"{PREFIXES}[] p:a [ {inner} ] .\nf:a p:b f:c .")
    assert [each.line for each in broken] == [4]
    assert "write it as N-Triples" in broken[0].reason
    assert len(found) == 1
    assert LONGEST_QUOTE < LONGEST_PIECE


# ---- the same triples as the parser gives for the whole document

iris = st.sampled_from(["http://a.example/x", "http://a.example/y#z", "http://b.example/Ü.v"])
nodes = st.one_of(iris.map(ox.NamedNode), st.sampled_from(["b", "c1"]).map(ox.BlankNode))
texts = st.text(st.sampled_from("ab.\"'\\;,[](){}<>#@:\n\té😀 "), max_size=12)
literals = st.one_of(
    texts.map(ox.Literal),
    st.builds(lambda text, tag: ox.Literal(text, language=tag), texts, st.sampled_from(["en"])),
    st.integers(-5, 5).map(ox.Literal),
)
predicates = st.sampled_from(["http://t.example/p", "http://t.example/q#r"]).map(ox.NamedNode)
triples = st.builds(ox.Triple, nodes, predicates, st.one_of(nodes, literals))


@pytest.mark.parametrize("ending", FORMATS)
@settings(max_examples=60, deadline=None)
@given(st.lists(triples, min_size=1, max_size=12))
def test_all_pieces_together_say_what_the_document_says(
    ending: str, graph: list[ox.Triple]
) -> None:
    prefixes = {"a": "http://a.example/", "t": "http://t.example/"}
    form = FORMATS[ending]
    prefixed = ending in ("ttl", "trig", "rdf")
    content = ox.serialize(graph, format=form, prefixes=prefixes if prefixed else None) or b""
    expected = {quad.triple for quad in ox.parse(content, form)}
    document = decode(content, name=f"g.{ending}")
    own = f"_:{document.source_sha256[:16]}."

    def node(name: str) -> ox.NamedNode | ox.BlankNode:
        return ox.BlankNode(name.removeprefix(own)) if name.startswith("_:") else ox.NamedNode(name)

    found: set[ox.Triple] = set()
    for each in read_rdf(document):
        assert isinstance(each, Read)
        value: ox.NamedNode | ox.BlankNode | ox.Literal = (
            node(each.object)
            if not each.datatype
            else ox.Literal(each.object, language=each.language)
            if each.language
            else ox.Literal(each.object, datatype=ox.NamedNode(each.datatype))
        )
        found.add(ox.Triple(node(each.subject), ox.NamedNode(each.predicate), value))
    assert found == expected


# ---- broken pieces


@pytest.mark.parametrize(
    ("name", "text", "lines", "good"),
    [
        ("a.nt", "<a:s> <a:p> 'x' .\n<a:s> <a:p> <a:o> .\n<a:s> <a:p> <o> .\nno\n", [1, 3, 4], 1),
        (
            "a.ttl",
            'PREFIX a: <a:>\na:b a:c "open .\na:b a:c a:d .\nb:x a:y a:z .\na:b a:c',
            [2, 4, 5],
            1,
        ),
        ("a.ttl", "<a:b> <a:c> [ <a:d> <a:e> .\n<a:f> <a:g> <a:h> .", [1], 1),
        ("a.ttl", "<a:b> <a:c> <a:d> {| <a:e> <a:f> |} .\n<a:g> <a:h> <a:i> .", [1], 2),
        ("a.ttl", "<a:b> <a:c> <a:d> ~ <a:r> .\n<< <a:b> <a:c> <a:d> >> <a:e> 1 .", [2, 2], 1),
        ("a.trig", "[] { <a:b> <a:c> <a:d> } GRAPH <a:g>\n{ <a:b> <a:c> }", [2], 1),
        ("a.trig", "<a:g> { <a:b> <a:c> }\n<a:g> { <a:b> <a:c> <a:d> }", [1], 1),
        (
            "a.rdf",
            RDF_XML.format(
                '<p:A r:about="&f;a"><p:x>1</p:x></p:A>\n<p:A r:about="rel"/>\n'
                '<p:A r:about="a:b"><p:x>'
            ),
            [6, 8],
            2,
        ),
        (
            "a.jsonld",
            '[{"@id": "a:b", "a:p": 1},\n 7,\n{"@id": "a:c", "@context": "http://127.0.0.1:9/"},\n'
            '{"@id": "a:b"\n',
            [2, 3, 5],
            1,
        ),
    ],
)
def test_what_is_broken_is_told_with_its_line_and_the_rest_is_read(
    name: str, text: str, lines: list[int], good: int
) -> None:
    found, broken = read(text, name)
    assert [each.line for each in broken] == lines, broken
    assert len(found) == good
    assert all("\n" not in each.reason and each.reason for each in broken)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.ttl", "<a:b> <a:c> " + "(" * 5000 + ")" * 5000 + " ."),
        ("a.ttl", "a." * 20_000),
        ("a.ttl", '"""' * 5001),
        ("a.jsonld", "[" * 100_000),
        ("a.jsonld", '{"@id":"a:b","a:p":' * 50_000),
        ("a.jsonld", '{"@id":"a:b","a:p":' + "9" * 5000 + "}"),
        ("a.rdf", "<a>" * 50_000),
        (
            "a.rdf",
            "<!DOCTYPE x ["
            + '<!ENTITY e0 "abcdefgh">'
            + "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
            + "]><x>&e11;</x>",
        ),
    ],
)
def test_hostile_input_ends(name: str, text: str) -> None:
    found, broken = read(text, name)
    assert len(found) + len(broken) > 0


def test_blank_nodes_have_names_of_their_source_and_place() -> None:
    text = "<a:a> <a:p> _:x, [ <a:q> [] ] .\n<a:b> <a:p> _:x, [] ."
    found, _ = read(text)
    again, _ = read(text)
    other, _ = read(text + "\n")
    assert found == again
    nodes = [each.object for each in found if each.object.startswith("_:")]
    assert len(set(nodes)) == 4  # _:x is one, the three others are each their own
    assert set(nodes).isdisjoint(each.object for each in other)


# ---- what becomes a statement

DIMENSIONS = (
    Dimension("director", DimensionKind.ENTITY),
    Dimension("year", DimensionKind.TIME),
    Dimension("budget", DimensionKind.QUANTITY, unit="EUR"),
    Dimension("score", DimensionKind.NUMBER),
    Dimension("title", DimensionKind.TEXT),
)


def imported(
    base: KnowledgeBase, text: str, options: RdfOptions | None = None, name: str = "films.ttl"
) -> RdfReport:
    document = decode(text.encode(), name=name)
    return import_rdf(base, document, text.encode(), run="r", options=options or RdfOptions())


def stated(base: KnowledgeBase) -> set[tuple[str, str, Value]]:
    return {(each.subject, each.dimension, each.value) for each in base.statements()}


def test_kinds_of_dimensions_and_datatypes_decide_values(base: KnowledgeBase) -> None:
    for dimension in DIMENSIONS:
        base.define_dimension(dimension)
    report = imported(
        base,
        PREFIXES
        + """
        f:A p:director f:Some_One, "By Name" ; p:year "1955"^^xsd:gYear, "1955-02-03"^^xsd:date ,
          "2001-02-03T04:05:06Z"^^xsd:dateTime ; p:budget 5000000 ;
          p:score 1.50, 2e3, "7"^^xsd:byte .
        f:B p:director 5 ; p:year "soon", f:C ; p:score "1e999999999"^^xsd:double,
          "INF"^^xsd:double ; p:title f:X ; p:budget "many" .
        """,
        RdfOptions(prefixes=("http://films.example/",)),
    )
    assert stated(base) == {
        ("A", "director", Entity("Some One")),
        ("A", "director", Entity("By Name")),
        ("A", "year", parse_date("1955")),
        ("A", "year", parse_date("1955-02-03")),
        ("A", "year", parse_date("2001-02-03")),
        ("A", "budget", parse_quantity("5000000 EUR")),
        ("A", "score", Fraction(3, 2)),
        ("A", "score", Fraction(2000)),
        ("A", "score", Fraction(7)),
    }
    assert sum(each.count for each in report.refused) == 7
    assert {each.lines for each in report.refused} == {(8,)}


def test_an_iri_is_a_name_that_keeps_its_iri(base: KnowledgeBase) -> None:
    base.define_dimension(DIMENSIONS[0])
    imported(
        base, f"{PREFIXES}f:A p:director f:B .\n<https://example.org/kb/Own_One> p:director f:A."
    )
    assert stated(base) == {
        ("http://films.example/A", "director", Entity("http://films.example/B")),
        ("Own One", "director", Entity("http://films.example/A")),
    }
    _, body = base.query(
        "SELECT ?who ?name { <http://films.example/A> d:director ?who "
        "BIND(pw:name(?who) AS ?name) }",
        "text/csv",
    )
    assert body.split() == [b"who,name", b"http://films.example/B,http://films.example/B"]


def test_undefined_predicates_are_listed_with_the_nearest_and_their_lines(
    base: KnowledgeBase,
) -> None:
    base.define_dimension(DIMENSIONS[0])
    report = imported(base, PREFIXES + "f:A p:direktor f:B .\nf:C p:direktor f:D; p:zz 1 .")
    assert [(each.reason, each.count, each.lines) for each in report.refused] == [
        (
            "no dimension direktor is defined for <http://terms.example/p#direktor>; "
            "the nearest is director",
            2,
            (4, 5),
        ),
        ("no dimension zz is defined for <http://terms.example/p#zz>", 1, (5,)),
    ]
    assert stated(base) == set()


def test_they_are_defined_by_their_values_where_that_is_asked_for(base: KnowledgeBase) -> None:
    text = (
        PREFIXES + 'f:A p:by f:B ; p:size 1, 2.5 ; p:on "2020-01-01"^^xsd:date ; p:note "x", 3 ;'
        ' p:mixed f:B, "x" ; <http://other.example/by> f:C ; <http://other.example/9> f:C .'
    )
    report = imported(base, text, RdfOptions(define=True))
    assert report.defined == ("by", "note", "on", "size")
    kinds = {each.name: each.kind.value for each in base.dimensions()}
    assert kinds == {"by": "entity", "note": "text", "on": "time", "size": "number"}
    reasons = [each.reason for each in report.refused]
    assert any("mixed is defined" in reason for reason in reasons)
    assert any("as <http://terms.example/p#by> is; map one" in reason for reason in reasons)
    assert any("<http://other.example/9> names no dimension" in reason for reason in reasons)
    revision = base.revision
    again = imported(base, text, RdfOptions(define=True))
    assert (again.admission.inserted, again.defined, base.revision) == (0, (), revision)


def test_a_mapping_names_predicates_by_iri_or_local_name(base: KnowledgeBase) -> None:
    mapping = read_mapping(
        """
        dimensions:
          http://terms.example/p#by: {name: director, kind: entity}
          type: {name: kind_of_film, kind: class}
          note: null
        """,
        name="m.yaml",
    )
    report = imported(base, f'{PREFIXES}f:A p:by f:B ; a f:T ; p:note "x" .', RdfOptions(mapping))
    film = "http://films.example/"
    assert stated(base) == {
        (f"{film}A", "director", Entity(f"{film}B")),
        (f"{film}A", "kind_of_film", TaxonClass(f"{film}T")),
    }
    assert report.refused == ()
    base.define_dimension(Dimension("director", DimensionKind.TEXT))
    table = read_mapping("subject: x\ndimensions: {by: {name: director, kind: entity}}", name="m")
    with pytest.raises(
        MappingRejected, match="director is defined as text; 'subject' is of tables"
    ):
        imported(base, f"{PREFIXES}f:A p:by f:B .", RdfOptions(table))


def test_terms_of_owl_and_skos_have_names_here(base: KnowledgeBase) -> None:
    imported(
        base,
        "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
        "<http://a.example/A> owl:sameAs <http://a.example/B> ;"
        " skos:broader <http://a.example/C> .",
    )
    a = "http://a.example/"
    assert stated(base) == {
        (f"{a}A", "same_as", Entity(f"{a}B")),
        (f"{a}A", "subclass_of", TaxonClass(f"{a}C")),
    }
    _, body = base.query(
        f"ASK {{ <{a}A> owl:sameAs <{a}B> ; skos:broader <{a}C> ; rdfs:subClassOf <{a}C> }}",
        "text/csv",
    )
    assert body == b"true"


def test_a_class_without_a_name_is_above_none(base: KnowledgeBase) -> None:
    text = (
        f"{PREFIXES}@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        "f:Pump rdfs:subClassOf f:Machine , [ owl:onProperty p:part ; owl:hasValue f:Wheel ] .\n"
        "[ owl:onProperty p:part ] rdfs:subClassOf f:Machine .\n"
    )
    report = imported(base, text)
    assert {(dimension, value) for _, dimension, value in stated(base)} == {
        ("subclass_of", TaxonClass("http://films.example/Machine"))
    }
    (refusal,) = (each for each in report.refused if each.reason == UNNAMED_CLASS)
    assert (refusal.count, refusal.lines) == (2, (6, 7))


def test_languages_are_chosen_by_their_range(base: KnowledgeBase) -> None:
    base.define_dimension(DIMENSIONS[4])
    text = PREFIXES + 'f:A p:title "one"@en-GB, "eins"@de, "1", "uno"@enx .'
    report = imported(base, text, RdfOptions(languages=("EN",)))
    assert {value for _, _, value in stated(base)} == {Text("one"), Text("1")}
    assert [each.reason for each in report.refused] == ["in the language de", "in the language enx"]


def test_evidence_is_the_line_and_triples_cost_no_node(base: KnowledgeBase) -> None:
    line = "<http://films.example/A> <http://t.example/director> <http://films.example/B> ."
    base.define_dimension(DIMENSIONS[0])
    imported(base, f"{line}\n", name="a.nt")
    (statement,) = base.statements()
    assert isinstance(statement, Statement)
    (evidence,) = base.evidence(statement.id)
    assert (evidence.quote, evidence.extractor) == (line, "rdf/1 line")
    _, body = base.query("SELECT (COUNT(*) AS ?n) { ?s a pw:Statement }", "text/csv")
    assert body.split() == [b"n", b"0"]


def test_the_log_does_not_grow_with_each_undefined_triple(base: KnowledgeBase) -> None:
    lines = "".join(f"<a:s{n}> <a:p> <a:o> .\nbroken {n}\n" for n in range(3000))
    report = imported(base, lines, name="a.nt")
    assert sum(each.count for each in report.refused) == 6000
    (record,) = base.documents()
    assert len(base.rejections(record.source_sha256)) == 1000


def test_reasons_without_end_are_counted_together(base: KnowledgeBase) -> None:
    base.define_dimension(DIMENSIONS[3])
    lines = "".join(f'<a:s> <a:score> "no {n}" .\n' for n in range(10_050))
    report = imported(base, lines, name="a.nt")
    assert len(report.refused) == 10_001
    assert (report.refused[0].reason, report.refused[0].count) == ("other reasons", 50)
    assert sum(each.count for each in report.refused) == 10_050


KILLED = """
import os, sys
from pathlib import Path
from kb.document import decode
from kb.knowledge_base import KnowledgeBase
from kb.rdf_import import RdfOptions, import_rdf

file = Path(sys.argv[2])
data = file.read_bytes()
count = 0

def reached(end):
    global count
    count += 1
    if count == int(sys.argv[3]):
        os.kill(os.getpid(), 9)

with KnowledgeBase.open(Path(sys.argv[1])) as base:
    report = import_rdf(
        base, decode(data, name=file.name), data, run="r",
        options=RdfOptions(define=True), reached=reached,
    )
    print(report.admission.inserted, report.admission.already, base.head)
"""


def test_an_import_killed_on_the_way_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    count = 45_000
    triples = "".join(
        f"broken {n}\n"
        if n % 9000 == 5
        else f"<http://a.example/{n // 5}> <a:p{n % 5}> <a:{n}> .\n"
        for n in range(count)
    )
    file = tmp_path / "a.nt"
    file.write_text(triples)

    def run(directory: str, *, stop: int) -> subprocess.CompletedProcess[str]:
        if not (tmp_path / directory).exists():
            KnowledgeBase.create(tmp_path / directory, namespace="https://example.org/kb/").close()
        return subprocess.run(
            [sys.executable, "-c", KILLED, str(tmp_path / directory), str(file), str(stop)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )

    inserted, already, head = run("whole", stop=0).stdout.split()
    assert (int(inserted), int(already)) == (count - 5, 0)
    for stop in (10_000, count + 21_000, count + 41_000):  # while defining; in the 2nd, 3rd chunk
        assert run("broken", stop=stop).returncode == -signal.SIGKILL
    rest = run("broken", stop=0).stdout.split()
    assert int(rest[0]) + int(rest[1]) == count - 5
    assert int(rest[1]) >= 20_000
    assert rest[2] == head
    with KnowledgeBase.open(tmp_path / "broken") as base:
        base.verify_log()
        assert all(record.complete for record in base.documents())


def test_a_reason_quotes_only_part_of_what_is_very_long(base: KnowledgeBase) -> None:
    base.define_dimension(Dimension("size", DimensionKind.NUMBER))
    report = imported(base, PREFIXES + f'f:A p:size "{"z" * 15_000}" .')
    (refusal,) = report.refused
    assert refusal.reason.startswith("size: 'zzz")
    assert refusal.reason.endswith("expected digits such as 12, 0.05 or 1/3")
    assert len(refusal.reason) < 1000


# ---- triples about triples


@pytest.mark.parametrize(
    ("text", "objects", "refused"),
    [
        ("s:a p:b s:c {| p:source s:x ; p:on 3 |} .", ["s:c"], [ANNOTATION] * 2),
        ("s:a p:b s:c ~ s:r {| p:source s:x |} , s:d .", ["s:c", "s:d"], [ANNOTATION]),
        ("s:a p:b s:c ~ s:r . s:r p:source s:x . s:y p:of s:r .", ["s:c"], [ANNOTATION] * 2),
        ("<< s:a p:b s:c >> p:source s:x .", [], [SPOKEN_OF, ANNOTATION]),
        ("s:a p:b s:c . << s:a p:b s:c >> p:source s:x .", ["s:c"], [SPOKEN_OF, ANNOTATION]),
        ("s:a p:says << s:c p:d s:e >> .", [], [ANNOTATION, SPOKEN_OF]),
        ("_:r rdf:reifies <<( s:a p:b s:c )>> . _:r p:by s:x .", [], [SPOKEN_OF, ANNOTATION]),
        ("s:a p:b '<< {| ~ rdf:reifies |} >>' .", ["<< {| ~ rdf:reifies |} >>"], []),
        ("s:a p:b 1 {| p:source s:x .\ns:c p:d 2 .", ["2"], ["no text/turtle"]),
    ],
)
def test_a_statement_is_read_without_what_is_said_about_it(
    text: str, objects: list[str], refused: list[str]
) -> None:
    prefixes = {"s": "s:", "p": "p:", "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#"}
    head = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in prefixes.items())
    found, broken = read(head + text)
    assert [each.object for each in found] == objects
    assert [each.reason.partition(":")[0] for each in broken] == [
        reason.partition(":")[0] for reason in refused
    ]
    assert {each.line for each in broken} <= {4}


def test_a_long_annotated_statement_is_cut_outside_its_annotations() -> None:
    one = '"{0} xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" {{| p:on {0} ; p:by f:y |}}'
    values = ", ".join(one.format(number) for number in range(30))
    found, broken = read(f"{PREFIXES}f:a p:b {values} .")
    assert len(found) == 30
    assert {each.form for each in found} == {"part"}
    assert [each.reason for each in broken] == [ANNOTATION] * 60


def test_annotations_are_counted_by_reason_with_their_lines(base: KnowledgeBase) -> None:
    text = (
        f"{PREFIXES}f:Heat p:director f:Mann {{| p:source f:wiki |}} .\n"
        "<< f:Heat p:director f:Bigelow >> p:source f:blog ; p:on 3 .\n"
    )
    report = imported(base, text, RdfOptions(define=True))
    assert report.admission.inserted == 1
    assert report.defined == ("director",)
    assert [(each.reason, each.count, each.lines) for each in report.refused] == [
        (ANNOTATION, 3, (4, 5)),
        (SPOKEN_OF, 1, (5,)),
    ]
