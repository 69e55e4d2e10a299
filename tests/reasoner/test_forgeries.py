"""Certificates that claim what their sources do not say, made by somebody who knows the checker."""

from __future__ import annotations

import datetime
import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from kb.document import Document, decode
from kb.table_mapping import TableMapping
from kb.tables import read_table
from reasoner.certificate import canonical_bytes
from reasoner.decide import Decision, Request, decide
from reasoner.errors import GoalRejected, PolicyRejected
from reasoner.facts import Fact, FactBase, facts_of
from reasoner.policy import parse_atom, parse_policy
from reasoner.prelude import prelude
from reasoner.sources import FactsFiles, SourceRecord, StatementRecord, facts_file_sources
from reasoner.verdict import Verdict
from reasoner.verify import Report, Texts, verify_bytes

Json = dict[str, Any]
DAY = datetime.date(2026, 6, 1)


def sources_of(facts: str) -> FactsFiles:
    """Read a facts file as the sources a checker has."""
    return facts_file_sources(("facts.lp", facts))[1]


def prove(policy: str, facts: str, goal: str, day: datetime.date = DAY) -> Decision:
    """Decide a goal from a facts file."""
    base, sources = facts_file_sources(("facts.lp", facts))
    request = Request(parse_atom(goal), day)
    return decide(
        request,
        policy=parse_policy(policy, name="policy.lp"),
        facts=base,
        sources=sources,
        engine="linear",
    )


def moved(decision: Decision, facts: str, real: str) -> Json:
    """Present a certificate from one facts file as one from another."""
    text = decision.certificate.decode()
    old, new = (hashlib.sha256(item.encode()).hexdigest() for item in (facts, real))
    certificate: Json = json.loads(text.replace(old, new))
    return certificate


def examine(certificate: Json, real: str) -> Report:
    """Digest the statements again, as a forger would, and examine the certificate."""
    names = "\n".join(sorted(certificate["statements"]))
    certificate["knowledge"] = hashlib.sha256(names.encode()).hexdigest()
    return verify_bytes(canonical_bytes(certificate), sources_of(real).texts)


# Facts files


@pytest.mark.parametrize(
    "real",
    ["-insured(acme).", "% insured(acme).", 'note("so insured(acme). ").', "%* insured(acme). *%"],
)
def test_a_part_of_a_fact_is_no_fact(real: str) -> None:
    facts = "insured(acme)."
    certificate = moved(prove("ok(S) :- insured(S).", facts, "ok(acme)"), facts, real)
    (statement,) = certificate["statements"].values()
    start = real.index(facts)
    statement["evidence"][0].update(start=start, end=start + len(facts))
    assert examine(certificate, real).rejection == "QUOTE_MISMATCH"


def test_only_a_facts_file_states_an_atom() -> None:
    facts = "insured(acme)."
    certificate = json.loads(prove("ok(S) :- insured(S).", facts, "ok(acme)").certificate)
    (source,) = certificate["sources"].values()
    source["decoder"] = "text/1"
    assert examine(certificate, facts).rejection == "QUOTE_MISMATCH"


LISTED = 'closed(entry/1, "list.csv"). ok(S) :- supplier(S), not entry(S).'
CLEAN, REAL = 'supplier("Evil").', 'supplier("Evil"). entry("Evil").'


@pytest.mark.parametrize("basis", ["facts", "declared", "knowledge"])
def test_a_lookup_without_the_row_is_found_out_whatever_it_rests_on(basis: str) -> None:
    certificate = moved(prove(LISTED, CLEAN, 'ok("Evil")'), CLEAN, REAL)
    certificate["witness"]["lookups"][0]["basis"] = basis
    assert examine(certificate, REAL).rejection == "LOOKUP_MISMATCH"


