"""An extractor that asks a language model; off by default, and it only proposes.

The document is read in overlapping windows. The model names subject, dimension, value and a
verbatim quote; a quote that does not stand in the window, or an unreadable value, is rejected with
a reason.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kb.document import Document
from kb.errors import ValueUnreadable
from kb.statement import Modality, Polarity

from .amounts import find_notation
from .candidate import Candidate, Rejection, document_subject
from .errors import ReplyRejected
from .extractor import Progress
from .grounding import locate
from .model_client import ModelClient, ModelRequest
from .pack import Pack, PackDimension
from .pack_file import nearest
from .values import read_value

VERSION = "llm/1"
_FIELDS = ("subject", "dimension", "value", "quote", "polarity", "modality")
_THIS_DOCUMENT = "this document"
_INSTRUCTIONS = """\
You read a part of a document and list what it states, as JSON that follows the schema.
For each statement give:
- subject: the name of the entity as the text writes it, or "this document" for what the document \
says of itself;
- dimension: one of the names below;
- value: the value as the text writes it;
- quote: the shortest passage that states it, copied character by character, with the value in it;
- polarity: "denied" if the text denies it, else "affirmed";
- modality: "hedged" if it is doubtful, "attributed" if only somebody else is said to say so, \
"planned" if it lies in the future, else "asserted".
List nothing that the text does not state. Dimensions:
"""


@dataclass(frozen=True, slots=True)
class Windows:
    """Size and overlap of windows in code points."""

    size: int = 3000
    overlap: int = 300

    def __post_init__(self) -> None:
        if not 0 <= self.overlap < self.size:
            raise ValueError(f"an overlap of {self.overlap} needs a window larger than it")

    def over(self, length: int) -> tuple[tuple[int, int], ...]:
        """Give the half-open spans of the windows over a text, in order."""
        step = self.size - self.overlap
        last = max(0, length - self.overlap - 1)
        return tuple((start, min(length, start + self.size)) for start in range(0, last + 1, step))


class LanguageModelExtractor:
    """Proposes what a language model finds, for the dimensions of some packs."""

    def __init__(
        self,
        client: ModelClient,
        *,
        model: str,
        packs: Sequence[Pack],
        windows: Windows | None = None,
    ) -> None:
        self._client = client
        self._model = model
        self._windows = windows or Windows()
        self._dimensions = {
            dimension.name: dimension for pack in packs for dimension in pack.dimensions
        }
        self._instructions = _INSTRUCTIONS + "\n".join(
            _described(self._dimensions[name]) for name in sorted(self._dimensions)
        )
        self._schema = json.dumps(_schema(sorted(self._dimensions)), sort_keys=True)
        prompt = hashlib.sha256((self._instructions + self._schema).encode()).hexdigest()
        self._name = f"{VERSION} {model} prompt@{prompt[:12]}"

    def propose(self, document: Document) -> Iterator[Progress]:
        """Give candidates window by window.

        Raises ModelUnavailable and ReplyRejected.
        """
        spans = self._windows.over(len(document.text))
        for done, (start, end) in enumerate(spans, start=1):
            request = ModelRequest(
                self._model, self._instructions, document.text[start:end], self._schema
            )
            reply = self._client.reply(request)
            extractor = f"{self._name} reply@{hashlib.sha256(reply).hexdigest()[:12]}"
            candidates: list[Candidate] = []
            rejected: list[Rejection] = []
            for entry in _read_reply(reply, request):
                outcome = self._candidate(entry, document, (start, end), extractor)
                if isinstance(outcome, Candidate):
                    candidates.append(outcome)
                else:
                    rejected.append(outcome)
            yield Progress(done, len(spans), tuple(candidates), tuple(rejected))

    def _candidate(
        self, entry: dict[str, str], document: Document, span: tuple[int, int], extractor: str
    ) -> Candidate | Rejection:
        dimension = self._dimensions.get(entry["dimension"])
        if dimension is None:
            near = nearest(entry["dimension"], self._dimensions)
            reason = f"{entry['dimension']!r} is no dimension" + (
                f"; nearest is {near!r}" if near else ""
            )
            return Rejection(reason, entry["quote"])
        found = locate(entry["quote"], document, start=span[0], end=span[1])
        if isinstance(found, Rejection):
            return found
        try:
            value = read_value(dimension, entry["value"], notation=find_notation(document.text))
        except ValueUnreadable as error:
            return Rejection(str(error), entry["quote"])
        subject = entry["subject"].strip()
        if subject.casefold() == _THIS_DOCUMENT:
            subject = document_subject(document)
        elif subject not in document.text:
            return Rejection(
                f"the subject {subject!r} does not stand in the document", entry["quote"]
            )
        return Candidate(
            subject=subject,
            dimension=dimension.name,
            value=value,
            written=entry["value"],
            quote=entry["quote"],
            start=found[0],
            end=found[1],
            extractor=extractor,
            polarity=Polarity(entry["polarity"]),
            modality=Modality(entry["modality"]),
        )


def _described(dimension: PackDimension) -> str:
    kind = dimension.kind.value
    unit = f", e.g. in {dimension.unit}" if dimension.unit else ""
    return f"- {dimension.name}: {dimension.label} ({kind}{unit})"


def _schema(dimensions: Sequence[str]) -> dict[str, object]:
    """Give the JSON schema of a reply."""
    fields: dict[str, object] = {name: {"type": "string"} for name in _FIELDS}
    fields["dimension"] = {"type": "string", "enum": list(dimensions)}
    fields["polarity"] = {"type": "string", "enum": [polarity.value for polarity in Polarity]}
    fields["modality"] = {"type": "string", "enum": [modality.value for modality in Modality]}
    entry = {
        "type": "object",
        "properties": fields,
        "required": list(_FIELDS),
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"statements": {"type": "array", "items": entry}},
        "required": ["statements"],
        "additionalProperties": False,
    }


def _read_reply(reply: bytes, request: ModelRequest) -> list[dict[str, str]]:
    """Read the entries of a reply.

    Raises ReplyRejected for anything that breaks the schema, dimensions apart.
    """
    where = f"the reply to the request {request.digest[:12]}"
    try:
        form = json.loads(reply)
    except ValueError as error:
        raise ReplyRejected(f"{where} is no JSON: {error}") from error
    entries = form.get("statements") if isinstance(form, dict) else None
    if not isinstance(entries, list):
        raise ReplyRejected(f"{where} has no list 'statements'")
    read: list[dict[str, str]] = []
    for entry in entries:
        if (
            not isinstance(entry, dict)
            or set(entry) != set(_FIELDS)
            or not all(isinstance(value, str) for value in entry.values())
            or entry["polarity"] not in {polarity.value for polarity in Polarity}
            or entry["modality"] not in {modality.value for modality in Modality}
        ):
            raise ReplyRejected(f"{where} has an entry that breaks the schema: {entry!r}")
        read.append(entry)
    return read
