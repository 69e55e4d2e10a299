"""Documents to grounded statements: a pure function of document, packs and extractor version."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from kb.dimension import Dimension
from kb.document import Document
from kb.quantity import Date
from kb.statement import ALWAYS, Entity, Polarity, Statement, Text

from .amounts import find_notation
from .anchor import bare_title
from .candidate import KNOWN_AS, LONGEST_QUOTE, SAME_AS, Candidate, Rejection, document_subject
from .extractor import Extraction, Extractor, Progress, extract
from .labels import read_labels
from .layout import Cell, Paragraph, Quoted, Section, Table, read_layout
from .letterhead import read_head
from .mentions import NameIndex
from .normalize import Mended, fold, mend
from .pack import Pack, ValidityScope
from .patterns import DOCUMENT, Finding
from .pipeline import DEFAULT_MODEL, Reader, Reading, Unit, reader_for
from .sections import About, is_label, read_sections
from .tables import read_table
from .titles import calls_by_bare_name

_LONGEST_UNIT = 20_000
"""Code points read at once."""


class PatternExtractor:
    """Reads a document with the patterns, labels and tables of some packs.

    `kb_dimensions` are the dimensions of the knowledge base beside those of the packs; the columns
    of tables may name them.
    """

    def __init__(
        self,
        packs: Sequence[Pack],
        *,
        kb_dimensions: Sequence[Dimension] = (),
        model: str = DEFAULT_MODEL,
    ) -> None:
        self._packs = tuple(packs)
        self._kb_dimensions = tuple(kb_dimensions)
        self._model = model

    def propose(self, document: Document) -> Iterator[Progress]:
        """Give candidates section by section, so that a caller can show progress or stop.

        Raises ModelUnavailable.
        """
        reader = reader_for(self._packs, self._model)
        sections = read_layout(document, is_label=lambda label: is_label(label, reader))
        context = _Context(document, sections, reader, self._kb_dimensions)
        total = len(sections)
        yield Progress(0, total, *context.read_lines())
        waiting: list[int] = []

        def units() -> Iterator[Unit]:
            for number in range(total):
                for unit in context.units(number):
                    waiting.append(number)
                    yield unit

        for place, reading in enumerate(reader.read(units())):
            number = waiting[place]
            candidates = context.candidates_of(reading, number)
            yield Progress(number, total, candidates, context.refused_of(reading))
        yield Progress(total, total, ())


def ingest_document(
    kb_dimensions: Sequence[Dimension],
    packs: Sequence[Pack],
    document: Document,
    *,
    model: str = DEFAULT_MODEL,
    others: Sequence[Extractor] = (),
) -> Extraction:
    """Extract the statements of a document: a pure function of its arguments and the versions.

    `others` are extractors beside the patterns, such as a language model. Raises ModelUnavailable.
    """
    patterns = PatternExtractor(packs, kb_dimensions=kb_dimensions, model=model)
    functional = {
        dimension.name for pack in packs for dimension in pack.dimensions if dimension.functional
    }
    return _without_coarser_dates(extract(document, [patterns, *others]), functional)


def _without_coarser_dates(extraction: Extraction, functional: Collection[str]) -> Extraction:
    """Leave out `1950` where the same document says `4 May 1950` of a dimension with one value."""
    dates: dict[tuple[object, ...], list[Date]] = {}
    for statement, _ in extraction.grounded:
        if statement.dimension in functional and isinstance(statement.value, Date):
            dates.setdefault(_coordinate(statement), []).append(statement.value)
    kept, refused = [], list(extraction.rejected)
    for statement, evidence in extraction.grounded:
        value = statement.value
        if isinstance(value, Date) and any(
            other != value and value.first <= other.first and other.last <= value.last
            for other in dates.get(_coordinate(statement), ())
        ):
            reason = f"the document states {statement.dimension} more precisely elsewhere"
            refused.append(Rejection(reason, evidence.quote))
        else:
            kept.append((statement, evidence))
    return Extraction(tuple(kept), tuple(dict.fromkeys(refused)))


def _coordinate(statement: Statement) -> tuple[object, ...]:
    return (
        statement.subject,
        statement.dimension,
        statement.polarity,
        statement.modality,
        statement.validity,
    )


class _Context:
    """What is known of a document while it is read; sections go by their number."""

    def __init__(
        self,
        document: Document,
        sections: Sequence[Section],
        reader: Reader,
        kb_dimensions: Sequence[Dimension],
    ) -> None:
        self.document = document
        self.sections = sections
        self.reader = reader
        self.kb_dimensions = kb_dimensions
        none = len(sections)
        self.about = About((None,) * none, (ALWAYS,) * none)
        self.titles: NameIndex = {}
        self.names: NameIndex = {}

    def read_lines(self) -> tuple[tuple[Candidate, ...], tuple[Rejection, ...]]:
        """Read labels, headings and tables; note subjects, validity and names."""
        candidates: list[Candidate] = []
        rejected: list[Rejection] = []
        document, sections, reader = self.document, self.sections, self.reader
        if sections and sections[0].titled:
            headings = (section.heading for section in sections)
            self.titles = reader.index_titles(
                heading.text for heading in headings if heading is not None
            )
        elif sections:
            self.about = read_sections(document, sections, reader)
            lines = read_labels(document, sections, self.about, reader)
            candidates.extend(lines.candidates)
            rejected.extend(lines.rejected)
            own = document_subject(document)
            stated = {line.dimension for line in candidates if line.subject == own}
            candidates.extend(read_head(document, sections, reader, stated=stated))
            for line in candidates:
                if isinstance(line.value, Entity):
                    self.about.known.setdefault(line.value.name, line.value.name)
            self.names = reader.index_names(self.about.known)
        for section in sections:
            for block in section.blocks:
                if isinstance(block, Quoted):
                    reason = "the lines are quoted; what they say is no statement of this document"
                    rejected.append(Rejection(reason, document.text[block.start : block.end]))
                if isinstance(block, Table):
                    rows = read_table(block, document, reader, self.kb_dimensions)
                    candidates.extend(rows.candidates)
                    rejected.extend(rows.rejected)
        return tuple(candidates), tuple(rejected)

    def units(self, number: int) -> Iterator[Unit]:
        """Give the running text of a section in units, paragraphs apart by a line end."""
        section = self.sections[number]
        pieces: list[str] = []
        offsets: list[int] = []
        for block in section.blocks:
            if not isinstance(block, Paragraph):
                continue
            for start, end in _parts(self.document.text, block):
                mended = mend(self.document.text[start:end], start=start)
                text = mended.text.strip()
                if not text:
                    continue
                if pieces and len(offsets) + len(text) > _LONGEST_UNIT:
                    yield self._unit(number, "".join(pieces), offsets)
                    pieces, offsets = [], []
                if pieces:
                    pieces.append("\n")
                    offsets.append(offsets[-1])
                skipped = len(mended.text) - len(mended.text.lstrip())
                pieces.append(text)
                offsets.extend(mended.offsets[skipped : skipped + len(text)])
        if pieces:
            yield self._unit(number, "".join(pieces), offsets)

    def _unit(self, number: int, text: str, offsets: Sequence[int]) -> Unit:
        section = self.sections[number]
        anchor = section.heading.text if section.titled and section.heading else None
        subject = self.about.subjects[number]
        if anchor is None and subject is not None and text.startswith(bare_title(subject.name)):
            anchor = subject.name
        return Unit(
            Mended(text, tuple(offsets)),
            anchor,
            section.titled,
            self.about.known,
            self.names,
            self.titles,
            None if section.titled else find_notation(self.document.text),
        )

    def candidates_of(self, reading: Reading, number: int) -> tuple[Candidate, ...]:
        """Turn findings into candidates: spans back into the document, validity of the section."""
        document, extractor = self.document, self.reader.extractor
        section, text = self.sections[number], reading.unit.text
        candidates = []
        for finding in reading.findings:
            start, end = text.source_span(finding.start, finding.end)
            start, end = _trimmed(document.text, start, end)
            start = self._reaching_name(finding, start, end)
            validity = finding.validity
            scoped = finding.relation.validity is ValidityScope.SECTION
            if validity == ALWAYS and scoped and finding.polarity is Polarity.AFFIRMED:
                validity = self.about.validities[number]
            candidates.append(
                Candidate(
                    subject=finding.subject
                    if finding.subject != DOCUMENT
                    else document_subject(document),
                    dimension=finding.dimension,
                    value=finding.value,
                    written=finding.written,
                    quote=document.text[start:end],
                    start=start,
                    end=end,
                    extractor=extractor,
                    polarity=finding.polarity,
                    modality=finding.modality,
                    validity=validity,
                )
            )
        for entity, name, first, last in reading.aliases:
            if entity == name:
                continue
            start, end = text.source_span(first, last)
            candidates.append(
                _named(document, entity, SAME_AS, Entity(name), name, (start, end), extractor)
            )
        anchor = reading.unit.anchor
        if anchor is not None and reading.lead is not None:
            name, first, last = reading.lead
            if name not in (anchor, bare_title(anchor)) and _resembles(name, anchor):
                span = text.source_span(first, last)
                candidates.append(
                    _named(document, anchor, KNOWN_AS, Text(name), name, span, extractor)
                )
            if section.titled and section.heading is not None:
                opening = text.text[first : max(last, reading.opening)]
                if calls_by_bare_name(anchor, name, opening, text.text[last:]):
                    called = bare_title(anchor)
                    span = self._opening(section.heading, text, (first, last), reading.opening)
                    candidates.append(
                        _named(document, anchor, KNOWN_AS, Text(called), called, span, extractor)
                    )
        return tuple(candidates)

    def refused_of(self, reading: Reading) -> tuple[Rejection, ...]:
        """Give what stands in the sentences whose values cannot be read, and why."""
        document, text = self.document, reading.unit.text
        refused = []
        for each in reading.refused:
            start, end = _trimmed(document.text, *text.source_span(each.start, each.end))
            refused.append(Rejection(each.reason, document.text[start:end]))
        return tuple(refused)

    def _opening(
        self, heading: Cell, text: Mended, lead: tuple[int, int], end: int
    ) -> tuple[int, int]:
        """Give the span of a title with the first sentence below it, or with its first name."""
        start = heading.start
        _, stop = text.source_span(lead[0], max(lead[1], end))
        if stop - start > LONGEST_QUOTE:
            _, stop = text.source_span(*lead)
        return _trimmed(self.document.text, start, stop)

    def _reaching_name(self, finding: Finding, start: int, end: int) -> int:
        """Begin the quote where the document says what a short name in it stands for."""
        named = self.about.named_at.get(finding.mention)
        if named is None or not named < start or end - named > LONGEST_QUOTE:
            return start
        return start if finding.subject in self.document.text[start:end] else named


def _resembles(name: str, anchor: str) -> bool:
    """Whether a name shares a word with a title, so that it may be the same name in full."""
    words = {word for word in fold(anchor).split() if len(word) > 2}
    return bool(words & set(fold(name).split()))


def _parts(text: str, block: Paragraph) -> Iterator[tuple[int, int]]:
    """Cut a paragraph that is longer than a unit, at ends of sentences or else of words."""
    start = block.start
    while block.end - start > _LONGEST_UNIT:
        stop = start + _LONGEST_UNIT
        cut = max(text.rfind(". ", start, stop) + 1, text.rfind(".\n", start, stop) + 1)
        cut = cut if cut > start else max(text.rfind(" ", start, stop), start + 1)
        yield start, cut
        start = cut
    yield start, block.end


def _named(
    document: Document,
    subject: str,
    dimension: str,
    value: Entity | Text,
    written: str,
    span: tuple[int, int],
    extractor: str,
) -> Candidate:
    start, end = span
    return Candidate(
        subject, dimension, value, written, document.text[start:end], start, end, extractor
    )


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Leave out blanks at both ends of a half-open span."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
