"""How often a question is understood as its gold chain of relations says.

python -m bench.plans --dataset metaqa --json
python -m bench.plans --dataset 2wikimultihopqa --half second --names corpus --json

MetaQA: the plan's hops, with their directions, equal the gold chain. 2WikiMultihopQA: the relations
of the plan, counted, equal those of the gold evidence; where wording leaves the type of an entity
open the plan is a union of relations, which counts (and is counted apart) if one of them is gold.
`--half` splits the questions by a digest of their id, to develop on one half and report the other.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import re
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.report import goal, publish
from extract.names import NameIndex
from extract.question_grammar import PlanRejected, QuestionGrammar
from extract.question_lexicon import load_lexicon
from reasoner.hop import Direction, Elapsed
from reasoner.plan import Constraint, Meet, Plan

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("PROOFWEAVE_SHARED", ROOT.parent / "shared")) / "data"

METAQA = {
    "actor": "starred_actors",
    "director": "directed_by",
    "writer": "written_by",
    "year": "release_year",
    "language": "in_language",
    "genre": "has_genre",
    "tags": "has_tags",
    "tag": "has_tags",
    "imdbrating": "has_imdb_rating",
    "imdbvotes": "has_imdb_votes",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its gold: hops in order, or relations counted."""

    id: str
    group: str
    question: str
    gold: tuple[str, ...]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dataset", choices=["metaqa", "2wikimultihopqa"], default="metaqa")
    parser.add_argument("--questions", type=Path, help="questions of MetaQA or 2WikiMultihopQA")
    parser.add_argument("--qtypes", type=Path, help="gold chains of MetaQA, line by line")
    parser.add_argument("--corpus", type=Path, help="passages whose titles are the known names")
    parser.add_argument("--names", choices=["corpus", "none"], default="corpus")
    parser.add_argument("--half", choices=["first", "second", "all"], default="all")
    parser.add_argument("--answerable", action="store_true", help="only with support in the corpus")
    parser.add_argument("--out", type=Path, help="write one JSON line per question")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    if options.dataset == "metaqa":
        asked = list(_metaqa(options))
        grammar, names = _grammar("metaqa"), NameIndex(())
    else:
        asked = list(_wiki(options))
        grammar = _grammar("wiki")
        corpus = options.corpus or SHARED / "2wikimultihopqa" / "corpus.json.gz"
        titles = json.loads(_text(corpus)) if options.names == "corpus" else []
        names = NameIndex(passage["title"] for passage in titles)
    chosen = [each for each in asked if options.half in ("all", _half(each.id))]
    records = list(_measure(chosen, grammar, names))
    if options.out is not None:
        lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in records)
        options.out.write_text("".join(lines), encoding="utf-8")
    publish(_report(options.dataset, records), as_json=options.json)


def _grammar(pack: str) -> QuestionGrammar:
    packs = ROOT / "packs"
    return QuestionGrammar(load_lexicon([packs / "english", packs / pack]))


def _measure(
    asked: Sequence[Asked], grammar: QuestionGrammar, names: NameIndex
) -> Iterator[dict[str, Any]]:
    for each in asked:
        started = time.perf_counter()
        outcome = grammar.plan(each.question, names)
        elapsed = (time.perf_counter() - started) * 1000
        record: dict[str, Any] = {
            "id": each.id,
            "group": each.group,
            "question": each.question,
            "gold": list(each.gold),
            "ms": round(elapsed, 2),
        }
        if isinstance(outcome, PlanRejected):
            yield record | {"plan": None, "result": "rejected", "detail": outcome.message}
            continue
        chains = _chains(outcome)
        gold = tuple(sorted(each.gold)) if each.group in _UNORDERED else each.gold
        found = [tuple(sorted(chain)) if each.group in _UNORDERED else chain for chain in chains]
        result = "equal" if found == [gold] else "union" if gold in found else "other"
        yield record | {"plan": outcome.understood_as, "result": result}


_UNORDERED = frozenset({"comparison", "bridge_comparison", "compositional", "inference"})


