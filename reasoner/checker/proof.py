"""The proof: statements and their quotes, and every step from earlier ones."""

from __future__ import annotations

from typing import NoReturn

from .arithmetic import evaluate, same_name
from .case import Case, is_term
from .format import Json, canonical, reject, require
from .language import write
from .rules import DECLARATIONS, NEVER_STATED, Bindings, Literal, Planned, Rule, read_atom
from .sources import FACTS_DECODER, TABLE_TYPES, digest_of
from .units import converted
from .values import (
    TRUE,
    constant,
    read_date,
    read_day,
    read_number,
    value_of,
    write_text,
    write_value,
)
from .walk import truth_of
from .witness import Witness

Concluded = dict[str, tuple[str, ...]]
"""What each statement concludes, by its identifier."""


def check_statements(case: Case) -> Concluded:
    """Compare statements with their identifiers, and give what each concludes."""
    certificate, concluded = case.certificate, Concluded()
    day = certificate["valid_on"]
    for name, record in certificate["statements"].items():
        case.where = f"statements/{name}"
        if "atom" in record:
            concluded[name] = (record["atom"],)
            digest = digest_of(record["atom"])
        else:
            concluded[name] = _conclusions(name, record)
            form = {key: record[key] for key in record if key != "evidence"}
            digest = digest_of(canonical({**form, "modality": "asserted"}))
            start, end = (record["validity"][key] for key in ("start", "end"))
            holds = day is None or (start or day) <= day < (end or "9999-99-99")
            require(holds, "STATEMENT_MISMATCH", "it does not hold on the day of the request")
        if name != f"st:{digest[:32]}":
            reject("STATEMENT_MISMATCH", "the identifier is not the digest")
        sign = case.ground(concluded[name][0])[0]
        require(sign not in NEVER_STATED, "STATEMENT_MISMATCH", f"no source states {sign}")
        require(record["evidence"], "STRUCTURE", "a statement needs evidence")
    names, case.where = sorted(certificate["statements"]), "knowledge"
    same = digest_of("\n".join(names)) == certificate["knowledge"]
    require(same, "KNOWLEDGE_MISMATCH", "not the digest of the statements used")
    case.checked.append(f"{len(names)} statements are what their identifiers digest")
    return concluded


def _conclusions(name: str, record: Json) -> tuple[str, str]:
    """Give the atoms that a statement about a dimension concludes: without and with its name."""
    kind, text = record["value"]["kind"], record["value"]["value"]
    for day in record["validity"].values():
        read_day(day)
    term = write_text(text)
    if kind not in ("entity", "class", "text"):
        term = write_value(constant("decimal" if kind == "number" else kind, text))
        same = text in (term, term[:-2].partition('("')[2])
        require(same, "NOT_CANONICAL", f"{text!r} is not in its canonical form")
    sign = "-" if record["polarity"] == "denied" else ""
    head = f"{sign}{record['dimension']}({write_text(record['subject'])}, {term}"
    return f"{head})", f'{head}, "{name}")'


# ---------------------------------------------------------------- quotes


def check_quotes(case: Case) -> None:
    """Compare every quote with its source text at its span."""
    certificate, texts = case.certificate, case.texts
    sources, extractors = certificate["sources"], set[str]()
    loaded = {n: texts.text(n, record) for n, record in sources.items()} if texts else {}
    tables = {name for name, record in sources.items() if record["media_type"] in TABLE_TYPES}
    if texts is not None:
        tables |= {source for source, _ in texts.tables.values()}
    for name, statement in certificate["statements"].items():
        for index, item in enumerate(statement["evidence"]):
            case.where = f"statements/{name}/evidence/{index}"
            source, quote, start, end = (
                item[key] for key in ("source_sha256", "quote", "start", "end")
            )
            record = sources.get(source)
            if record is None:
                reject("UNKNOWN_REFERENCE", f"the source {source} is not listed")
            case.use("sources", source)
            same = item["text_sha256"] == record["text_sha256"]
            if not (same and 0 <= start < end and end - start == len(quote)):
                reject("QUOTE_MISMATCH", "the span is not that of the quote")
            if texts is not None:
                if loaded[source][start:end] != quote:
                    reject("QUOTE_MISMATCH", f"the source does not say {quote!r} there")
                for first, last in texts.originals.get(source, ()):
                    is_shown = last <= start or end <= first
                    require(is_shown, "SOURCE_MISMATCH", "the Markdown file hides what is quoted")
            if "atom" in statement:
                _check_fact(case, item, record, statement["atom"])
                continue
            extractors.add(item["extractor"])
            if texts is not None and source in tables:
                table = texts.table(loaded[source], record["media_type"])
                _check_row(statement, table.header, table.row(start, end))
    _report_sources(case, extractors)