@pytest.mark.parametrize("real", [CLEAN, REAL])
def test_a_demand_does_not_stand_for_the_lookup_of_a_stored_predicate(real: str) -> None:
    certificate = moved(prove(LISTED, CLEAN, 'ok("Evil")'), CLEAN, real)
    text = prelude_text()
    record = {"id": "prelude", "version": "1", "effective": "../..", "text": text}
    certificate["policies"].append({**record, "digest": prelude().digest})
    certificate["policies"].sort(key=lambda item: item["digest"])
    names = [{"pattern": 'alias("Evil", _)', "answers": [], "possible": []}]
    certificate["witness"] = {
        "contested": [],
        "demands": [*names, {"pattern": 'entry("Evil")', "answers": [], "possible": []}],
        "lookups": [
            {"pattern": pattern, "answers": [], "basis": "facts"}
            for pattern in ('same_as("Evil", _)', 'same_as(_, "Evil")')
        ],
    }
    assert examine(certificate, real).rejection in ("WITNESS_INCOMPLETE", "LOOKUP_MISMATCH")


def prelude_text() -> str:
    """Give the text of the prelude."""
    return (Path(__file__).parents[2] / "reasoner" / "prelude.lp").read_text(encoding="utf-8")


def test_facts_of_a_predicate_with_rules_are_not_left_out() -> None:
    policy = LISTED.replace("not entry", "not bad") + 'bad(S) :- entry(S). closed(bad/1, "x").'
    real = CLEAN + ' bad("Evil").'
    certificate = moved(prove(policy, CLEAN, 'ok("Evil")'), CLEAN, real)
    assert examine(certificate, real).rejection == "LOOKUP_MISMATCH"


def test_a_contradiction_in_the_facts_is_not_hidden() -> None:
    facts = "insured(acme)."
    for real in ("insured(acme). -insured(acme).", "insured(acme). -ok(acme)."):
        certificate = moved(prove("ok(S) :- insured(S).", facts, "ok(acme)"), facts, real)
        assert examine(certificate, real).rejection == "VERDICT_MISMATCH"
    policy = "functional(cover). ok(S) :- cover(S, V), V > 5."
    facts, real = "cover(acme, 7).", "cover(acme, 7). cover(acme, 3)."
    certificate = moved(prove(policy, facts, "ok(acme)"), facts, real)
    assert examine(certificate, real).rejection == "VERDICT_MISMATCH"


def test_a_contradiction_in_the_facts_is_not_hidden_by_leaving_out_minimality() -> None:
    policy = "functional(cover). ok(S) :- cover(S, V), V > 5."
    facts = "cover(acme, 7)."
    for real in (f"{facts} cover(acme, 3).", f"{facts} -ok(acme).", f"{facts} -cover(acme, 7)."):
        certificate = moved(prove(policy, facts, "ok(acme)"), facts, real)
        texts = sources_of(real).texts
        report = verify_bytes(canonical_bytes(certificate), texts, minimality=False)
        assert report.rejection == "VERDICT_MISMATCH"


# Absence


@pytest.mark.parametrize("note", [" % all is well", " %* granted *%", " ", "."])
def test_an_open_atom_carries_no_note_of_its_own(note: str) -> None:
    facts = "insured(acme)."
    decision = prove("ok(S) :- insured(S), certified(S).", facts, "ok(acme)")
    certificate = json.loads(decision.certificate)
    (item,) = certificate["open"]
    assert examine(certificate, facts).valid
    item["atom"] += note
    digest = hashlib.sha256(f"{item['atom']}\n{item['rule']}".encode()).hexdigest()
    item["id"] = f"or:{digest[:16]}"
    assert examine(certificate, facts).rejection == "NOT_CANONICAL"


