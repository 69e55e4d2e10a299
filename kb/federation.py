"""SERVICE clauses of a query: found, asked elsewhere, and replaced by the rows that came back.

The process that evaluates a query has no sockets. So each clause becomes a query of its own, which
a process without a store puts to the endpoint; what comes back stands in the query as VALUES.
Evaluated bottom-up, as SPARQL is, that is the same query. Only endpoints of a list are asked, told
by their IRI character for character; a variable, a prefixed name and SERVICE within SERVICE name no
endpoint of a list.

Source: W3C, SPARQL 1.1 Federated Query (2013), sections 2 and 4. We differ where it would have an
endpoint asked once for each value of a variable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .errors import QueryRejected
from .query_budget import Services
from .sparql import QueryTraits, Token, tokens

MOST_CLAUSES = 10
"""SERVICE clauses of one query."""


@dataclass(frozen=True, slots=True)
class ServiceClause:
    """A SERVICE clause: where it stands in the text, and the query that it puts to its endpoint.

    Its group begins at `group`. `variables` are those that it mentions, with their sign, in the
    order of mention.
    """

    start: int
    group: int
    end: int
    endpoint: str
    silent: bool
    query: str
    variables: tuple[str, ...]
    selects: bool

    @property
    def unanswered(self) -> str:
        """What stands for a silent clause that failed: one row that binds nothing."""
        if self.selects or not self.variables:
            return "{}"
        return f"{{ VALUES ({' '.join(self.variables)}) {{ ({'UNDEF ' * len(self.variables)}) }} }}"


def service_clauses(
    text: str, traits: QueryTraits, services: Services, prefixes: Mapping[str, str]
) -> tuple[ServiceClause, ...]:
    """Find the SERVICE clauses of a query, in their order; none where it has none.

    `prefixes` need no declaration. Raises QueryRejected for an endpoint that is not listed, before
    anything is asked, and where a clause cannot be told.
    """
    if not traits.uses_service:
        return ()
    if not services.endpoints:
        raise QueryRejected(
            "the query uses SERVICE, which would ask another server; expected a query over this "
            "knowledge base alone, since the settings list no endpoint that may be asked"
        )
    found = [token for token in tokens(text) if token.kind != "space"]
    places = [place for place, token in enumerate(found) if _is_word(token, "SERVICE")]
    if not places:
        raise QueryRejected("the query hides SERVICE behind an escape; expected the plain word")
    if len(places) > MOST_CLAUSES:
        raise QueryRejected(
            f"the query has {len(places)} SERVICE clauses; expected at most {MOST_CLAUSES}"
        )
    declared, prologue = _prologue(found)
    clauses: list[ServiceClause] = []
    for place in places:
        if clauses and found[place].start < clauses[-1].end:
            raise QueryRejected(
                "a SERVICE clause stands within another; expected each endpoint to be asked on its "
                "own"
            )
        clauses.append(_clause(text, found, place, services, declared, prologue, prefixes))
    return tuple(clauses)


def read_locally(text: str, clauses: Sequence[ServiceClause]) -> str:
    """Give the query as if it asked nobody, all else in its place, to see if it can be read."""
    for clause in clauses:
        blank = "".join(c if c.isspace() else " " for c in text[clause.start : clause.group])
        text = text[: clause.start] + blank + text[clause.group :]
    return text


def replace_clauses(
    text: str, clauses: Sequence[ServiceClause], replacements: Sequence[str]
) -> str:
    """Put a group of VALUES in the place of each clause, on as many lines."""
    parts: list[str] = []
    last = 0
    for clause, replacement in zip(clauses, replacements, strict=True):
        lines = text.count("\n", clause.start, clause.end)
        parts += [text[last : clause.start], replacement, "\n" * lines]
        last = clause.end
    return "".join([*parts, text[last:]])


def _clause(
    text: str,
    found: Sequence[Token],
    place: int,
    services: Services,
    declared: frozenset[str],
    prologue: str,
    prefixes: Mapping[str, str],
) -> ServiceClause:
    following = place + 1
    silent = following < len(found) and _is_word(found[following], "SILENT")
    following += silent
    named = found[following] if following < len(found) else None
    if named is None or named.kind != "iri":
        what = {"variable": "the variable ", "name": "the prefixed name "}.get(
            named.kind or "" if named else "", ""
        )
        raise QueryRejected(
            f"SERVICE names its endpoint by {what}{named.text[:100] if named else 'nothing'}; "
            "expected the IRI of an endpoint that the settings list, in full, between < and >"
        )
    endpoint = named.text[1:-1]
    if endpoint not in services.endpoints:
        raise QueryRejected(
            f"SERVICE asks {named.text[:300]}, which the settings do not list; expected an "
            "endpoint of [sparql] services, character for character"
        )
    first, last = following + 1, _closing(found, following + 1)
    inner = found[first + 1 : last]
    body = text[found[first].end : found[last].start]
    used = {token.text.partition(":")[0] for token in inner if token.kind == "name"}
    ours = "".join(
        f"PREFIX {name}: <{prefixes[name]}>\n" for name in sorted(used & prefixes.keys() - declared)
    )
    mentioned = (token.text for token in inner if token.kind == "variable")
    return ServiceClause(
        found[place].start,
        found[first].start,
        found[last].end,
        endpoint,
        silent,
        f"{prologue}{ours}SELECT * WHERE {{\n{body}\n}}",
        tuple(dict.fromkeys(f"?{name[1:]}" for name in mentioned)),
        bool(inner) and _is_word(inner[0], "SELECT"),
    )


def _closing(found: Sequence[Token], opening: int) -> int:
    """Give the place of the brace that closes the one at `opening`."""
    depth = 0
    for place in range(opening, len(found)):
        depth += {"{": 1, "}": -1}.get(found[place].text, 0)
        if depth == 0:
            if place == opening:
                break
            return place
    raise QueryRejected("a SERVICE clause has no group; expected { ... } behind its endpoint")


def _prologue(found: Sequence[Token]) -> tuple[frozenset[str], str]:
    """Give the prefixes that a query declares, and its declarations, one a line."""
    declared: set[str] = set()
    lines: list[str] = []
    place = 0
    while place < len(found):
        if _is_word(found[place], "PREFIX"):
            size = 3
            if place + 1 < len(found):
                declared.add(found[place + 1].text.removesuffix(":"))
        elif _is_word(found[place], "BASE") or _is_word(found[place], "VERSION"):
            size = 2
        else:
            break
        lines.append(" ".join(token.text for token in found[place : place + size]) + "\n")
        place += size
    return frozenset(declared), "".join(lines)


def _is_word(token: Token, word: str) -> bool:
    return token.kind == "word" and token.text.upper() == word