def _check_fact(case: Case, item: Json, record: Json, atom: str) -> None:
    """A facts file states whole atoms."""
    is_file = record["decoder"] == FACTS_DECODER
    require(is_file, "QUOTE_MISMATCH", "only a facts file states a whole atom")
    if item["quote"] != f"{atom}.":
        stated = write(read_atom(item["quote"], "QUOTE_MISMATCH")[2])
        require(stated == atom, "QUOTE_MISMATCH", f"the quote states {stated}, not {atom}")
    if case.texts is not None:
        is_whole = (item["start"], item["end"]) in case.facts_files[item["source_sha256"]].places
        require(is_whole, "QUOTE_MISMATCH", "the quote is no whole fact of its file")


def _check_row(statement: Json, header: list[str], cells: list[str] | None) -> None:
    """Compare a statement with the row of a table that it quotes, as far as cells show it.

    What a column means is up to a mapping; but the row is whole, it names the entity, and under a
    header that is the dimension itself stands the value.
    """
    if cells is None:
        reject("QUOTE_MISMATCH", "the quote is no whole row of its table")
    subject, value, *cells = (
        " ".join(text.split())
        for text in (statement["subject"], statement["value"]["value"], *cells)
    )
    is_named = subject in cells or subject.startswith("doc:")
    require(is_named, "QUOTE_MISMATCH", f"no cell of the row names {subject!r}")
    if len(cells) != len(header) or header.count(statement["dimension"]) != 1:
        return
    cell = cells[header.index(statement["dimension"])]
    agrees = True
    try:
        match statement["value"]["kind"]:
            case "entity" | "text":  # a cell may list several
                agrees = value.casefold() in cell.casefold()
            case "number" | "quantity":
                agrees = read_number(cell) == read_number(value.partition(" ")[0])
            case "date":
                agrees = read_date(cell) == read_date(value)
    except ValueError:
        return  # written in a way that only the extractor knows
    require(agrees, "QUOTE_MISMATCH", f"the row has {cell!r} there, not {value!r}")


def _report_sources(case: Case, extractors: set[str]) -> None:
    count = len(case.certificate["statements"])
    used, texts = case.used.get("sources", set()), case.texts
    if texts is None:
        case.not_given.append("the source texts: quotes were not compared with them")
    elif count:
        case.checked.append(f"the quotes of {count} statements stand in their sources")
    undecoded = used - (texts.originals.keys() if texts is not None else set())
    if undecoded:
        sources = case.certificate["sources"]
        decoders = ", ".join(sorted({sources[source]["decoder"] for source in undecoded}))
        sources_by = f"the decoding of {len(undecoded)} sources by {decoders}"
        case.trust(f"{sources_by}: their originals were not decoded here")
    if extractors:
        case.trust(f"that {', '.join(sorted(extractors))} read the quotes rightly")
    if count:
        case.trust("the truth of what the sources say")


# ---------------------------------------------------------------- steps


def check_steps(case: Case, concluded: Concluded, witness: Witness) -> None:
    """Check every step in order; premises must stand before what they prove."""
    atoms, rules, certificate = case.atoms, case.rules, case.certificate
    for number, step in enumerate(certificate["steps"], 1):
        name, case.where = step["id"], f"steps/{number - 1}"
        if name != f"s{number}":
            reject("STRUCTURE", f"the step is named {name!r}, expected 's{number}'")
        if "rule" not in step:
            _check_leaf(case, step, concluded)
            continue
        rule = rules.get(step["rule"])
        if rule is None:
            reject("UNKNOWN_REFERENCE", f"no rule is named {step['rule']!r}")
        case.use("rules", rule.id)
        bindings, premises = step["bindings"], step["premises"]
        if bindings.keys() != rule.variables:
            reject("RULE_INSTANCE", f"the bindings are not those of rule {rule.id}")
        for term in bindings.values():
            if not is_term(term):
                reject("RULE_INSTANCE", f"{term!r} is no ground term in canonical form")
        conclusion = rule.head_text(bindings)
        if conclusion != step["conclusion"]:
            reject("RULE_INSTANCE", f"rule {rule.id} concludes {conclusion} here")
        if len(premises) != len(rule.body):
            count = f"{len(rule.body)} premises, found {len(premises)}"
            reject("RULE_INSTANCE", f"rule {rule.id} has {count}")
        for premise, literal in zip(premises, rule.body, strict=True):
            if literal.kind != "positive":
                _check_claim(case, witness, premise, rule, literal, bindings)
            elif atoms.get(premise) != literal.text(bindings):
                _explain(case, premise, literal.text(bindings))
        atoms[name] = conclusion
    case.checked.append(f"{len(certificate['steps'])} steps follow, each from earlier ones")


