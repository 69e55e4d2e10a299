"""The command line: exit codes, one JSON object, one line per error, and the whole main job."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from importlib import import_module
from pathlib import Path

import pytest
from command_line import Run, runner
from live_server import DOCUMENTS, POLICY, POLICY_TESTS

from server.cli.app import COMMANDS, GROUPS
from server.cli.local import named_bases

FACTS = """\
liability_cover(acme, @quantity("5000000 EUR")).
liability_cover(tiny, @quantity("5000 EUR")).
certified_under(acme, "ISO 9001").
-certified_under(tiny, "ISO 9001").
"""


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """The command line in this process."""
    return runner(monkeypatch, capfdbinary)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A directory with a policy, its facts, and documents."""
    (tmp_path / "p.lp").write_text(POLICY)
    (tmp_path / "f.lp").write_text(FACTS)
    (tmp_path / "documents").mkdir()
    for name, text in DOCUMENTS.items():
        (tmp_path / "documents" / name).write_text(text)
    return tmp_path


@pytest.fixture
def kb(files: Path, run: Run) -> Path:
    """A knowledge base with the documents and the published policy."""
    directory = files / "kb"
    assert run("init", directory, "--pack", "supplier").code == 0
    assert run("ingest", "--kb", directory, files / "documents").code == 0
    assert run("policy", "publish", files / "p.lp", "--kb", directory).code == 0
    return directory


def offline(files: Path) -> tuple[object, ...]:
    """Give the options that prove from files."""
    return ("--policy", files / "p.lp", "--facts", files / "f.lp")


@pytest.mark.parametrize(
    ("goal", "code", "verdict"),
    [
        ("eligible(acme)", 0, "CERTIFIED"),
        ("eligible(nobody)", 3, "ABSTAINED"),
        ("eligible(tiny)", 4, "REFUTED"),
    ],
)
def test_every_verdict_has_its_exit_code_and_certificate(
    files: Path, run: Run, goal: str, code: int, verdict: str
) -> None:
    outcome = run("prove", *offline(files), goal, "--json")
    assert outcome.code == code
    assert outcome.json["verdict"] == verdict
    assert outcome.json["certificate"]["verdict"] == verdict
    assert outcome.json["certificate"]["format"] == "proofweave.certificate/1"
    assert run("prove", *offline(files), goal).out.startswith(verdict)


def test_a_goal_under_strong_negation_comes_after_two_dashes(files: Path, run: Run) -> None:
    assert run("prove", *offline(files), "--", "-eligible(tiny)").code == 0


def test_a_goal_with_variables_lists_values(files: Path, run: Run) -> None:
    found = run("prove", *offline(files), "insured(S)", "--json").json
    assert [answer["value"] for answer in found["answers"]] == ["acme"]


