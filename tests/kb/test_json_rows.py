"""Rows of JSON results are told apart as bytes, whatever stands in their values."""

from __future__ import annotations

import json

import pyoxigraph as ox
from hypothesis import given
from hypothesis import strategies as st

from kb.json_rows import json_rows, rows_begun

SIGNS = ["{", "}", ",", '"', ":", "[", "]", "{}", '},{"', "a", "\\", '}},{"', "{},{", "\n", "ä"]
TEXTS = st.lists(st.sampled_from(SIGNS), max_size=5).map("".join)
VALUES = st.one_of(
    st.just("UNDEF"),
    TEXTS.map(lambda text: str(ox.Literal(text))),
    TEXTS.map(lambda text: f"<<( <a:a> <a:b> {ox.Literal(text)} )>>"),
)


@given(st.lists(st.tuples(VALUES, VALUES), max_size=6))
def test_rows_are_those_that_a_reader_of_json_finds(rows: list[tuple[str, str]]) -> None:
    written = " ".join(f"({one} {two})" for one, two in rows)
    results = ox.Store().query(f"SELECT ?a ?b {{ VALUES (?a ?b) {{ {written} }} }}")
    assert isinstance(results, ox.QuerySolutions)
    content = results.serialize(format=ox.QueryResultsFormat.JSON) or b""
    before, found, behind = json_rows(content)
    assert before + b",".join(found) + behind == content
    assert [json.loads(row) for row in found] == json.loads(content)["results"]["bindings"]
    assert rows_begun(content) <= len(rows)
