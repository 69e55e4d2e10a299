"""Several threads, one commit: all that succeeds is there, and one's failure is its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from kb.database import open_database
from kb.errors import LogUnavailable
from kb.group_commit import GroupCommit
from kb.log import Log


@pytest.fixture
def log(tmp_path: Path) -> Iterator[tuple[Log, GroupCommit]]:
    with closing(open_database(tmp_path / "log.sqlite")) as connection:
        log = Log(connection, name="test", anchor=tmp_path / "log.head")
        log.create()
        yield log, GroupCommit(connection, log)


def noting(log: Log, number: int) -> Callable[[], int]:
    def note() -> int:
        log.append("noted", {"number": number})
        if number % 5 == 3:
            raise ValueError(f"{number} is not wanted")
        return number

    return note


def test_each_gets_its_own_result_or_its_own_error(log: tuple[Log, GroupCommit]) -> None:
    chain, group = log

    def write(number: int) -> int | str:
        try:
            return group.write(noting(chain, number))
        except ValueError as error:
            return str(error)

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(write, range(60)))
    assert results == [
        f"{number} is not wanted" if number % 5 == 3 else number for number in range(60)
    ]
    noted = sorted(int(str(e.payload["number"])) for e in chain.events() if e.payload)
    assert noted == [number for number in range(60) if number % 5 != 3]
    chain.verify()


def test_those_who_wait_are_committed_together(log: tuple[Log, GroupCommit]) -> None:
    """One holds the lock until the others wait; then one commit has them all."""
    chain, group = log
    commits: list[str] = []
    connection = chain._connection
    connection.set_trace_callback(
        lambda statement: commits.append(statement) if statement == "COMMIT" else None
    )
    with ThreadPoolExecutor(6) as pool:
        with group.lock:
            started = [pool.submit(group.write, noting(chain, 5 * number)) for number in range(6)]
            while len(group._waiting) < 6:
                threading.Event().wait(0.01)
        assert [future.result() for future in started] == [5 * number for number in range(6)]
    connection.set_trace_callback(None)
    assert commits == ["COMMIT"]
    assert chain.revision == 6
    chain.verify()


def test_a_commit_that_fails_fails_for_all_and_leaves_nothing(
    log: tuple[Log, GroupCommit], tmp_path: Path
) -> None:
    chain, group = log
    group.write(noting(chain, 0))
    with closing(open_database(tmp_path / "log.sqlite")) as other:
        other.execute("BEGIN IMMEDIATE")
        chain._connection.execute("PRAGMA busy_timeout = 10")
        with pytest.raises(LogUnavailable):
            group.write(noting(chain, 1))
        other.execute("ROLLBACK")
    assert group.write(noting(chain, 2)) == 2
    assert [event.payload for event in chain.events()] == [{"number": 0}, {"number": 2}]
    chain.verify()
