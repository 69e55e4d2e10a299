"""How many gold triples are extracted from the passages that support them, and what goes beyond.

python -m bench.extraction --json                 500 training questions, by relation
python -m bench.extraction --split eval --json    unseen questions, totals alone

A triple counts as found where a statement of its relation has its subject and its value: names up
to case and a disambiguator, a date of the same days or of some of them, a class that is or lies
under the gold one. `stated` counts the triples whose value stands in the passage of the subject in
gold's words: gold comes from a knowledge graph, and not all of it is said. Precision is over all
affirmed values of the subjects and relations that gold has: a second director that gold leaves out
counts as wrong. `--details` prints what was missed or wrong; use it on training questions.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.report import goal, publish
from bench.search_data import read_lines
from extract.ingest import ingest_document
from extract.normalize import read_date
from extract.pack import Pack
from extract.packs import load_pack
from extract.taxonomy import Taxonomy
from extract.titles import split_title
from kb.document import decode
from kb.errors import ValueUnreadable
from kb.quantity import Date
from kb.statement import Entity, Modality, Polarity, TaxonClass, Text, Value

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("PROOFWEAVE_SHARED", ROOT.parent / "shared")) / "data"
FILES = {"train": "train_with_context.jsonl.gz", "eval": "eval_with_context.jsonl"}
GOALS = {"recall": 0.88, "precision": 0.95}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one relation of one subject gave: gold values, those extracted, and the passage."""

    question: str
    subject: str
    relation: str
    gold: tuple[str, ...]
    found: tuple[str, ...]
    hits: int
    wrong: int
    stated: int
    text: str


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--split", choices=sorted(FILES), default="train")
    parser.add_argument("--questions", type=Path, help="questions with contexts and evidences")
    parser.add_argument("--details", action="store_true", help="print what was missed or wrong")
    parser.add_argument("--out", type=Path, help="write one JSON line per subject and relation")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    file = options.questions or SHARED / "2wikimultihopqa" / FILES[options.split]
    pack = load_pack(ROOT / "packs" / "wiki")
    outcomes = list(measure(read_lines(file), pack))
    if options.out is not None:
        lines = (json.dumps(_record(each), ensure_ascii=False) + "\n" for each in outcomes)
        options.out.write_text("".join(lines), encoding="utf-8")
    if options.details:
        for each in outcomes:
            if each.hits < len(each.gold) or each.wrong:
                print(json.dumps(_record(each), ensure_ascii=False))
    relations = sorted({each.relation for each in outcomes}) if options.split == "train" else []
    rows = [_row(name, [o for o in outcomes if o.relation == name]) for name in relations]
    total = _row("all", outcomes)
    rows.append(total)
    goals = [
        goal(f"{options.split}: {name}", total[name], limit, at_most=False)
        for name, limit in GOALS.items()
    ]
    publish({"bench": "extraction", "rows": rows, "goals": goals}, as_json=options.json)


def measure(rows: Iterable[Any], pack: Pack) -> Iterator[Outcome]:
    """Read the supporting passages of each question; give one outcome per subject and relation."""
    for row in rows:
        titles = {title for title, _ in row["supporting_facts"]}
        pages = {
            title: " ".join(sentences) for title, sentences in row["context"] if title in titles
        }
        values = _statements(pages, pack)
        gold: dict[tuple[str, str], list[str]] = {}
        for subject, relation, value in row["evidences"]:
            name = re.sub(r"\W", "_", relation)
            gold.setdefault((subject, name), []).append(value)
        page_of = _pages_of(list(dict.fromkeys(subject for subject, _ in gold)), pages)
        for (subject, relation), wanted in gold.items():
            page = page_of.get(subject)
            text = f" {_fold(pages.get(page or '', ''))} "
            found = values.get((page, relation), []) if page is not None else []
            hits = [value for value in wanted if any(_is_same(value, f, pack) for f in found)]
            wrong = [f for f in found if not any(_is_same(value, f, pack) for value in wanted)]
            yield Outcome(
                row["_id"],
                subject,
                relation,
                tuple(wanted),
                tuple(_shown(f) for f in found),
                len(hits),
                len(wrong),
                sum(f" {_fold(value)} " in text or _dated(value) for value in wanted),
                pages.get(page or "", ""),
            )