def test_what_is_contested_is_not_absent() -> None:
    policy = 'closed(l/1, "l"). bad(S) :- l(S). closed(sup/1, "l"). ok(S) :- sup(S), not bad(S).'
    clean, real = "sup(a).", "sup(a). l(a). -bad(a)."
    certificate = moved(prove(policy, clean, "ok(a)"), clean, real)
    conflict = json.loads(prove(policy, real, "bad(a)").certificate)
    count = len(certificate["steps"])
    names = {item["id"]: f"s{number + count}" for number, item in enumerate(conflict["steps"], 1)}
    for step in conflict["steps"]:
        premises = [names[name] for name in step["premises"]]
        certificate["steps"].append({**step, "id": names[step["id"]], "premises": premises})
    for field in ("statements", "rules"):
        certificate[field].update(conflict[field])
    (contested,) = conflict["witness"]["contested"]
    for side in contested["sides"]:
        side["step"] = names[side["step"]]
    certificate["witness"]["contested"] = [contested]
    (stored,) = (s["id"] for s in certificate["steps"] if s["conclusion"] == "l(a)")
    certificate["witness"]["lookups"][0]["answers"] = [{"atom": "l(a)", "step": stored}]
    assert examine(certificate, real).rejection == "WITNESS_INCOMPLETE"


def test_what_lacks_a_value_is_not_absent() -> None:
    policy = """closed(pay/2, "l"). risky(S) :- pay(S, N), X = 5 / N, X > 1.
        ok(S) :- sup(S), not risky(S)."""
    clean, real = "sup(a). pay(a, 9).", "sup(a). pay(a, 0)."
    certificate = moved(prove(policy, clean, "ok(a)"), clean, real)
    text = json.dumps(certificate).replace("pay(a, 9)", "pay(a, 0)")
    old, new = (hashlib.sha256(f"pay(a, {n})".encode()).hexdigest()[:32] for n in (9, 0))
    assert examine(json.loads(text.replace(old, new)), real).rejection == "WITNESS_INCOMPLETE"


def test_a_name_spelt_alike_is_not_absent() -> None:
    with pytest.raises(PolicyRejected, match=r"same_name/2 is open"):
        parse_policy('ok(S) :- sup(S), not same_name(S, "ACME").', name="p")
    with pytest.raises(PolicyRejected, match=r"same_name/2 is open"):
        parse_policy(
            'closed(same_name/2, "x"). ok(S) :- sup(S), not same_name(S, "ACME").', name="p"
        )


def test_a_definition_does_not_stand_for_a_comparison() -> None:
    """Of the same words, one is true of each value and the other undetermined of a year."""
    policy = """one(A) :- d(A, D), E = D, f(A, F), F < 9.
        two(A) :- d(A, D), c(A, E), E = D.
        ok(A) :- one(A), two(A)."""
    exact = 'd(a, @date("2026-01-01")). c(a, @date("2026-01-01")). f(a, 1).'
    real = exact.replace("2026-01-01", "2026")
    decision = prove(policy, exact, "ok(a)")
    assert decision.verdict is Verdict.CERTIFIED
    text = json.dumps(moved(decision, exact, real))
    for predicate in "dc":
        atoms = [f'{predicate}(a, @date("{date}"))' for date in ("2026-01-01", "2026")]
        old, new = (hashlib.sha256(atom.encode()).hexdigest()[:32] for atom in atoms)
        text = text.replace(old, new)
    certificate = json.loads(text.replace("2026-01-01", "2026"))
    spans = {f"{p}(": real.index(f"{p}(a") for p in "dcf"}
    for statement in certificate["statements"].values():
        (item,) = statement["evidence"]
        start = spans[item["quote"][:2]]
        item.update(start=start, end=start + len(item["quote"]))
    assert examine(certificate, real).rejection == "COMPARISON"


# What is open, and what is refuted


def reopened(certificate: Json, atom: str, rule: str, real: str) -> Report:
    """Say that something else is open, for a reason in words."""
    digest = hashlib.sha256(f"{atom}\n{rule}".encode()).hexdigest()
    certificate["open"][0].update(atom=atom, rule=rule, id=f"or:{digest[:16]}", detail="see there")
    return examine(certificate, real)


ENOUGH = """ok(S) :- cover(S, V), V > 5, has(S, _).
    far(S) :- cover(S, V), V > 9, has(S, _). -low(S) :- cover(S, V), V > 5."""


