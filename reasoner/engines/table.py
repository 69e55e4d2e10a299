"""The table of engines and the one way to close a program with them."""

from __future__ import annotations

import difflib
import hashlib
import json
import logging
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ..errors import EngineDisagreement, EngineFailed, EngineTimedOut, EngineUnknown
from ..horn import HornProgram, IntArray
from . import clingo, pydatalog
from .linear import Firing, fire

Closure = Callable[..., list[int]]
"""Called with a program, the given atoms and `seconds`; gives the derived atoms, ascending."""


def _linear(
    program: HornProgram,
    given: Sequence[int] | IntArray,
    *,
    seconds: float | None,  # noqa: ARG001  # linear time; the other engines need it
) -> list[int]:
    derived: list[int] = sorted(fire(program, given=given).order.tolist())
    return derived


ENGINES: dict[str, Closure] = {
    "linear": _linear,
    "clingo": clingo.closure,
    "pydatalog": pydatalog.closure,
}
"""Engines by name; `auto` stands for clingo and linear up to CLINGO_UP_TO, then linear alone."""

CLINGO_UP_TO = 2_000
"""Program size up to which `auto` has clingo close too; about 3 ms of it."""

AUTO_SECONDS = 1.0
"""How long `auto` waits for clingo's opinion."""

_log = logging.getLogger(__name__)


def close(
    program: HornProgram,
    *,
    given: Sequence[int] | IntArray | None = None,
    engine: str = "auto",
    seconds: float | None = None,
    engines: Mapping[str, Closure] = ENGINES,
) -> Firing:
    """Give the least set that holds the given atoms and is closed under the clauses.

    `linear` always runs, since it records what fired; the engine asked for must derive the same
    atoms. Under `auto` a clingo that times out or fails is logged and done without.

    Raises EngineUnknown, EngineTimedOut, EngineFailed, and EngineDisagreement with the reproducer
    saved in the directory for temporary files.
    """
    if engine != "auto" and engine not in engines:
        near = difflib.get_close_matches(engine, ["auto", *engines], 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise EngineUnknown(f"no engine {engine!r}; expected auto, {', '.join(engines)}{hint}")
    start = program.given if given is None else given
    firing = fire(program, given=start)
    if engine == "auto" and program.size <= CLINGO_UP_TO:
        try:
            patience = AUTO_SECONDS if seconds is None else seconds
            _agree(program, start, firing, ("clingo", engines["clingo"]), patience)
        except (EngineTimedOut, EngineFailed) as error:
            _log.warning("closed by linear alone: %s", error)
    elif engine not in ("auto", "linear"):
        _agree(program, start, firing, (engine, engines[engine]), seconds)
    return firing


def _agree(
    program: HornProgram,
    given: Sequence[int] | IntArray,
    firing: Firing,
    engine: tuple[str, Closure],
    seconds: float | None,
) -> None:
    name, closure = engine
    ours = sorted(firing.order.tolist())
    theirs = closure(program, given, seconds=seconds)
    if ours == theirs:
        return
    atom = min(set(ours).symmetric_difference(theirs))
    text = reproducer(program, given)
    digest = hashlib.sha256(text.encode()).hexdigest()
    path = Path(tempfile.gettempdir()) / f"proofweave-disagreement-{digest[:16]}.json"
    path.write_text(text, encoding="utf-8")
    verb = "derives" if atom in theirs else "does not derive"
    raise EngineDisagreement(
        f"{name} {verb} atom {atom} of a program of {program.clause_count} clauses, linear "
        f"says otherwise; expected the same closure (reproducer: {path})",
        reproducer=text,
        saved=str(path),
    )


def reproducer(program: HornProgram, given: Sequence[int] | IntArray) -> str:
    """Write a program as a hypergraph in JSON, its atoms named by their numbers."""
    edges = [
        {
            "id": f"e{clause}",
            "tail": [f"a{atom}" for atom in program.tail(clause)],
            "head": f"a{head}",
        }
        for clause, head in enumerate(program.heads.tolist())
    ]
    body = {
        "format": "proofweave.hypergraph/1",
        "atoms": [f"a{atom}" for atom in range(program.atom_count)],
        "hyperedges": edges,
        "given": [f"a{atom}" for atom in given],
        "goals": [],
    }
    return json.dumps(body, indent=1) + "\n"