def _statements(pages: dict[str, str], pack: Pack) -> dict[tuple[str, str], list[Value]]:
    data = json.dumps([{"title": title, "text": text} for title, text in pages.items()]).encode()
    found: dict[tuple[str, str], list[Value]] = {}
    for statement, _ in ingest_document([], [pack], decode(data, name="pages.json")).grounded:
        if (statement.polarity, statement.modality) == (Polarity.AFFIRMED, Modality.ASSERTED):
            values = found.setdefault((statement.subject, statement.dimension), [])
            if statement.value not in values:
                values.append(statement.value)
    return found


def _pages_of(subjects: Sequence[str], pages: dict[str, str]) -> dict[str, str]:
    """Give the title of the passage about each subject, which gold names as the graph does.

    A subject has the passage of its name, else the only one that no other subject has.
    """
    found: dict[str, str] = {}
    for subject in subjects:
        wanted = _fold(split_title(subject)[0])
        for title in pages:
            if wanted in (_fold(title), _fold(split_title(title)[0])):
                found.setdefault(subject, title)
    left = [title for title in pages if title not in found.values()]
    without = [subject for subject in subjects if subject not in found]
    if len(left) == len(without) == 1:
        found[without[0]] = left[0]
    return found


def _dated(value: str) -> bool:
    """Whether gold is a date, which passages write in many ways."""
    try:
        read_date(value)
    except ValueUnreadable:
        return False
    return True


def _is_same(gold: str, found: Value, pack: Pack) -> bool:
    match found:
        case Date():
            try:
                wanted = read_date(gold)
            except ValueUnreadable:
                return False
            return wanted.first <= found.first and found.last <= wanted.last
        case TaxonClass(name):
            return any(
                dimension.taxonomy is not None
                and dimension.taxonomy.read(gold) in _classes_above(name, dimension.taxonomy)
                for dimension in pack.dimensions
            )
        case Entity(name) | Text(name):
            return _fold(split_title(gold)[0]) == _fold(split_title(name)[0])
        case _:
            return _fold(gold) == _fold(str(found))


def _classes_above(name: str, taxonomy: Taxonomy) -> set[str]:
    """Give a class and those above it but the root."""
    parents: dict[str, list[str]] = {}
    for edge in taxonomy.edges:
        parents.setdefault(edge.child, []).append(edge.parent)
    above, waiting = set(), [name]
    while waiting:
        here = waiting.pop()
        if here not in above and here != taxonomy.root:
            above.add(here)
            waiting += parents.get(here, ())
    return above


def _fold(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name)
    letters = "".join(each for each in plain if not unicodedata.combining(each))
    return " ".join(re.findall(r"\w+", letters.casefold()))


def _shown(value: Value) -> str:
    match value:
        case Entity(name) | Text(name) | TaxonClass(name):
            return name
        case _:
            return str(value)


def _record(outcome: Outcome) -> dict[str, Any]:
    return {name: getattr(outcome, name) for name in Outcome.__slots__}


def _row(relation: str, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    count = Counter[str]()
    for each in outcomes:
        count["gold"] += len(each.gold)
        count["hits"] += each.hits
        count["wrong"] += each.wrong
        count["stated"] += each.stated
    return {
        "relation": relation,
        "triples": count["gold"],
        "stated": count["stated"],
        "found": count["hits"],
        "recall": round(count["hits"] / max(count["gold"], 1), 4),
        "precision": round(count["hits"] / max(count["hits"] + count["wrong"], 1), 4),
    }


if __name__ == "__main__":
    main()
