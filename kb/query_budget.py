"""What one SPARQL query may use and ask, and how it is told that it used more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .errors import QueryOverBudget


@dataclass(frozen=True, slots=True)
class QueryBudget:
    """What one query may use: wall time, rows and bytes of its result, bytes of memory.

    The time is that of the answer, with the endpoints that SERVICE asks; as long again a query may
    wait for a free worker. The rows and bytes that endpoints give are counted like a result.
    """

    milliseconds: int = 10_000
    rows: int = 1_000_000
    bytes: int = 256 * 1024 * 1024
    memory: int = 4 * 1024 * 1024 * 1024


DEFAULT_BUDGET = QueryBudget()

Warn = Callable[[str], None]
"""Is told in a sentence what an answer does not show."""


@dataclass(frozen=True, slots=True)
class Services:
    """Whom SERVICE may ask: IRIs of endpoints, and how long each may take."""

    endpoints: tuple[str, ...] = ()
    milliseconds: int = 5000


@dataclass(frozen=True, slots=True)
class QueryOptions:
    """What is said beside the text of a query: its graphs, whom it may ask, who is told of doubts.

    Without graphs, the default graph is the union of all that sources state.
    """

    default_graphs: tuple[str, ...] = ()
    named_graphs: tuple[str, ...] = ()
    services: Services = Services()
    warn: Warn = lambda _: None


NO_OPTIONS = QueryOptions()


def out_of_time(budget: QueryBudget, what: str = "") -> QueryOverBudget:
    """Make the error of a query that is ended for its time."""
    return QueryOverBudget(
        f"the query ran longer than {budget.milliseconds} ms{what}; this says nothing about its "
        "answers"
    )