@pytest.mark.parametrize(
    ("atom", "rule"),
    [
        ("cover(a, V)", "ok.1"),  # it is high enough
        ("has(a, 1)", "far.1"),
        ("cover(a, 7)", ""),
        ("not has(a, _)", "ok.1"),  # it is absent
        ("not cover(a, 7)", "far.1"),
    ],
)
def test_a_reason_in_words_does_not_make_an_answer_open(atom: str, rule: str) -> None:
    facts = "cover(a, 7)."
    decision = prove(ENOUGH, facts, "ok(a)")
    assert [item.atom for item in decision.open] == ["has(a, _)"]
    report = reopened(json.loads(decision.certificate), atom, rule, facts)
    assert report.rejection == ("" if atom == "has(a, 1)" else "OPEN_MISMATCH")


def test_what_another_test_refuses_is_not_open() -> None:
    """The age is too low, which says nothing about the cover."""
    policy = "ok(S) :- cover(S, V), V > 5, age(S, A), A > 18, has(S, _)."
    facts = "cover(a, 7). age(a, 3). has(a, 1)."
    decision = prove(policy, facts, "ok(a)")
    assert [item.atom for item in decision.open] == ["age(a, A)"]
    certificate = json.loads(decision.certificate)
    assert reopened(certificate, "cover(a, V)", "ok.1", facts).rejection == "OPEN_MISMATCH"


@pytest.mark.parametrize(
    ("policy", "facts", "goal", "atom"),
    [
        (  # the rule is called with a value that no call of the witness has
            """closed(g/2, "c"). closed(e/1, "c"). q(N, N) :- g(Z, Y), N = #count{ V : g(V, W) }.
            r(X, Y) :- q(X, Y), q(Y, Z), 2 < X.""",
            "e(3). g(2, 3). g(1, 3). g(3, 3).",
            "r(2, a)",
            "g(V, W)",
        ),
        (  # no call of the witness is for this head
            """closed(g/2, "c"). q(2, 3) :- p(X), e(Z), not g(_, Z), f(Z, X), Z = a.
            s(2) :- q(_, a), q(Z, Z), Z != 2. p(a).""",
            "e(1). f(1, 1). f(a, 1). g(a, 1).",
            "s(2)",
            "",
        ),
    ],
)
def test_what_is_open_further_below_is_accepted(
    policy: str, facts: str, goal: str, atom: str
) -> None:
    decision = prove(policy, facts, goal)
    assert decision.verdict is Verdict.ABSTAINED
    assert not atom or atom in [item.atom for item in decision.open]


def test_what_a_test_refuses_is_open() -> None:
    facts = "cover(a, 7). has(a, 1)."
    decision = prove(ENOUGH, facts, "far(a)")
    assert [item.atom for item in decision.open] == ["cover(a, V)"]
    report = verify_bytes(decision.certificate, sources_of(facts).texts)
    assert report.valid
    assert not any("no use for" in item for item in report.trusted)


def test_a_conflict_that_nobody_shows_is_not_open() -> None:
    facts = "cover(a, 7)."
    certificate = json.loads(prove(ENOUGH, facts, "ok(a)").certificate)
    other = {**certificate["open"][0], "code": "CONFLICT"}
    digest = hashlib.sha256(b"cover(a, 7)\nok.1").hexdigest()
    other.update(atom="cover(a, 7)", id=f"or:{digest[:16]}")
    certificate["open"].append(other)
    certificate["code"] = "CONFLICT"
    assert examine(certificate, facts).rejection in ("VERDICT_MISMATCH", "OPEN_MISMATCH")


def test_a_refutation_does_not_pass_for_an_abstention() -> None:
    facts = "cover(a, 3)."
    decision = prove(ENOUGH, facts, "low(a)")
    assert decision.verdict is Verdict.ABSTAINED
    certificate = json.loads(decision.certificate)
    patterns = [item["pattern"] for item in certificate["witness"]["demands"]]
    assert "-low(a)" in patterns
    hidden = [item for item in certificate["witness"]["demands"] if item["pattern"] != "-low(a)"]
    certificate["witness"]["demands"] = hidden
    assert examine(certificate, facts).rejection == "WITNESS_INCOMPLETE"


