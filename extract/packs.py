"""Reads packs from folders; every problem of a pack is reported together, with file and line."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from kb.dimension import DimensionKind
from kb.errors import ProofweaveError
from kb.statement import Modality, Polarity
from reasoner.atom import is_predicate_name

from .errors import Finding, PackRejected
from .pack import (
    Example,
    Expected,
    Pack,
    PackDimension,
    Pattern,
    PatternKind,
    Relation,
    SubjectSource,
    ValidityScope,
)
from .pack_file import Fields, Findings, PackNode, nearest, read_pack_file
from .phrase import PhraseRejected, compile_pattern
from .taxonomy import Taxonomy, read_taxonomy

PACK_FILE = "pack.yaml"
_PACK_KEYS = {
    "pack", "version", "title", "dimensions", "subject_labels", "headers", "name_suffixes", "names",
    "kinds",
}  # fmt: skip
_DIMENSION_KEYS = {
    "name", "kind", "label", "functional", "inverse", "unit", "taxonomy", "subject", "value",
    "ambiguities", "roles", "identifying",
}  # fmt: skip
_RELATION_KEYS = {
    "relation", "about", "labels", "phrases", "texts", "paths", "examples", "validity", "lists",
    "heading", "letterhead", "as_written",
}  # fmt: skip
_PATTERN_KEYS = {"pattern", "subject", "unless", "not_before", "lead", "opening"}
_PATTERN_LISTS = {
    "texts": PatternKind.TEXT,
    "phrases": PatternKind.PHRASE,
    "paths": PatternKind.PATH,
}
_EXPECTED_KEYS = {"subject", "value", "polarity", "modality", "from", "until"}


def shipped_packs() -> tuple[Pack, ...]:
    """Load the packs that come with the distribution, sorted by name.

    Raises PackRejected.
    """
    return tuple(
        load_pack(folder) for folder in sorted(_shipped_folder().iterdir()) if _is_pack(folder)
    )


def _shipped_folder() -> Path:
    installed = Path(str(files("extract"))) / "shipped_packs"
    return installed if installed.is_dir() else Path(str(files("extract"))).parent / "packs"


def _is_pack(folder: Path) -> bool:
    return (folder / PACK_FILE).is_file()


def load_pack(folder: Path) -> Pack:
    """Load the pack in a folder.

    Raises PackRejected with all findings of all its files.
    """
    findings = Findings(folder.parent)
    if not _is_pack(folder):
        raise PackRejected([Finding(folder.as_posix(), 1, f"the folder holds no {PACK_FILE}")])
    root = read_pack_file(folder / PACK_FILE, findings)
    taxonomies = _read_taxonomies(folder, findings)
    if root is None:
        raise PackRejected(findings.found)
    fields = root.fields(_PACK_KEYS, required={"pack", "version", "dimensions"})
    name = fields.text("pack")
    if "pack" in fields and name != folder.name:
        root.complain(f"the pack calls itself {name!r}; expected the folder's name {folder.name!r}")
    dimensions = _read_dimensions(fields, taxonomies)
    known = {dimension.name: dimension for dimension in dimensions}
    relations = _read_relations(folder, known, findings)
    pack = Pack(
        name=name,
        version=fields.text("version"),
        title=fields.text("title", name),
        digest=_digest(folder),
        dimensions=dimensions,
        taxonomies=tuple(taxonomies[key] for key in sorted(taxonomies)),
        relations=relations,
        subject_labels=fields.texts("subject_labels"),
        headers=_read_headers(fields.get("headers"), known),
        name_suffixes=fields.texts("name_suffixes"),
        names=_read_names(fields),
        kinds=_read_kinds(fields.get("kinds")),
    )
    if findings.found:
        raise PackRejected(findings.found)
    return pack


def _digest(folder: Path) -> str:
    digest = hashlib.sha256()
    for file in sorted(folder.rglob("*.yaml")):
        digest.update(file.relative_to(folder).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _read_taxonomies(folder: Path, findings: Findings) -> dict[str, Taxonomy]:
    taxonomies: dict[str, Taxonomy] = {}
    for file in sorted((folder / "taxonomies").glob("*.yaml")):
        node = read_pack_file(file, findings)
        if node is None:
            continue
        taxonomy = read_taxonomy(
            node, file.read_text(encoding="utf-8"), f"{folder.name}/taxonomies/{file.name}"
        )
        if taxonomy.name in taxonomies:
            node.complain(f"the taxonomy {taxonomy.name!r} is given in two files")
        taxonomies[taxonomy.name] = taxonomy
    return taxonomies


def _read_dimensions(
    fields: Fields, taxonomies: Mapping[str, Taxonomy]
) -> tuple[PackDimension, ...]:
    dimensions: dict[str, PackDimension] = {}
    inverses: list[tuple[PackNode, str]] = []
    for node in fields.items("dimensions"):
        entry = node.fields(_DIMENSION_KEYS, required={"name", "kind"})
        name = entry.text("name")
        if not is_predicate_name(name):
            node.complain(
                f"{name!r} is no name of a dimension; "
                "expected a lower-case letter, then letters, digits and _"
            )
        if name in dimensions:
            node.complain(f"the dimension {name!r} is given twice")
        kind_text = entry.choice("kind", {kind.value for kind in DimensionKind}, "")
        kind = next((kind for kind in DimensionKind if kind.value == kind_text), DimensionKind.TEXT)
        inverse = entry.get("inverse")
        if inverse is not None:
            inverses.append((inverse, name))
        dimension = PackDimension(
            name=name,
            kind=kind,
            label=entry.text("label", name.replace("_", " ")),
            functional=entry.flag("functional", default=False),
            unit=entry.text("unit") or None,
            inverse=entry.text("inverse") or None,
            taxonomy=_taxonomy_of(node, entry, kind, taxonomies),
            subject_types=entry.texts("subject"),
            value_types=entry.texts("value"),
            roles=entry.texts("roles"),
            identifying=entry.flag("identifying", default=False),
            ambiguities=tuple(
                sorted(
                    (min(pair.texts()), max(pair.texts())) for pair in entry.items("ambiguities")
                )
            ),
        )
        dimensions[name] = dimension
        if kind is DimensionKind.TAXONOMIC and dimension.taxonomy is None:
            continue  # reported already
        try:
            dimension.to_dimension()
        except ProofweaveError as error:
            node.complain(str(error))
    for inverse, name in inverses:
        if inverse.text() not in dimensions:
            near = nearest(inverse.text(), dimensions)
            inverse.complain(
                f"the inverse {inverse.text()!r} of {name!r} is no dimension of the pack"
                + (f"; nearest is {near!r}" if near else "")
            )
    return tuple(dimensions.values())


def _taxonomy_of(
    node: PackNode, entry: Fields, kind: DimensionKind, taxonomies: Mapping[str, Taxonomy]
) -> Taxonomy | None:
    name = entry.get("taxonomy")
    if kind is not DimensionKind.TAXONOMIC:
        if name is not None:
            name.complain(f"a dimension of kind {kind.value} has no taxonomy")
        return None
    if name is None:
        node.complain("a taxonomic dimension needs the key 'taxonomy'")
        return None
    if name.text() not in taxonomies:
        near = nearest(name.text(), taxonomies)
        name.complain(
            f"no file under taxonomies/ defines the taxonomy {name.text()!r}"
            + (f"; nearest is {near!r}" if near else "")
        )
    return taxonomies.get(name.text())


def _read_headers(node: PackNode | None, known: Mapping[str, PackDimension]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for key, value in node.pairs() if node is not None else ():
        if value.text() not in known:
            value.complain(f"the header {key.text()!r} {_no_dimension(value.text(), known)}")
        headers[key.text()] = value.text()
    return headers


def _read_names(fields: Fields) -> tuple[str, ...]:
    for node in fields.items("names"):
        try:
            empty = re.compile(node.text()).fullmatch("") is not None
        except re.error as error:
            node.complain(f"{node.text()!r} is no regular expression: {error}")
        else:
            if empty:
                node.complain(f"{node.text()!r} matches nothing at all; expected names")
    return fields.texts("names")


def _read_kinds(node: PackNode | None) -> dict[str, tuple[str, ...]]:
    return {key.text(): value.texts() for key, value in node.pairs()} if node is not None else {}


def _no_dimension(name: str, known: Mapping[str, PackDimension]) -> str:
    near = nearest(name, known)
    return f"names {name!r}, which is no dimension of the pack" + (
        f"; nearest is {near!r}" if near else ""
    )


def _read_relations(
    folder: Path, known: Mapping[str, PackDimension], findings: Findings
) -> tuple[Relation, ...]:
    relations: list[Relation] = []
    for file in sorted((folder / "relations").glob("*.yaml")):
        node = read_pack_file(file, findings)
        if node is None:
            continue
        for entry in node.items() if node.is_list() else (node,):
            relations.append(_read_relation(entry, known))
    return tuple(relations)


def _read_relation(node: PackNode, known: Mapping[str, PackDimension]) -> Relation:
    fields = node.fields(_RELATION_KEYS, required={"relation", "examples"})
    dimension = fields.text("relation")
    file = _file_name(node)
    if "relation" in fields and dimension not in known:
        node.complain(f"the relation {_no_dimension(dimension, known)}")
    about_document = fields.choice("about", {"entity", "document"}, "entity") == "document"
    patterns = tuple(
        pattern
        for key, kind in _PATTERN_LISTS.items()
        for item in fields.items(key)
        for pattern in _read_pattern(item, kind, about_document=about_document)
    )
    if not patterns and not ({"labels", "heading", "letterhead"} & set(fields.entries)):
        node.complain(f"the relation {dimension!r} has no labels, phrases, texts or paths")
    scopes = {scope.value: scope for scope in ValidityScope}
    return Relation(
        dimension=dimension,
        about_document=about_document,
        labels=fields.texts("labels"),
        patterns=patterns,
        examples=tuple(_read_example(item) for item in fields.items("examples")),
        validity=scopes.get(fields.choice("validity", scopes, "sentence"), ValidityScope.SENTENCE),
        lists=fields.flag("lists", default=True),
        as_written=_read_as_written(fields.get("as_written"), known),
        heading=fields.flag("heading", default=False),
        letterhead=fields.flag("letterhead", default=False),
        file=file,
        line=node.line,
    )


def _read_as_written(node: PackNode | None, known: Mapping[str, PackDimension]) -> str | None:
    if node is None:
        return None
    name = node.text()
    if name not in known:
        node.complain(f"the key as_written {_no_dimension(name, known)}")
    elif known[name].kind is not DimensionKind.TEXT:
        node.complain(f"the dimension {name!r} is of kind {known[name].kind.value}; expected text")
    return name


def _file_name(node: PackNode) -> str:
    return node.file.relative_to(node.findings.root).as_posix()


def _read_pattern(
    node: PackNode, kind: PatternKind, *, about_document: bool
) -> tuple[Pattern, ...]:
    default = SubjectSource.DOCUMENT if about_document else SubjectSource.GOVERNOR
    sources = {source.value: source for source in SubjectSource}
    unless, before, opening, lead, subject, text_node = None, None, None, False, default, node
    if node.is_mapping():
        fields = node.fields(_PATTERN_KEYS, required={"pattern"})
        text_node = fields.get("pattern") or node
        unless, before = fields.text("unless") or None, fields.text("not_before") or None
        lead, opening = fields.flag("lead", default=False), fields.text("opening") or None
        subject = sources.get(fields.choice("subject", sources, default.value), default)
        for key, expression in (("unless", unless), ("not_before", before), ("opening", opening)):
            try:
                re.compile(expression or "")
            except re.error as error:
                node.complain(f"{key!r} is no regular expression: {error}")
    if node.is_mapping() and text_node is node:
        return ()
    pattern = Pattern(
        kind,
        text_node.text(),
        subject,
        _file_name(node),
        text_node.line,
        unless=unless,
        not_before=before,
        lead=lead,
        opening=opening,
    )
    try:
        compile_pattern(pattern)
    except PhraseRejected as error:
        text_node.complain(str(error))
        return ()
    return (pattern,)


def _read_example(node: PackNode) -> Example:
    fields = node.fields({"text", "title", "gives"}, required={"text", "gives"})
    gives: list[Expected] = []
    for item in fields.items("gives"):
        if item.is_list():
            pair = item.texts()
            if len(pair) != 2:
                item.complain("expected [subject, value]")
            else:
                gives.append(Expected(*pair))
        elif item.is_mapping():
            gives.append(_read_expected(item))
        elif item.text() != "none":
            item.complain(
                f"{item.text()!r} is no expected value; expected [subject, value] or none"
            )
    return Example(
        text=fields.text("text"),
        title=fields.text("title") or None,
        gives=tuple(gives),
        file=_file_name(node),
        line=node.line,
    )


def _read_expected(node: PackNode) -> Expected:
    entry = node.fields(_EXPECTED_KEYS, required={"subject", "value"})
    polarities = {polarity.value: polarity for polarity in Polarity}
    modalities = {modality.value: modality for modality in Modality}
    return Expected(
        subject=entry.text("subject"),
        value=entry.text("value"),
        polarity=polarities.get(
            entry.choice("polarity", polarities, "affirmed"), Polarity.AFFIRMED
        ),
        modality=modalities.get(
            entry.choice("modality", modalities, "asserted"), Modality.ASSERTED
        ),
        start=entry.text("from") or None,
        end=entry.text("until") or None,
    )
