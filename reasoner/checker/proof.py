"""The proof: statements and their quotes, and every step from earlier ones."""

from __future__ import annotations

from typing import NoReturn

from .arithmetic import evaluate, folded
from .case import Case
from .format import Json, canonical, reject, require
from .language import Unreadable, write
from .rules import DECLARATIONS, NEVER_STATED, Bindings, Literal, Planned, Rule, read_atom
from .sources import FACTS_DECODER, TABLE_TYPES, digest_of
from .units import converted
from .values import (
    TRUE,
    constant,
    read_date,
    read_day,
    read_number,
    read_value,
    write_text,
    write_value,
)
from .walk import truth_of
from .witness import Witness


def holds_on(day: str | None, validity: Json) -> bool:
    """Whether a half-open interval of days holds a day."""
    start, end = validity["start"], validity["end"]
    return day is None or ((start is None or start <= day) and (end is None or day < end))


def check_statements(case: Case) -> dict[str, tuple[str, ...]]:
    """Compare statements with their identifiers, and give what each concludes."""
    certificate, concluded = case.certificate, dict[str, tuple[str, ...]]()
    for name, record in certificate["statements"].items():
        where = f"statements/{name}"
        if "atom" in record:
            concluded[name] = (record["atom"],)
            digest = digest_of(record["atom"])
        else:
            concluded[name] = _conclusions(name, record, where)
            form = {key: record[key] for key in record if key != "evidence"}
            digest = digest_of(canonical({**form, "modality": "asserted"}))
            if not holds_on(certificate["valid_on"], record["validity"]):
                reject("STATEMENT_MISMATCH", where, "it does not hold on the day of the request")
        if name != f"st:{digest[:32]}":
            reject("STATEMENT_MISMATCH", where, "the identifier is not the digest")
        sign = case.ground(concluded[name][0], where)[0]
        require(sign not in NEVER_STATED, "STATEMENT_MISMATCH", where, f"no source states {sign}")
        require(record["evidence"], "STRUCTURE", where, "a statement needs evidence")
    names = sorted(certificate["statements"])
    if digest_of("\n".join(names)) != certificate["knowledge"]:
        reject("KNOWLEDGE_MISMATCH", "knowledge", "not the digest of the statements used")
    case.checked.append(f"{len(names)} statements are what their identifiers digest")
    return concluded


def _conclusions(name: str, record: Json, where: str) -> tuple[str, str]:
    """Give the atoms that a statement about a dimension concludes: without and with its name."""
    kind, text = record["value"]["kind"], record["value"]["value"]
    for day in record["validity"].values():
        read_day(day)
    term = write_text(text)
    if kind not in ("entity", "class", "text"):
        term = write_value(constant("decimal" if kind == "number" else kind, text))
        if term != text and term[:-2].partition('("')[2] != text:
            reject("NOT_CANONICAL", where, f"{text!r} is not in its canonical form")
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
            where = f"statements/{name}/evidence/{index}"
            source, quote, start, end = (
                item[key] for key in ("source_sha256", "quote", "start", "end")
            )
            record = sources.get(source)
            if record is None:
                reject("UNKNOWN_REFERENCE", where, f"the source {source} is not listed")
            case.use("sources", source)
            same = item["text_sha256"] == record["text_sha256"]
            if not (same and 0 <= start < end and end - start == len(quote)):
                reject("QUOTE_MISMATCH", where, "the span is not that of the quote")
            if texts is not None and loaded[source][start:end] != quote:
                reject("QUOTE_MISMATCH", where, f"the source does not say {quote!r} there")
            if texts is not None and any(
                start < last and first < end for first, last in texts.originals.get(source, ())
            ):
                reject("SOURCE_MISMATCH", where, "the Markdown file does not show what is quoted")
            if "atom" in statement:
                _check_fact(case, item, record, statement["atom"], where)
                continue
            extractors.add(item["extractor"])
            if texts is not None and source in tables:
                table = texts.table(loaded[source], record["media_type"])
                _check_row(statement, table.header, table.row(start, end), where)
    _report_sources(case, extractors)