def _explain(case: Case, premise: str, expected: str) -> NoReturn:
    """Reject a premise that is not what it should be."""
    found = case.atoms.get(premise) or case.claims.get(premise, ("", None))[1]
    if found is not None:
        reject("RULE_INSTANCE", f"premise {premise} is {found}, expected {expected}")
    if int(premise[1:]) > len(case.certificate["steps"]):
        reject("UNKNOWN_REFERENCE", f"no step is named {premise!r}")
    reject("NOT_WELL_FOUNDED", f"premise {premise} does not stand before this step")


def _check_leaf(case: Case, step: Json, concluded: Concluded) -> None:
    """Check a step without a rule."""
    certificate, conclusion, kind = case.certificate, step["conclusion"], step["kind"]
    if kind in ("comparison", "arithmetic", "conversion", "closed"):
        for premise in step["premises"]:
            if kind == "conversion" or case.claims.get(premise, ("",))[0] != "conversion":
                _explain(case, premise, "a conversion")
        case.claims[step["id"]] = (kind, conclusion)
        return  # what it claims is computed where a rule has it as a premise
    require(not step["premises"], "STRUCTURE", f"a step {kind!r} has no premises")
    holds = False
    match kind:
        case "stated" | "provenance":
            name = step["statement"]
            known = concluded.get(name)
            if known is None:
                reject("UNKNOWN_REFERENCE", f"no statement {name!r}")
            if kind == "stated" and conclusion not in known:
                reject("STATEMENT_MISMATCH", f"the statement says {known[0]}")
            evidence = certificate["statements"][name]["evidence"]
            holds = kind == "stated" or conclusion in (
                f'stated_in("{name}", "doc:{item["source_sha256"]}")' for item in evidence
            )
        case "request":
            day = certificate["valid_on"]
            holds = day is not None and conclusion == f'valid_on(@date("{day}"))'
        case "declared":
            holds = _is_declared(case, conclusion)
        case "assumed":
            holds = conclusion in certificate["assumptions"]
        case "identity":
            sign, row = case.ground(conclusion)
            holds = sign == "same_name/2" and same_name(*(value_of(str(term)) for term in row))
    require(holds, "LEAF_MISMATCH", f"nothing gives {conclusion}")
    case.atoms[step["id"]] = conclusion


def _is_declared(case: Case, conclusion: str) -> bool:
    """Check what policies declare; what dimensions declare beside that is trusted, and said."""
    sign, row = case.ground(conclusion)
    values = [value_of(str(term)) for term in row]
    if sign not in DECLARATIONS or any(value[0] != "text" for value in values):
        return False
    names = [str(value[1]) for value in values]
    if sign == "functional/1":
        case.trust_functional(names[0])
    else:
        case.trust_disjoint(*map(str, row))
    return True


def _check_claim(
    case: Case, witness: Witness, premise: str, rule: Rule, literal: Literal, bindings: Bindings
) -> None:
    """Check a premise that is no atom: a comparison, an absence or an aggregate."""
    text = literal.text(bindings)
    kind, claimed = case.claims.get(premise, ("", ""))
    if claimed != text:
        _explain(case, premise, text)
    expected = "closed"
    if literal.kind == "comparison":
        sides = (literal.tree["left"], literal.tree["right"])
        expected = "arithmetic" if any("operation" in side for side in sides) else "comparison"
    require(kind == expected, "RULE_INSTANCE", f"premise {premise} is of kind {kind}")
    if literal.kind != "comparison":
        witness.check_closed(rule, literal, bindings, text)
        return
    truth = truth_of(Planned(literal), bindings)
    require(truth == TRUE, "COMPARISON", f"{text} is {truth}")
    steps = case.certificate["steps"]
    given = [case.claims[name][1] for name in steps[int(premise[1:]) - 1]["premises"]]
    same = given == _conversions(literal, bindings)
    require(same, "CONVERSION", f"premise {premise} does not list the conversions it needs")


def _conversions(literal: Literal, bindings: Bindings) -> list[str]:
    """Give the conversions a comparison of two quantities in different units needs."""
    match [evaluate(literal.tree[side], bindings) for side in ("left", "right")]:
        case [("number", _, unit), ("number", magnitude, other) as right]:
            found = converted(magnitude, other, unit) if unit and other else None
            if found is not None and unit != other:
                return [f"{write_value(right)} = {write_value(('number', found, unit))}"]
    return []