def test_what_is_cut_says_so(files: Path, run: Run) -> None:
    found = run(
        "prove", *offline(files), "liability_cover(S, C)", "--max-answers", 1, "--json"
    ).json
    assert len(found["answers"]) == 1
    assert found["complete"] is False


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("eligble(acme)",), "eligible"),
        (("eligible(",), "column"),
        (("eligible(acme, 1)",), "argument"),
        (("eligible(acme)", "--engine", "magic"), "clingo"),
        (("eligible(acme)", "--valid-on", "soon"), "YYYY"),
        (("eligible(acme)", "--assume", "insured(X)"), "ground"),
    ],
)
def test_a_wrong_goal_or_option_is_usage(
    files: Path, run: Run, arguments: tuple[str, ...], said: str
) -> None:
    outcome = run("prove", *offline(files), *arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert said in outcome.err
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("\n") == 1


def test_files_that_are_not_there_or_no_text_are_usage(files: Path, run: Run) -> None:
    (files / "latin.lp").write_bytes(b"a(\xe4).")
    for name in ("nowhere.lp", "latin.lp"):
        outcome = run("prove", "--policy", files / name, "--facts", files / "f.lp", "a")
        assert outcome.code == 2
        assert name in outcome.err
    assert run("prove", "a").code == 2
    assert run("prove", "--policy", "onboarding", "a").code == 2


def test_every_error_of_a_policy_has_its_line(files: Path, run: Run) -> None:
    (files / "bad.lp").write_text("a :- b c.\n\nd(X) :- e(X.\n\np(X, Y) :- q(X).\n")
    outcome = run("policy", "check", files / "bad.lp")
    assert outcome.code == 1
    lines = [line for line in outcome.err.splitlines() if not line.startswith("warning: ")]
    assert [line.split(":")[2] for line in lines] == ["1", "3", "5"]
    assert all(line.startswith("error: bad.lp:") for line in lines)


def test_with_json_the_one_object_is_the_error(files: Path, run: Run) -> None:
    (files / "bad.lp").write_text("a :- b c.\n\nd(X) :- e(X.\n")
    outcome = run("policy", "check", files / "bad.lp", "--json")
    assert outcome.code == 1
    error = outcome.json["error"]
    assert error["reason"] == "POLICY_REJECTED"
    assert [problem["line"] for problem in error["problems"]] == [1, 3]
    assert {problem["severity"] for problem in error["problems"]} == {"error"}
    outcome = run("prove", *offline(files), "eligble(acme)", "--json")
    assert outcome.code == 2
    assert "eligible" in outcome.json["error"]["message"]


def test_a_file_that_cannot_be_written_is_usage(files: Path, run: Run) -> None:
    outcome = run("prove", *offline(files), "eligible(acme)", "-o", files / "nowhere" / "proof")
    assert outcome.code == 2
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("\n") == 1


def test_a_path_that_cannot_be_used_is_usage(files: Path, run: Run) -> None:
    outcome = run("init", files / "p.lp" / "kb")
    assert outcome.code == 2
    assert "cannot be used: Not a directory" in outcome.err
    assert outcome.err.count("\n") == 1


def test_a_dash_is_standard_output(files: Path, run: Run) -> None:
    outcome = run("prove", *offline(files), "eligible(acme)", "-o", "-")
    assert outcome.json["verdict"] == "CERTIFIED"
    (files / "proof.json").write_text(outcome.out)
    text = run("export", files / "proof.json", "--sources", files, "--format", "text", "-o", "-")
    assert text.out.startswith("CERTIFIED: eligible(acme)")
    assert "stated in f.lp, line 1: " in text.out


def test_quotes_of_facts_have_their_lines(files: Path, run: Run) -> None:
    outcome = run("prove", *offline(files), "eligible(acme)")
    assert "stated in f.lp, line 1: " in outcome.out
    assert "stated in f.lp, line 3: " in outcome.out


def test_an_anonymous_variable_lists_answers(files: Path, run: Run) -> None:
    found = run("prove", *offline(files), "insured(_)", "--json").json
    assert [answer["atom"] for answer in found["answers"]] == ["insured(acme)"]


def test_the_version_is_shown(run: Run) -> None:
    assert run("--version").out.startswith("proofweave ")


def test_two_places_of_knowledge_are_usage(files: Path, run: Run) -> None:
    outcome = run("policy", "list", "--kb", files, "--server", "127.0.0.1:1")
    assert outcome.code == 2
    assert "both" in outcome.err


def test_a_policy_is_checked_without_a_knowledge_base(files: Path, run: Run) -> None:
    outcome = run("policy", "check", files / "p.lp", "--json")
    assert outcome.code == 0
    assert outcome.json["policy"]["name"] == "policies/onboarding@1"


def test_the_tests_of_a_policy_are_run(files: Path, run: Run) -> None:
    assert run("policy", "test", files / "p.lp").code == 2, "there are no tests yet"
    tests = files / "p.test.yaml"
    tests.write_text(POLICY_TESTS)
    outcome = run("policy", "test", files / "p.lp", "--json")
    assert outcome.code == 1
    assert (outcome.json["passed"], outcome.json["failed"]) == (2, 1)
    assert "FAILED  a wrong expectation" in run("policy", "test", files / "p.lp", tests).out
    tests.write_text(POLICY_TESTS.partition("  - name: a wrong")[0])
    assert run("policy", "test", files / "p.lp").code == 0


def test_assumptions_and_missing_facts(files: Path, run: Run) -> None:
    cover = 'liability_cover(nobody, @quantity("2000000 EUR"))'
    outcome = run("prove", *offline(files), "insured(nobody)", "--assume", cover, "--json")
    assert outcome.code == 0
    assert outcome.json["certificate"]["assumptions"] == [cover]
    (files / "q.lp").write_text("goal :- a, b.\n")
    (files / "g.lp").write_text("a.\n")
    question = ("prove", "--policy", files / "q.lp", "--facts", files / "g.lp", "goal")
    outcome = run(*question, "--why-not", "--json")
    assert outcome.code == 3
    assert outcome.json["repairs"] == [["b"]]


GRAPH = {
    "format": "proofweave.hypergraph/1",
    "atoms": ["a", "b", "goal"],
    "hyperedges": [{"id": "e1", "tail": ["a", "b"], "head": "goal"}],
    "units": [{"id": "u1", "states": ["a"]}],
}


def test_a_hypergraph_is_decided(files: Path, run: Run) -> None:
    file = files / "graph.json"
    file.write_text(json.dumps(GRAPH))
    outcome = run("prove", "--hypergraph", file, "goal", "--json")
    assert outcome.code == 3
    assert [found["atom"] for found in outcome.json["open"]] == ["b"]
    assert outcome.json["cheapest"] == ["b"]
    file.write_text(json.dumps({**GRAPH, "given": ["b"]}))
    outcome = run("prove", "--hypergraph", file, "goal", "--json")
    assert outcome.code == 0
    assert outcome.json["units"] == ["u1"]
    assert outcome.json["steps"][-1]["edge"] == "e1"
    assert outcome.json["certificate"]["goal"] == 'holds("goal")'
    assert "by e1 from a, b" in run("prove", "--hypergraph", file, "goal").out
    assert run("prove", "--hypergraph", file, "gaol").code == 2
    file.write_text(json.dumps({**GRAPH, "given": ["c"], "goals": ["d"]}))
    outcome = run("prove", "--hypergraph", file, "goal")
    assert outcome.code == 1
    assert len(outcome.err.splitlines()) == 2
    assert all(line.startswith("error: ") for line in outcome.err.splitlines())


LOG = {
    "id": "drawer",
    "initial_facts": ["closed"],
    "turns": [
        {"turn": 1, "preconditions": ["closed"], "added": ["open"], "removed": ["closed"]},
        {"turn": 2, "preconditions": ["open"], "added": ["key"], "removed": [], "command": "take"},
        {"turn": 3, "preconditions": ["key"], "added": ["open"], "removed": []},
        {"turn": 4, "preconditions": ["open"], "added": [], "removed": []},
    ],
}


def test_a_game_log_says_which_turns_enable_a_turn(files: Path, run: Run) -> None:
    log, graph = files / "games.jsonl", files / "drawer.json"
    log.write_text(f"{json.dumps(LOG)}\n{json.dumps({**LOG, 'id': 'other'})}\n")
    chosen = ("--game-log", log, "--game", "drawer")
    outcome = run("prove", *chosen, "enabled(3)", "--json")
    assert outcome.code == 0
    assert outcome.json["units"] == ["turn 1", "turn 2"]
    assert run("hypergraph", log, "--game", "drawer", "-o", graph).code == 0
    outcome = run("supports", "--hypergraph", graph, "enabled(4)", "--json")
    assert outcome.code == 0
    assert outcome.json["complete"] is True
    found = [[leaf["id"] for leaf in one] for one in outcome.json["supports"]]
    assert found == [["turn 1"]]
    twin = json.loads(run("hypergraph", log, "--game", "drawer").out)
    twin["units"] = [unit for unit in twin["units"] if unit["id"] != "turn 1"]
    graph.write_text(json.dumps(twin))
    outcome = run("prove", "--hypergraph", graph, "enabled(3)", "--json")
    assert outcome.code == 3
    assert "open@1" in [found["atom"] for found in outcome.json["open"]]
    assert run("supports", "--hypergraph", graph, "enabled(3)").code == 3
    assert "“take”  drawer" in run("supports", *chosen, "enabled(3)").out
    for wrong in (
        ("--game-log", log),
        ("--game-log", log, "--game", "drawr"),
        ("--game", "drawer"),
        (*chosen, "--hypergraph", graph),
        (*chosen, "--policy", files / "p.lp"),
    ):
        assert run("prove", *wrong, "enabled(3)").code == 2
    assert run("supports", *chosen, "enabled(33)").code == 2


def test_supports_from_files(files: Path, run: Run) -> None:
    (files / "q.lp").write_text("goal :- a.\ngoal :- b.\n")
    (files / "g.lp").write_text("a. b.\n")
    question = ("supports", "--policy", files / "q.lp", "--facts", files / "g.lp", "goal")
    outcome = run(*question, "--json")
    assert outcome.code == 0
    assert outcome.json["complete"] is True
    found = [[leaf["atom"] for leaf in one] for one in outcome.json["supports"]]
    assert sorted(found) == [["a"], ["b"]]


def test_a_written_certificate_is_verified_and_a_changed_one_rejected(
    files: Path, run: Run
) -> None:
    proof = files / "proof.json"
    run("prove", *offline(files), "eligible(acme)", "-o", proof)
    outcome = run("verify", proof, "--sources", files, "--expect-goal", "eligible(acme)", "--json")
    assert outcome.code == 0
    assert outcome.json["accepted"] is True
    shown = run("verify", proof)
    assert shown.code == 0
    assert shown.out.startswith("valid: CERTIFIED eligible(acme) on ")
    assert "\nnot given:\n" in shown.out
    other = run("verify", proof, "--expect-day", "1999-01-01")
    assert (other.code, other.out.startswith("rejected: ")) == (5, True)
    proof.write_bytes(proof.read_bytes().replace(b"5000000 EUR", b"6000000 EUR"))
    outcome = run("verify", proof, "--sources", files, "--json")
    assert outcome.code == 5
    assert outcome.json["rejection"]
    assert run("verify", proof).code == 5
    assert run("verify", files / "nowhere.json").code == 2


def test_a_certificate_file_is_exported_with_its_sources(files: Path, run: Run) -> None:
    proof, page = files / "proof.json", files / "proof.html"
    run("prove", *offline(files), "eligible(acme)", "-o", proof)
    assert run("export", proof, "--sources", files, "-o", page).code == 0
    text = page.read_text()
    assert "<mark>liability_cover(acme, @quantity(&#34;5000000 EUR&#34;)).</mark>" in text
    proof.write_bytes(proof.read_bytes().replace(b"CERTIFIED", b"REFUTED"))
    assert run("export", proof, "--sources", files, "-o", page).code == 2


def test_the_main_job(kb: Path, files: Path, run: Run) -> None:
    goal = 'eligible("Acme GmbH")'
    on = ("--kb", kb)
    question = ("prove", *on, "--policy", "onboarding", "--valid-on", "2026-03-01")
    outcome = run(*question, goal, "--json")
    assert outcome.code == 0, outcome.err
    digest = outcome.json["certificate_sha256"]
    assert outcome.json["answers"][0]["quotes"]
    assert run(*question, 'eligible("Tiny Ltd")').code == 4
    assert run(*question, 'eligible("Nobody Ltd")').code == 3

    listed = run("certificate", "list", *on, "--json").json["decisions"]
    assert listed[0]["certificate_sha256"] == digest
    proof = files / "proof.json"
    proof.write_bytes(run("certificate", "get", digest, *on, "--json").out.encode())
    assert run("verify", proof, "--sources", files / "documents").code == 0
    assert run("verify", proof, "--kb", kb).code == 0
    for name in (digest, proof):
        assert run("export", name, *on, "-o", files / "proof.html").code == 0
        assert "5,000,000" in (files / "proof.html").read_text()
        text = run("export", name, *on, "--format", "text", "-o", "-").out
        assert ", line " in text
    unread = run("ask", *on, "Who flurbs Acme GmbH?")
    assert unread.code == 3
    assert "'flurbs'" in unread.out
    assert run("ask", *on, "Who flurbs Acme GmbH?", "--json").json["certificate"] is None
    unseen = run("review", *on, "--json").json["decisions"]
    assert [one["name"] for one in unseen] == [one["name"] for one in listed]
    number = listed[0]["name"].rpartition("/")[2]
    assert "reviewed by anonymous: fine" in run("review", number, *on, "--comment", "fine").out
    assert len(run("review", *on, "--json").json["decisions"]) == len(listed) - 1
    assert ", line " in run(*question, goal).out
    other = listed[1]["certificate_sha256"]
    assert run("certificate", "diff", digest, other, *on, "--json").json["equal"] is False
    assert run("log", "verify", *on, "--json").json["valid"] is True


def test_a_batch_with_a_bad_file_exits_1_and_names_it(kb: Path, files: Path, run: Run) -> None:
    (files / "documents" / "empty.txt").write_bytes(b"")
    outcome = run("ingest", "--kb", kb, files / "documents", "--json")
    assert outcome.code == 1
    assert outcome.json["rejected"] == 1
    assert outcome.json["statements_inserted"] == 0
    bad = [one for one in outcome.json["documents"] if "rejected" in one]
    path = files / "documents" / "empty.txt"
    assert bad[0]["file"] == str(path)
    assert f"rejected  {path}" in run("ingest", "--kb", kb, files / "documents").out


def test_files_of_one_name_are_told_apart(kb: Path, files: Path, run: Run) -> None:
    for folder, text in (("a", "Some Ltd is certified under ISO 9001."), ("b", "")):
        (files / folder).mkdir()
        (files / folder / "x.txt").write_text(text)
    outcome = run("ingest", "--kb", kb, files / "b", files / "a")
    assert f"admitted  {files / 'a' / 'x.txt'}" in outcome.out
    assert f"rejected  {files / 'b' / 'x.txt'}" in outcome.out


def test_a_link_that_leads_nowhere_is_told(kb: Path, files: Path, run: Run) -> None:
    link = files / "documents" / "gone.txt"
    link.symlink_to(files / "nowhere.txt")
    for given in (files / "documents", link):
        outcome = run("ingest", "--kb", kb, given)
        assert outcome.code == 1
        assert f"rejected  {link}" in outcome.out
        assert f"a link to {files / 'nowhere.txt'}, which is not there" in outcome.out


def test_what_no_pack_reads_is_hinted_at(kb: Path, files: Path, run: Run) -> None:
    poem = files / "poem.txt"
    poem.write_text("The fog comes on little cat feet.")
    outcome = run("ingest", "--kb", kb, poem)
    assert outcome.code == 0
    assert "supplier (Supplier onboarding)" in outcome.err
    assert "proofweave pack new" in outcome.err
    assert "\n" not in outcome.err.strip()
    assert "pack new" in run("ingest", "--kb", kb, poem, "--json").json["hint"]
    known = run("ingest", "--kb", kb, files / "documents", poem, "--json")
    assert known.json["hint"] is None


def test_rdf_is_not_read_as_prose(kb: Path, files: Path, run: Run) -> None:
    (files / "a.ttl").write_text("<a:b> <a:c> <a:d> .")
    assert "proofweave import a.ttl" in run("ingest", "--kb", kb, files / "a.ttl").out


FILMS = """\
@prefix f: <http://films.example/> .
@prefix p: <http://terms.example/p#> .
f:Acme_GmbH p:liability_cover 7000000 ; p:certified_under "ISO 9001" ; p:liability_covr 5 .
f:Broken p:x "open .
f:Acme_GmbH p:nickname "Ace"@en .
"""


def test_rdf_is_imported_and_what_is_refused_is_told(kb: Path, files: Path, run: Run) -> None:
    file = files / "acme.ttl"
    file.write_text(FILMS)
    mapping = files / "m.yaml"
    mapping.write_text("dimensions: {liability_cover: {kind: quantity, unit: EUR}}")
    options = ("--entities", "http://films.example/", "--mapping", mapping, "--kb", kb)
    first = run("import", file, *options)
    assert first.code == 0
    assert "2 statements new, 0 known before, 3 refused" in first.out
    assert (
        "for <http://terms.example/p#liability_covr>; the nearest is liability_cover" in first.out
    )
    assert "(line 4)" in first.out
    assert "--define" in first.out
    again = run("import", file, *options, "--define", "--language", "en", "--json").json
    assert (again["statements_inserted"], again["statements_known"]) == (2, 2)
    assert again["defined_dimensions"] == ["liability_covr", "nickname"]
    assert [each["lines"] for each in again["refused"]] == [[4]]
    question = ("prove", "--kb", kb, "--policy", "onboarding", 'eligible("Acme GmbH")')
    proof = run(*question)
    assert proof.code == 0
    assert "acme, line 3" in proof.out
    plain = files / "plain.data"
    plain.write_text(FILMS)
    assert run("import", plain, "--kb", kb).code == 2
    assert run("import", plain, "--kb", kb, "--format", "turtle").code == 0


def test_what_only_rdf_has_is_refused_of_a_table(kb: Path, files: Path, run: Run) -> None:
    table = files / "register.csv"
    table.write_text("name,liability_cover\nNew Ltd,7000000 EUR\n")
    outcome = run("import", table, "--kb", kb, "--define")
    assert outcome.code == 2
    assert "register.csv is read as a table" in outcome.err
    outcome = run("import", table, "--kb", kb, "--entities", "films")
    assert "'films' is no beginning of an IRI" in outcome.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("serve", "--kb", "kb", "--port", "99999"),
        ("serve", "--kb", "kb", "--http-port", "-1"),
        ("log", "verify", "--server", "localhost:99999"),
    ],
)
def test_a_port_out_of_range_is_refused(run: Run, arguments: tuple[str, ...]) -> None:
    outcome = run(*arguments)
    assert outcome.code == 2
    assert "port" in outcome.err
    assert "65535" in outcome.err or "greater than or equal to 0" in outcome.err