def _check_fact(case: Case, item: Json, record: Json, atom: str, where: str) -> None:
    """A facts file states whole atoms."""
    if record["decoder"] != FACTS_DECODER:
        reject("QUOTE_MISMATCH", where, "only a facts file states a whole atom")
    if item["quote"] != f"{atom}.":
        try:
            stated = write(read_atom(item["quote"])[2])
        except Unreadable as error:
            reject("QUOTE_MISMATCH", where, f"the quote is no fact: {error}")
        require(stated == atom, "QUOTE_MISMATCH", where, f"the quote states {stated}, not {atom}")
    if case.texts is not None:
        facts = case.texts.facts(item["source_sha256"], record)
        if (item["start"], item["end"]) not in facts.places:
            reject("QUOTE_MISMATCH", where, "the quote is no whole fact of its file")


def _check_row(statement: Json, header: list[str], cells: list[str] | None, where: str) -> None:
    """Compare a statement with the row of a table that it quotes, as far as cells show it.

    What a column means is up to a mapping; but the row is whole, it names the entity, and under a
    header that is the dimension itself stands the value.
    """
    if cells is None:
        reject("QUOTE_MISMATCH", where, "the quote is no whole row of its table")
    cells = [" ".join(cell.split()) for cell in cells]
    subject, value = (
        " ".join(text.split()) for text in (statement["subject"], statement["value"]["value"])
    )
    if subject not in cells and not subject.startswith("doc:"):
        reject("QUOTE_MISMATCH", where, f"no cell of the row names {subject!r}")
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
    require(agrees, "QUOTE_MISMATCH", where, f"the row has {cell!r} there, not {value!r}")


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
        case.trust(
            f"the decoding of {len(undecoded)} sources by {decoders}: their originals were not "
            "decoded here"
        )
    if extractors:
        case.trust(f"that {', '.join(sorted(extractors))} read the quotes rightly")
    if count:
        case.trust("the truth of what the sources say")


# ---------------------------------------------------------------- steps


def check_steps(case: Case, concluded: dict[str, tuple[str, ...]], witness: Witness) -> None:
    """Check every step in order; premises must stand before what they prove."""
    atoms, rules, certificate = case.atoms, case.rules, case.certificate
    for number, step in enumerate(certificate["steps"], 1):
        name, where = step["id"], f"steps/{number - 1}"
        if name != f"s{number}":
            reject("STRUCTURE", where, f"the step is named {name!r}, expected 's{number}'")
        if "rule" not in step:
            _check_leaf(case, step, concluded, where)
            continue
        rule = rules.get(step["rule"])
        if rule is None:
            reject("UNKNOWN_REFERENCE", where, f"no rule is named {step['rule']!r}")
        case.use("rules", rule.id)
        bindings, premises = step["bindings"], step["premises"]
        if bindings.keys() != rule.variables:
            reject("RULE_INSTANCE", where, f"the bindings are not those of rule {rule.id}")
        for term in bindings.values():
            if not case.is_term(term):
                reject("RULE_INSTANCE", where, f"{term!r} is no ground term in canonical form")
        conclusion = rule.head_text(bindings)
        if conclusion != step["conclusion"]:
            reject("RULE_INSTANCE", where, f"rule {rule.id} concludes {conclusion} here")
        if len(premises) != len(rule.body):
            count = f"{len(rule.body)} premises, found {len(premises)}"
            reject("RULE_INSTANCE", where, f"rule {rule.id} has {count}")
        for premise, literal in zip(premises, rule.body, strict=True):
            if literal.kind != "positive":
                _check_claim(case, witness, premise, rule, literal, bindings, where)
            elif atoms.get(premise) != literal.text(bindings):
                _explain(case, premise, literal.text(bindings), where)
        atoms[name] = conclusion
    case.checked.append(f"{len(certificate['steps'])} steps follow, each from earlier ones")


def _explain(case: Case, premise: str, expected: str, where: str) -> NoReturn:
    """Reject a premise that is not what it should be."""
    found = case.atoms.get(premise) or case.claims.get(premise, ("", None))[1]
    if found is not None:
        reject("RULE_INSTANCE", where, f"premise {premise} is {found}, expected {expected}")
    if int(premise[1:]) > len(case.certificate["steps"]):
        reject("UNKNOWN_REFERENCE", where, f"no step is named {premise!r}")
    reject("NOT_WELL_FOUNDED", where, f"premise {premise} does not stand before this step")


