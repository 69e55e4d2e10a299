"""Lookups, read again from their sources: facts files, tables, the request, the statements."""

from __future__ import annotations

from .calls import Call
from .case import Case
from .format import reject, require
from .rules import DECLARATIONS, Arguments, agrees, write_call
from .sources import FACTS_DECODER, TABLE_ENDINGS, TABLE_TYPES, Table, is_named
from .values import write_text
from .witness import Witness

_COMPUTED = {"request": "valid_on/1", "provenance": "stated_in/2", "identity": "same_name/2"}


def check_lookup(case: Case, witness: Witness, lookup: Call) -> None:
    """Hold the answers of a lookup against what it is said to rest on."""
    rows, case.where = lookup.rows, lookup.where
    expected: set[Arguments] | None = None
    is_computed = _COMPUTED.get(lookup.basis, lookup.sign) == lookup.sign
    require(is_computed, "LOOKUP_MISMATCH", f"{lookup.sign} is not computed")
    match lookup.basis:
        case "facts":
            expected = _facts(case, lookup)
        case "request":
            day = case.certificate["valid_on"]
            expected = {(f'@date("{day}")',)} if day else set()
        case "provenance":
            expected = {
                (write_text(name), write_text(f"doc:{item['source_sha256']}"))
                for name, statement in case.certificate["statements"].items()
                for item in statement["evidence"]
            }
        case "table":
            _check_table(case, lookup)
        case "declared" if lookup.sign in DECLARATIONS:
            case.trust(f"that dimensions declare of {lookup.sign} what the lookup shows")
        case "declared":
            closed = witness.is_closed(lookup.sign)
            require(closed, "NOT_CLOSED", f"{lookup.sign} is not closed")
            _check_table_at_hand(case, lookup)
        case "absent":
            _check_absent(case, lookup)
        case "knowledge":
            case.trust("that lookups show all statements of the revision in the receipt")
    if expected is not None:
        expected = {row for row in expected if agrees(lookup.pattern, row)}
        has_rules = lookup.basis == "facts" and lookup.sign in case.by_head
        same = expected <= rows if has_rules else expected == rows
        require(same, "LOOKUP_MISMATCH", f"the {lookup.basis} give other rows")


def _facts(case: Case, lookup: Call) -> set[Arguments] | None:
    """Read the facts files of the request again; None where they are not at hand."""
    sources = case.certificate["sources"]
    files = sorted(name for name in sources if sources[name]["decoder"] == FACTS_DECODER)
    require(files, "LOOKUP_MISMATCH", "no facts file is among the sources")
    for name in files:
        case.use("sources", name)
    shown = ", ".join(sorted(sources[name]["title"] for name in files))
    case.trust(f"that the facts of the request all stand in {shown}")
    if case.texts is None:
        return None
    assumed = (case.ground(text, "assumptions") for text in case.certificate["assumptions"])
    found = {row for sign, row in assumed if sign == lookup.sign}
    for file in case.facts_files.values():
        found.update(file.rows.matching(lookup.sign, lookup.pattern))
    return found


def _check_table(case: Case, lookup: Call) -> None:
    """Read the named table again: the rows that match are those that are quoted."""
    sources = case.certificate["sources"]
    labels = {p.closed[lookup.sign] for p in case.policies if lookup.sign in p.closed}
    tables = {
        name
        for name, record in sources.items()
        if record["media_type"] in TABLE_TYPES
        and any(is_named(record["title"], label) for label in labels)
    }
    require(tables, "LOOKUP_MISMATCH", "the table is not among the sources")
    for label in labels & (case.texts.tables.keys() if case.texts else set()):
        same = case.texts is not None and case.texts.tables[label][0] in tables
        require(same, "LOOKUP_MISMATCH", f"the table {label} is another file")
    case.trust(f"that {', '.join(sorted(labels))} is all there is, as declared")
    for name in tables:
        case.use("sources", name)
        if case.texts is None:
            continue
        text = case.texts.text(name, sources[name])
        table = case.texts.table(text, sources[name]["media_type"])
        if not _is_quoted(case, lookup, table, name):
            reject("LOOKUP_MISMATCH", "the table has other rows")


def _check_absent(case: Case, lookup: Call) -> None:
    """A table that a policy declares complete is not there: nothing at hand is that table."""
    labels = {p.closed[lookup.sign] for p in case.policies if lookup.sign in p.closed}
    named = labels and all(label.endswith(TABLE_ENDINGS) for label in labels)
    require(named, "LOOKUP_MISMATCH", f"no table is declared for {lookup.sign}")
    sources = case.certificate["sources"].values()
    if any(record["decoder"] == FACTS_DECODER for record in sources):
        reject("LOOKUP_MISMATCH", "the facts of the request stand for the table")
    for label in sorted(labels):
        cited = any(
            record["media_type"] in TABLE_TYPES and is_named(record["title"], label)
            for record in sources
        )
        at_hand = case.texts is not None and label in case.texts.tables
        present = cited or at_hand
        require(not present, "LOOKUP_MISMATCH", f"{label} is there, not absent")
        case.trust(f"that {label}, declared complete for {lookup.sign}, was not there")


def _check_table_at_hand(case: Case, lookup: Call) -> None:
    """Hold a mere declaration against the table it names, if that lies in the folder.

    A table whose columns are mapped otherwise than by its header is not read again.
    """
    texts, note = case.texts, "no table was read again"
    for policy in case.policies:
        label = policy.closed.get(lookup.sign, "")
        if texts is None or label not in texts.tables:
            continue
        source, text = texts.tables[label]
        table = texts.table(text, TABLE_TYPES[label.lower().endswith(".tsv")])
        if table.spans(lookup.sign, lookup.pattern) is None or _is_mapped(case, table, source):
            note = f"the columns of {label} are mapped, and it was not read again"
            continue
        same = _is_quoted(case, lookup, table, source)
        require(same, "LOOKUP_MISMATCH", f"{label} has other rows")
        note = f"{label} was read again"
    case.trust(f"that the rows of {lookup.sign} are all there are, as declared: {note}")


def _is_quoted(case: Case, lookup: Call, table: Table, source: str) -> bool:
    """Whether the answers quote the rows of a table that match, but for what is retracted."""
    expected = table.spans(lookup.sign, lookup.pattern)
    left_out = table.retracted(lookup.sign, case.retracted)
    return expected is not None and expected - left_out <= _quoted(case, lookup, source) <= expected


def _is_mapped(case: Case, table: Table, source: str) -> bool:
    """Whether statements show that the first column of a table does not name its entities."""
    for statement in case.certificate["statements"].values():
        for item in statement["evidence"]:
            if item["source_sha256"] == source and "subject" in statement:
                cells = table.row(item["start"], item["end"]) or [""]
                if cells[0] != statement["subject"]:
                    return True
    return False


def _quoted(case: Case, lookup: Call, source: str) -> set[tuple[int, int]]:
    """Give the spans in a source that the answers of a lookup quote."""
    certificate = case.certificate
    atoms = {write_call(lookup.sign, row) for row in lookup.rows}
    return {
        (item["start"], item["end"])
        for step in certificate["steps"]
        if step["kind"] == "stated" and step["conclusion"] in atoms
        for item in certificate["statements"][step["statement"]]["evidence"]
        if item["source_sha256"] == source
    }