def test_two_knowledge_bases_of_one_name_are_refused(files: Path, run: Run) -> None:
    for folder in ("one", "two"):
        assert run("init", files / folder / "kb", "--pack", "supplier").code == 0
    one, two = files / "one" / "kb", files / "two" / "kb"
    outcome = run("serve", "--kb", one, "--kb", two)
    assert outcome.code == 2
    assert f"{one} and {two} are both 'kb'; write NAME={two}" in outcome.err
    outcome = run("serve", "--kb", f"a={one}", "--kb", f"b={one}")
    assert outcome.code == 2
    assert "is both 'a' and 'b'" in outcome.err
    assert named_bases({"kb": one}, [str(one), f"other={two}"]) == {"kb": one, "other": two}


def test_a_table_is_imported(kb: Path, files: Path, run: Run) -> None:
    table = files / "register.csv"
    table.write_text("name,liability_cover\nNew Ltd,7000000 EUR\n")
    assert run("import", table, "--kb", kb, "--json").json["statements_inserted"] == 1
    question = ("prove", "--kb", kb, "--policy", "onboarding", 'insured("New Ltd")')
    assert run(*question).code == 0


def test_each_column_that_is_none_stands_with_its_nearest_name(
    kb: Path, files: Path, run: Run
) -> None:
    table = files / "register.csv"
    table.write_text("name,liabilty cover,ward\nNew Ltd,7000000 EUR,North\n")
    outcome = run("import", table, "--kb", kb)
    assert outcome.code == 2
    assert "in 'liabilty cover' (nearest: liability_cover), 'ward" in outcome.err