def test_a_denial_in_the_facts_does_not_pass_for_an_abstention() -> None:
    policy, facts, real = "ok(S) :- has(S).", "note(a).", "note(a). -ok(a)."
    certificate = moved(prove(policy, facts, "ok(a)"), facts, real)
    assert examine(certificate, real).rejection == "VERDICT_MISMATCH"


# What no source states


@pytest.mark.parametrize(
    "fact",
    [
        'valid_on(@date("2020-01-01"))',
        'stated_in("st:1", "doc:2")',
        'same_name("a", "b")',
        'under("a", "b")',
        'alias("a", "b")',
        'stated_by("st:1", "register", "x", @date("2020"))',
    ],
)
def test_facts_files_do_not_state_what_is_built_in(fact: str) -> None:
    with pytest.raises(PolicyRejected, match=r"facts\.lp:2:1: error: .*is built in"):
        facts_file_sources(("facts.lp", f"sup(a).\n{fact}."))


def test_the_day_of_the_request_cannot_be_assumed() -> None:
    base, sources = facts_file_sources(("facts.lp", "sup(a)."))
    with pytest.raises(GoalRejected, match="cannot be assumed"):
        decide(
            Request(parse_atom("sup(a)"), DAY, (parse_atom('valid_on(@date("2020-01-01"))'),)),
            policy=parse_policy("ok(S) :- sup(S).", name="p"),
            facts=base,
            sources=sources,
        )


def test_a_statement_of_what_is_built_in_is_rejected() -> None:
    facts = "insured(acme)."
    certificate = json.loads(prove("ok(S) :- insured(S).", facts, "ok(acme)").certificate)
    atom = 'same_name("a", "b")'
    name = f"st:{hashlib.sha256(atom.encode()).hexdigest()[:32]}"
    (statement,) = certificate["statements"].values()
    certificate["statements"] = {name: {**statement, "atom": atom}}
    assert examine(certificate, facts).rejection == "STATEMENT_MISMATCH"


# Limits


def test_the_last_day_of_the_calendar_is_a_day() -> None:
    rule = 'ok(S) :- sup(S), valid_on(D), D > @date("2020").'
    decision = prove(rule, "sup(a).", "ok(a)", datetime.date.max)
    assert decision.verdict is Verdict.CERTIFIED
    assert json.loads(decision.certificate)["validity"]["end"] is None


def test_numbers_that_nobody_could_write_are_refused_or_undetermined() -> None:
    with pytest.raises(PolicyRejected, match="digits is too long"):
        facts_file_sources(("facts.lp", f"sup(a, {'9' * 5000})."))
    facts = f"sup(a, {'9' * 1000})."
    assert prove("ok(S) :- sup(S, N), N > 5.", facts, "ok(a)").verdict is Verdict.CERTIFIED
    assert prove("ok(S) :- sup(S, N), N * N > 5.", facts, "ok(a)").verdict is Verdict.ABSTAINED


# Tables and folders

OWNERS = "name,owner,staff,since\nNord,Alpha AG,12,2020-01-01\nOst,Beta AG,7,2021-01-01\n"


def table_certificate(tmp_path: Path, dimension: str) -> tuple[Json, Document]:
    """Certify a cell of a table that lies in a folder."""
    (tmp_path / "owners.csv").write_text(OWNERS)
    document = decode(OWNERS.encode(), name="owners.csv")
    facts: list[Fact] = []
    records: Json = {}
    for found in read_table(document, mapping=TableMapping()):
        assert isinstance(found, tuple)
        records[found[0].id] = found
        facts += facts_of(found[0].id, found[0], (found[1],))
    base, sources = FactBase(facts), _TableSources(document, records)
    decision = decide(
        Request(parse_atom(f'{dimension}("Nord", V)'), DAY),
        policy=parse_policy("x(S) :- owner(S, _).", name="p"),
        facts=base,
        sources=sources,  # type: ignore[arg-type]  # what is asked here
        engine="linear",
    )
    return json.loads(decision.certificate), document


