"""Workers that answer SPARQL, each in a process that is killed when a query outruns its time."""

from __future__ import annotations

import re
import time
from pathlib import Path

from . import vocabulary
from .errors import FormatUnavailable, KnowledgeError, QueryOverBudget, QueryRejected
from .federation import read_locally, service_clauses
from .query_budget import DEFAULT_BUDGET, NO_OPTIONS, QueryBudget, QueryOptions, out_of_time
from .service_pool import ServicePool
from .sparql import negotiate, read_query
from .workers import EndedError, LateError, WorkerPool


class QueryPool:
    """Up to `size` warm worker processes; more queries at once wait."""

    def __init__(self, size: int = 2) -> None:
        self._workers = WorkerPool("rdf_worker", size=size)
        self._services = ServicePool(size)

    def close(self) -> None:
        """End the workers; queries under way fail."""
        self._workers.close()
        self._services.close()

    def query(
        self,
        text: str,
        accept: str,
        *,
        store: Path,
        namespace: str,
        budget: QueryBudget = DEFAULT_BUDGET,
        options: QueryOptions = NO_OPTIONS,
    ) -> tuple[str, bytes]:
        """Answer a query from the store at `store`, with the media type it is written in.

        What SERVICE asks is asked first, of the endpoints that the options list. Raises
        QueryRejected, FormatUnavailable, ServiceFailed or QueryOverBudget.
        """
        traits = read_query(text)
        media_type = negotiate(accept, traits.form)
        prefixes = vocabulary.prefixes(namespace) if traits.uses_service else {}
        clauses = service_clauses(text, traits, options.services, prefixes)
        request: dict[str, object] = {
            "store": str(store),
            "namespace": namespace,
            "query": text,
            "media_type": media_type,
            "names_graphs": traits.names_graphs,
            "orders": traits.orders,
            "default_graphs": list(options.default_graphs) or None,
            "named_graphs": list(options.named_graphs) or None,
            "milliseconds": budget.milliseconds,
            "rows": budget.rows,
            "bytes": budget.bytes,
            "memory": budget.memory,
        }
        deadline = time.monotonic() + budget.milliseconds / 1000
        if clauses:
            # what cannot be read is told before anybody is asked, and where it stands
            checked = {**request, "query": read_locally(text, clauses), "only_read": True}
            self._ask(checked, budget, deadline)
            request["query"] = self._services.resolve(
                text,
                clauses,
                options.services,
                namespace=namespace,
                budget=budget,
                deadline=deadline,
                warn=options.warn,
            )
        return media_type, self._ask(request, budget, deadline)

    def _ask(self, request: dict[str, object], budget: QueryBudget, deadline: float) -> bytes:
        """Ask a worker; the wait for a free one is not taken from the time of the query."""
        left = deadline - time.monotonic()
        try:
            with self._workers.place(budget.milliseconds / 1000):
                timed = {**request, "milliseconds": max(int(left * 1000), 0)}
                reply, content = self._workers.ask(timed, seconds=left)
        except LateError as late:
            raise out_of_time(budget) from late
        except EndedError as error:
            raise QueryOverBudget(
                "the query is too deep, or needs too much memory, and ended its worker; expected "
                f"one that needs at most {budget.memory // 1024**2} MiB; this says nothing about "
                "its answers"
            ) from error
        detail = str(reply.get("detail", ""))
        match reply["status"]:
            case "answered":
                return bytes(content)
            case "unwritable":
                raise FormatUnavailable(
                    f"a value of the result has the character {detail}, which XML cannot "
                    f"hold; expected another format than {request['media_type']}"
                )
            case "rejected":
                raise QueryRejected(f"the query cannot be read: {_brief(detail)}")
            case "over budget":
                raise QueryOverBudget(
                    f"the result has more {detail} than allowed "
                    f"({budget.rows} rows, {budget.bytes} bytes); add LIMIT or narrow the query"
                )
        raise KnowledgeError(f"the query failed: {detail}")


_EXPECTED = re.compile(r"expected one of (.+)", re.DOTALL)
_CLASS = re.compile(r"\[['_][^\]]*\]")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\b[A-Z]{2,}\b')
_MOST_EXPECTED = 8


def _brief(detail: str) -> str:
    """Shorten the parser's message to one line: of the tokens it expected, the first few."""

    def first_few(match: re.Match[str]) -> str:
        if "Prefix not found" in match[1]:
            return "the prefix of this name is not declared"
        tokens = _TOKEN.findall(_CLASS.sub("", match[1]))
        if not tokens:
            return "this cannot stand here"
        is_all = len(tokens) <= _MOST_EXPECTED and not _CLASS.search(match[1])
        return f"expected one of {', '.join(tokens[:_MOST_EXPECTED])}{'' if is_all else ', ...'}"

    return " ".join(_EXPECTED.sub(first_few, detail).split())