def test_orders_are_shown_met_and_compared(kb: Path, run: Run) -> None:
    on = ("--kb", kb)
    assert "liability_cover" in run("lattice", "show", *on).out
    shown = run("lattice", "show", "registered_country", *on).out
    assert "    European Economic Area" in shown
    relation = ("lattice", "compare", "registered_country", "Germany", "European Union")
    assert run(*relation, *on, "--json").json["relation"] == "is a kind of"
    met = run("lattice", "meet", "registered_country", "Germany", "European Union", *on, "--json")
    assert met.json["meet"] == ["Germany"]
    assert run("lattice", "check", *on).code == 0
    outcome = run("lattice", "compare", "registered_country", "Germny", "European Union", *on)
    assert outcome.code == 2
    assert "Germany" in outcome.err


def test_statements_are_queried(kb: Path, run: Run) -> None:
    query = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
    outcome = run("sparql", query, "--kb", kb, "--json")
    assert int(outcome.json["results"]["bindings"][0]["n"]["value"]) > 10
    assert run("sparql", "SELEC", "--kb", kb).code == 1


def test_a_backup_comes_back_whole(kb: Path, files: Path, run: Run) -> None:
    archive, copy = files / "kb.tar.gz", files / "copy"
    assert run("backup", kb, archive).code == 0
    assert run("backup", kb, archive).code == 1, "a backup does not overwrite"
    assert run("restore", archive, copy).code == 0
    question = ("prove", "--policy", "onboarding", "--valid-on", "2026-03-01")
    goal = 'eligible("Acme GmbH")'
    first = run(*question, "--kb", kb, goal, "--json").json
    second = run(*question, "--kb", copy, goal, "--json").json
    assert first["certificate_sha256"] == second["certificate_sha256"]
    (files / "junk.tar.gz").write_bytes(b"junk")
    assert run("restore", files / "junk.tar.gz", files / "other").code == 2
    assert not (files / "other").exists()