class _TableSources:
    """One table as source."""

    fact_sources: tuple[str, ...] = ()
    functional: frozenset[str] = frozenset()
    disjoint: frozenset[tuple[str, str]] = frozenset()

    def __init__(self, document: Document, records: Json) -> None:
        self.document, self.records = document, records
        self.texts = Texts({document.text_sha256: document.text})

    def statement(self, statement_id: str) -> StatementRecord:
        statement, evidence = self.records[statement_id]
        return StatementRecord(None, statement, (evidence,))

    def source(self, source_sha256: str) -> SourceRecord:
        found = self.document
        assert found.source_sha256 == source_sha256
        return SourceRecord(found.media_type, found.title, found.decoder, found.text_sha256)


def restate(certificate: Json, **changes: object) -> bytes:
    """Change the one statement of a certificate and everything that digests it."""
    ((old, statement),) = certificate["statements"].items()
    statement.update(changes)
    form = {key: item for key, item in statement.items() if key != "evidence"}
    new = f"st:{hashlib.sha256(canonical_bytes({**form, 'modality': 'asserted'})).hexdigest()[:32]}"
    value = statement["value"]["value"]
    term = value if statement["value"]["kind"] == "number" else json.dumps(value)
    if statement["value"]["kind"] == "date":
        term = f'@date("{value}")'
    atom = f"{statement['dimension']}({json.dumps(statement['subject'])}, {term})"
    certificate["statements"] = {new: statement}
    certificate["knowledge"] = hashlib.sha256(new.encode()).hexdigest()
    (step,) = certificate["steps"]
    step.update(conclusion=atom, statement=new)
    certificate["answers"] = [{"atom": atom, "step": "s1"}]
    sign = atom.partition("(")[0]
    certificate["goal"] = f"{sign}({json.dumps(statement['subject'])}, V)"
    assert old != new
    return canonical_bytes(certificate)


def examine_in(folder: Path, data: bytes) -> Report:
    """Examine a certificate as the command line does."""
    return verify_bytes(data, folder)


@pytest.mark.parametrize(
    ("dimension", "changes"),
    [
        ("owner", {"value": {"kind": "text", "value": "Gamma AG"}}),
        ("owner", {"subject": "Evil Ltd"}),
        ("owner", {"dimension": "since"}),
        ("staff", {"value": {"kind": "number", "value": "1200"}}),
        ("since", {"value": {"kind": "date", "value": "1999-01-01"}}),
    ],
)
@pytest.mark.parametrize("media_type", ["text/csv", "text/plain"])
def test_a_row_says_what_its_cells_say(
    tmp_path: Path, dimension: str, changes: Json, media_type: str
) -> None:
    certificate, _ = table_certificate(tmp_path, dimension)
    assert examine_in(tmp_path, canonical_bytes(certificate)).valid
    (source,) = certificate["sources"].values()
    source["media_type"] = media_type
    assert examine_in(tmp_path, restate(certificate, **changes)).rejection == "QUOTE_MISMATCH"


def test_a_part_of_a_row_is_no_quote(tmp_path: Path) -> None:
    certificate, _ = table_certificate(tmp_path, "owner")
    (statement,) = certificate["statements"].values()
    (item,) = statement["evidence"]
    item.update(quote=item["quote"][:13], end=item["start"] + 13)
    assert examine_in(tmp_path, canonical_bytes(certificate)).rejection == "QUOTE_MISMATCH"