def _chains(plan: Plan) -> list[tuple[str, ...]]:
    """Give the hops of a plan, one list for each combination of alternatives."""
    definitions = {each.type.name: each for each in plan.definitions}
    chains: list[tuple[str, ...]] = [()]
    for step in plan.steps:
        for condition in step.conditions if isinstance(step, Meet) else ():
            if not isinstance(condition, Constraint):
                continue
            options: list[tuple[str, ...]]
            definition = definitions.get(condition.hop.dimension)
            if definition is None:
                sign = "-" if condition.hop.direction is Direction.BACKWARD else ""
                options = [(sign + condition.hop.dimension,)]
            else:
                options = [
                    (each.start, each.end)
                    if isinstance(each, Elapsed)
                    else tuple(hop.dimension for hop in each)
                    for each in definition.alternatives
                ]
            chains = [chain + option for chain in chains for option in options]
    # a nationality as the source writes it is the country of citizenship
    return [
        tuple("country_of_citizenship" if hop == "nationality" else hop for hop in chain)
        for chain in chains
    ]


def _report(dataset: str, records: Sequence[dict[str, Any]]) -> dict[str, Any]:
    rows = []
    for group in [*sorted({record["group"] for record in records}), "all"]:
        own = [record for record in records if group in ("all", record["group"])]
        counted = Counter(record["result"] for record in own)
        right = counted["equal"] + counted["union"]
        rows.append(
            {
                "group": group,
                "questions": len(own),
                "right": round(right / max(len(own), 1), 4),
                "of_these_unions": counted["union"],
                "other": counted["other"],
                "rejected": counted["rejected"],
                "ms_p50": round(statistics.median(record["ms"] for record in own), 2),
            }
        )
    limit = 1.0 if dataset == "metaqa" else 0.95
    plain = [row for row in rows if row["group"] != "1-hop ntm" and row["group"] != "all"]
    questions = sum(row["questions"] for row in plain)
    right = sum(row["right"] * row["questions"] for row in plain) / max(questions, 1)
    goals = [goal(f"{dataset}: plans equal to gold", right, limit, at_most=False)]
    return {"bench": "plans", "rows": rows, "goals": goals}


def _metaqa(options: argparse.Namespace) -> Iterator[Asked]:
    if options.questions is not None:
        if options.qtypes is None:
            raise SystemExit("--questions of MetaQA need --qtypes, their gold chains line by line")
        yield from _metaqa_file("given", options.questions, options.qtypes)
        return
    folder = SHARED / "metaqa"
    for group, name in (
        ("1-hop", "1-hop/qa_dev.txt"),
        ("2-hop", "2-hop/qa_dev.txt.gz"),
        ("3-hop", "3-hop/qa_dev.txt.gz"),
        ("1-hop ntm", "1-hop/ntm/qa_dev.txt"),
    ):
        types = folder / name.partition("/")[0] / "qa_dev_qtype.txt"
        yield from _metaqa_file(group, folder / name, types)


def _metaqa_file(group: str, questions: Path, types: Path) -> Iterator[Asked]:
    lines = zip(_text(questions).splitlines(), _text(types).splitlines(), strict=True)
    for number, (line, kind) in enumerate(lines, start=1):
        ends = kind.split("_to_")
        gold = tuple(
            METAQA[right] if left == "movie" else "-" + METAQA[left]
            for left, right in pairwise(ends)
        )
        yield Asked(f"{group}:{number}", group, line.partition("\t")[0], gold)


def _wiki(options: argparse.Namespace) -> Iterator[Asked]:
    file = options.questions or SHARED / "2wikimultihopqa" / "dev_questions.jsonl.gz"
    for line in _text(file).splitlines():
        entry = json.loads(line)
        if options.answerable and not entry["support_in_corpus"]:
            continue
        # several values of one relation of one entity are one hop
        relations = {(triple[0], re.sub(r"\W", "_", triple[1])) for triple in entry["evidences"]}
        gold = tuple(sorted(relation for _, relation in relations))
        yield Asked(entry["_id"], entry["type"], entry["question"], gold)


def _half(identifier: str) -> str:
    number = int(hashlib.sha1(identifier.encode(), usedforsecurity=False).hexdigest(), 16)
    return "first" if number // 2 % 2 == 0 else "second"


def _text(file: Path) -> str:
    data = file.read_bytes()
    return (gzip.decompress(data) if file.suffix == ".gz" else data).decode()


if __name__ == "__main__":
    main()