def test_a_place_without_a_knowledge_base_is_named(files: Path, run: Run) -> None:
    outcome = run("log", "verify", "--kb", files)
    assert outcome.code == 2
    assert str(files) in outcome.err
    assert run("log", "verify").code == 2
    assert run("log", "verify", "--kb", files, "--server", "localhost:1").code == 2
    assert run("init", files / "kb", "--pack", "suplier").code == 2
    assert not (files / "kb").exists()


def test_a_new_pack_works(files: Path, run: Run) -> None:
    assert run("pack", "new", "leases", "--dir", files).code == 0
    outcome = run("pack", "test", files / "leases", "--json")
    assert outcome.json["failed"] == 0, outcome.out
    assert outcome.code == 0
    assert run("pack", "new", "leases", "--dir", files).code == 1


def test_every_command_has_help_with_an_example(run: Run) -> None:
    commands: list[tuple[str, ...]] = [(entry.word,) for entry in COMMANDS]
    for group in GROUPS:
        app = getattr(import_module(f"server.cli.{group.module}"), group.name)
        names = [one.name or one.callback.__name__ for one in app.registered_commands]
        assert names, group
        commands += [(group.word, name) for name in names]
    for command in commands:
        outcome = run(*command, "--help")
        assert outcome.code == 0
        examples = outcome.out.partition("Example")[2].partition("\n\n")[0]
        assert f"proofweave {' '.join(command)}" in examples, command
        joined = [line for line in examples.splitlines() if re.search(r"\S {2}", line)]
        assert not joined, (command, joined)  # a line that goes on ends in a backslash


