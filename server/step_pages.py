"""A step of a proof with what it follows from, to a depth."""

from __future__ import annotations

from dataclasses import dataclass

from proofweave.v1 import certificate_pb2 as pb

from kb.errors import NotFound

from .errors import RequestRejected
from .proof_steps import Json, roots_of, step_message


@dataclass(frozen=True, slots=True)
class PlacedStep:
    """A step, how many levels below the one asked for, and whether its premises lie deeper."""

    step: Json
    depth: int
    cut: bool

    @property
    def order(self) -> str:
        """Key by which listed steps are sorted."""
        return f"{self.depth:09d} {int(self.step['id'][1:]):09d}"

    def message(self, certificate: Json) -> pb.ListedStep:
        """Translate it."""
        step = step_message(self.step, certificate)
        return pb.ListedStep(step=step, depth=self.depth, cut=self.cut)


def placed_steps(certificate: Json, step: str, *, depth: int) -> list[PlacedStep]:
    """Give a step, or those of all answers, and `depth` levels of premises (0: all), each once.

    A step stands at the fewest levels below what was asked for; by depth, then by number. Without
    answers the steps that nothing rests on are where it begins. Raises NotFound for a step that is
    not there, and RequestRejected for a negative depth.
    """
    if depth < 0:
        raise RequestRejected(f"depth is {depth}; expected 0 for all levels, or more")
    steps = {found["id"]: found for found in certificate["steps"]}
    if step and step not in steps:
        there = f"s1 to s{len(steps)}" if steps else "none"
        raise NotFound(f"the certificate has no step {step!r}; its steps are {there}")
    used = {premise for found in steps.values() for premise in found["premises"]}
    ends = [name for name in steps if name not in used]
    level = [step] if step else list(roots_of(certificate)) or ends
    levels: dict[str, int] = {}
    at = 0
    while level:
        levels.update(dict.fromkeys(level, at))
        if depth and at >= depth:
            break
        below = (premise for name in level for premise in steps[name]["premises"])
        level = [name for name in dict.fromkeys(below) if name not in levels]
        at += 1
    order = sorted(levels, key=lambda name: (levels[name], int(name[1:])))
    return [
        PlacedStep(
            steps[name],
            levels[name],
            cut=any(premise not in levels for premise in steps[name]["premises"]),
        )
        for name in order
    ]
