"""Asking the endpoints of SERVICE clauses, each within what is left of the query's budget."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from .errors import QueryOverBudget, ServiceFailed
from .federation import ServiceClause, replace_clauses
from .query_budget import QueryBudget, Services, Warn, out_of_time
from .workers import EndedError, LateError, WorkerPool

MOST_BYTES = 32 * 1024 * 1024
"""Bytes that the endpoints of one query may give, at most: they become text of the query."""


class ServicePool:
    """Processes that ask endpoints; they start with the first clause."""

    def __init__(self, size: int) -> None:
        self._workers = WorkerPool("service_worker", size=size)

    def close(self) -> None:
        """End the processes; clauses under way fail."""
        self._workers.close()

    def resolve(
        self,
        text: str,
        clauses: Sequence[ServiceClause],
        services: Services,
        *,
        namespace: str,
        budget: QueryBudget,
        deadline: float,
        warn: Warn,
    ) -> str:
        """Ask for the clauses of a query, one after the other, and put the rows in their places.

        A silent clause that fails is told to `warn` and binds nothing; what is over the budget
        fails also there. Raises ServiceFailed and QueryOverBudget.
        """
        budget = replace(budget, bytes=min(budget.bytes, MOST_BYTES))
        rows, size = budget.rows, budget.bytes
        replacements: list[str] = []
        known: dict[tuple[str, str], str] = {}
        for clause in clauses:
            asked = (clause.endpoint, clause.query)
            if asked not in known:
                request = {
                    "endpoint": clause.endpoint,
                    "query": clause.query,
                    "variables": clause.variables,
                    "namespace": namespace,
                    "rows": rows,
                    "bytes": size,
                    "memory": budget.memory,
                }
                try:
                    reply, values = self._ask(
                        clause.endpoint, request, services, budget=budget, deadline=deadline
                    )
                except ServiceFailed as error:
                    if not clause.silent:
                        raise
                    warn(f"{error}; SERVICE SILENT went on without it")
                    replacements.append(clause.unanswered)
                    continue
                rows -= reply
                size -= len(values)
                known[asked] = values
            replacements.append(known[asked])
        return replace_clauses(text, clauses, replacements)

    def _ask(
        self,
        endpoint: str,
        request: Mapping[str, object],
        services: Services,
        *,
        budget: QueryBudget,
        deadline: float,
    ) -> tuple[int, str]:
        try:
            with self._workers.place(deadline - time.monotonic()):
                left = deadline - time.monotonic()
                seconds = min(left, services.milliseconds / 1000)
                timed = {**request, "milliseconds": int(max(seconds, 0) * 1000)}
                reply, values = self._workers.ask(timed, seconds=seconds)
        except LateError as late:
            if time.monotonic() >= deadline:
                raise out_of_time(budget, f"; <{endpoint}> had not answered") from late
            raise ServiceFailed(
                f"the endpoint <{endpoint}> did not answer in {services.milliseconds} ms"
            ) from late
        except EndedError as ended:
            raise ServiceFailed(f"the answer of <{endpoint}> ended its reader") from ended
        detail = str(reply.get("detail", ""))
        match reply["status"]:
            case "answered":
                found = reply["rows"]
                return found if isinstance(found, int) else 0, bytes(values).decode()
            case "over budget":
                raise _too_much(endpoint, detail, budget)
        raise ServiceFailed(f"the endpoint <{endpoint}> {detail}")


def _too_much(endpoint: str, what: str, budget: QueryBudget) -> QueryOverBudget:
    return QueryOverBudget(
        f"the endpoint <{endpoint}> has more {what} than the query may use ({budget.rows} rows, "
        f"{budget.bytes} bytes, {budget.memory // 1024**2} MiB of memory); narrow its SERVICE "
        "clause"
    )