def _check_leaf(case: Case, step: Json, concluded: dict[str, tuple[str, ...]], where: str) -> None:
    """Check a step without a rule."""
    certificate, conclusion, kind = case.certificate, step["conclusion"], step["kind"]
    if kind in ("comparison", "arithmetic", "conversion", "closed"):
        for premise in step["premises"]:
            if kind == "conversion" or case.claims.get(premise, ("",))[0] != "conversion":
                _explain(case, premise, "a conversion", where)
        case.claims[step["id"]] = (kind, conclusion)
        if kind == "conversion":
            require(_is_conversion(conclusion), "CONVERSION", where, f"not exact: {conclusion}")
        return
    require(not step["premises"], "STRUCTURE", where, f"a step {kind!r} has no premises")
    holds = False
    match kind:
        case "stated" | "provenance":
            name = step["statement"]
            known = concluded.get(name)
            if known is None:
                reject("UNKNOWN_REFERENCE", where, f"no statement {name!r}")
            if kind == "stated" and conclusion not in known:
                reject("STATEMENT_MISMATCH", where, f"the statement says {known[0]}")
            evidence = certificate["statements"][name]["evidence"]
            holds = kind == "stated" or conclusion in (
                f'stated_in("{name}", "doc:{item["source_sha256"]}")' for item in evidence
            )
        case "request":
            day = certificate["valid_on"]
            holds = day is not None and conclusion == f'valid_on(@date("{day}"))'
        case "declared":
            holds = _is_declared(case, conclusion, where)
        case "assumed":
            holds = conclusion in certificate["assumptions"]
        case "identity":
            sign, row = case.ground(conclusion, where)
            holds = sign == "same_name/2" and len({_folded(str(term)) for term in row}) == 1
    require(holds, "LEAF_MISMATCH", where, f"nothing gives {conclusion}")
    case.atoms[step["id"]] = conclusion


def _is_declared(case: Case, conclusion: str, where: str) -> bool:
    """Check what policies declare; what dimensions declare beside that is trusted, and said."""
    sign, row = case.ground(conclusion, where)
    values = [read_value(str(term)) for term in row]
    if sign not in DECLARATIONS or any(value[0] != "text" for value in values):
        return False
    names = [str(value[1]) for value in values]
    if sign == "functional/1":
        if not any(names[0] in policy.functional for policy in case.policies):
            case.trust(f"that the dimension {names[0]} has one value at a time")
    elif not any(set(pair) == set(names) for policy in case.policies for pair in policy.disjoint):
        case.trust(f"that {row[0]} and {row[1]} are disjoint")
    return True


def _folded(term: str) -> str:
    value = read_value(term)
    name = value[1] if value[0] == "text" else term
    return folded(name)


def _is_conversion(text: str) -> bool:
    """Whether a text is an exact conversion in its one form."""
    try:
        texts = text.split(" = ")
        left, right = map(read_value, texts)
    except ValueError:
        return False
    return (
        left[0] == right[0] == "quantity"
        and converted(left[1], left[2], right[2]) == right[1]
        and [write_value(left), write_value(right)] == texts
    )


def _check_claim(
    case: Case,
    witness: Witness,
    premise: str,
    rule: Rule,
    literal: Literal,
    bindings: Bindings,
    where: str,
) -> None:
    """Check a premise that is no atom: a comparison, an absence or an aggregate."""
    text = literal.text(bindings)
    kind, claimed = case.claims.get(premise, ("", ""))
    if claimed != text:
        _explain(case, premise, text, where)
    expected = "closed"
    if literal.kind == "comparison":
        sides = (literal.tree["left"], literal.tree["right"])
        expected = "arithmetic" if any("operation" in side for side in sides) else "comparison"
    if kind != expected:
        reject("RULE_INSTANCE", where, f"premise {premise} is of kind {kind}, not {expected}")
    if literal.kind != "comparison":
        witness.check_closed(rule, literal, bindings, text, where)
        return
    truth = truth_of(Planned(literal), bindings)
    require(truth == TRUE, "COMPARISON", where, f"{text} is {truth}")
    steps = case.certificate["steps"]
    given = [case.claims[name][1] for name in steps[int(premise[1:]) - 1]["premises"]]
    if given != _conversions(literal, bindings):
        reject("CONVERSION", where, f"premise {premise} does not list the conversions it needs")


def _conversions(literal: Literal, bindings: Bindings) -> list[str]:
    """Give the conversions a comparison of two quantities in different units needs."""
    left, right = (evaluate(literal.tree[side], bindings) for side in ("left", "right"))
    if not (left and right and left[0] == right[0] == "quantity" and left[2] != right[2]):
        return []
    magnitude = converted(right[1], right[2], left[2])
    if magnitude is None:
        return []
    return [f"{write_value(right)} = {write_value(('quantity', magnitude, left[2]))}"]