@pytest.mark.parametrize("quote", ["Acme is insured.", "Acme is insured. --"])
def test_a_markdown_file_may_be_read_as_plain_text(tmp_path: Path, quote: str) -> None:
    """Then its text is all there is, but what it hides is not quoted."""
    shown = "x <!-- --> Acme is insured. <!-- -->\n"
    (tmp_path / "letter.md").write_text(shown)
    certificate, _ = table_certificate(tmp_path, "owner")
    digest = hashlib.sha256(shown.encode()).hexdigest()
    ((_, record),) = certificate["sources"].items()
    plain = {"decoder": "text/1", "text_sha256": digest, "media_type": "text/plain"}
    certificate["sources"] = {digest: {**record, **plain}}
    (statement,) = certificate["statements"].values()
    quote = quote if quote in shown else "<!-- --> Acme"
    start = shown.index(quote)
    place = {"start": start, "end": start + len(quote), "quote": quote}
    statement["evidence"][0].update(source_sha256=digest, text_sha256=digest, **place)
    report = examine_in(tmp_path, canonical_bytes(certificate))
    assert report.rejection == ("SOURCE_MISMATCH" if quote.startswith("<") else "")


@pytest.mark.parametrize(
    ("name", "decoder"), [("letter.md", "text/1"), ("letter.md", "pdf/1"), ("letter.txt", "pdf/1")]
)
def test_an_original_is_decoded_as_its_name_says(tmp_path: Path, name: str, decoder: str) -> None:
    """Quote what a Markdown file hides, by calling it plain text or of an unknown kind."""
    shown = "x <!-- Acme is insured. -->\n"
    (tmp_path / name).write_text(shown)
    certificate, _ = table_certificate(tmp_path, "owner")
    digest = hashlib.sha256(shown.encode()).hexdigest()
    ((_, record),) = certificate["sources"].items()
    certificate["sources"] = {
        digest: {**record, "decoder": decoder, "text_sha256": digest, "media_type": "text/x"}
    }
    (statement,) = certificate["statements"].values()
    (item,) = statement["evidence"]
    quote = "Acme is insured."
    start = shown.index(quote)
    item.update(source_sha256=digest, text_sha256=digest, quote=quote)
    item.update(start=start, end=start + len(quote))
    report = examine_in(tmp_path, canonical_bytes(certificate))
    assert report.rejection == "SOURCE_MISMATCH"


def test_a_folder_may_hold_anything(tmp_path: Path) -> None:
    certificate, document = table_certificate(tmp_path, "owner")
    (tmp_path / "broken.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2\n")[:12] + b"\xff" * 9)
    (tmp_path / "broken.csv").write_bytes(b"\x1f\x8b" + b"\xff" * 20)
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\xff\xfe")
    assert examine_in(tmp_path, canonical_bytes(certificate)).valid
    picture = hashlib.sha256((tmp_path / "picture.png").read_bytes()).hexdigest()
    text = json.dumps(certificate).replace(document.text_sha256, picture)
    report = examine_in(tmp_path, canonical_bytes(json.loads(text)))
    assert report.rejection == "SOURCE_MISMATCH"


def test_a_text_without_its_original_is_reported(tmp_path: Path) -> None:
    certificate, _ = table_certificate(tmp_path, "owner")
    text = canonical_bytes(certificate).decode()
    (source,) = certificate["sources"]
    record = certificate["sources"][source]
    other = "0" * 64
    certificate["sources"] = {other: {**record, "title": "the register"}}
    forged = json.loads(
        json.dumps(certificate).replace(
            f'"source_sha256": "{source}"', f'"source_sha256": "{other}"'
        )
    )
    report = examine_in(tmp_path, canonical_bytes(forged))
    assert report.valid
    note = "the decoding of 1 sources by table/1: their originals were not decoded here"
    assert note in report.trusted
    assert note not in examine_in(tmp_path, text.encode()).trusted


def test_the_report_names_the_day_and_what_it_does_not_show(tmp_path: Path) -> None:
    certificate, _ = table_certificate(tmp_path, "owner")
    report = examine_in(tmp_path, canonical_bytes(certificate))
    assert report.valid_on == "2026-06-01"
    assert "that the goal has no other answers than these" in report.trusted
    found = verify_bytes(canonical_bytes(certificate), tmp_path, expect_day="2027-01-01")
    assert (found.rejection, found.where) == ("GOAL_MISMATCH", "valid_on")