def test_what_is_empty_says_so(kb: Path, run: Run) -> None:
    """An empty list is no silence, and a misspelt dimension is told with the nearest."""
    at = ("--kb", kb)
    assert run("operation", "list", *at).out == "nothing has been imported yet\n"
    assert run("certificate", "list", *at).out == "nothing has been decided yet\n"
    assert run("review", *at).out == "nothing waits for a review\n"
    listed = run("statement", "list", "--dimension", "liabilty_cover", *at)
    assert listed.out.startswith("nothing is stated of dimension 'liabilty_cover'; nearest: ")
    assert "liability_cover" in listed.out
    assert "“" in run("statement", "list", "--dimension", "subclass_of", *at).out


def test_the_program_starts_from_a_shell(files: Path) -> None:
    command = [sys.executable, "-m", "server", "prove", *map(str, offline(files))]
    paths = [str(Path(__file__).parents[2]), str(Path(__file__).parents[2] / "protos")]
    result = subprocess.run(
        [*command, "eligible(acme)", "--json"],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(paths), "HOME": str(files)},
        cwd=files,
    )
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["verdict"] == "CERTIFIED"
    assert result.stderr == ""


def test_a_served_knowledge_base_is_reached_and_ends_on_a_signal(kb: Path, run: Run) -> None:
    root = Path(__file__).parents[2]
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{root}:{root / 'protos'}"}
    command = [sys.executable, "-m", "server", "serve", "--kb", f"main={kb}"]
    with subprocess.Popen(
        [*command, "--port", "0", "--http-port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
        cwd=kb,
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        address = line.partition("gRPC ")[2].partition(",")[0]
        try:
            goal = ("--policy", "onboarding", "--valid-on", "2026-03-01", 'eligible("Acme GmbH")')
            outcome = run("prove", "--server", address, *goal, "--json")
            assert outcome.code == 0, outcome.err
            assert outcome.json["name"].startswith("knowledgeBases/main/decisions/")
            page = line.strip().rpartition(" ")[2]
            with urllib.request.urlopen(f"http://{page}/healthz") as response:
                assert json.load(response) == {"status": "serving"}
        finally:
            process.terminate()
        assert process.wait(timeout=20) == 0
    outcome = run("log", "verify", "--server", address)
    assert outcome.code == 1
    assert address in outcome.err
