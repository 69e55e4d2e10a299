from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from kb.database import open_database
from kb.errors import LogCorrupt, LogUnavailable
from kb.log import Log


@contextmanager
def opened(directory: Path, name: str = "test") -> Iterator[tuple[Log, sqlite3.Connection]]:
    with closing(open_database(directory / "log.sqlite")) as connection:
        log = Log(connection, name=name, anchor=directory / "log.head")
        log.create()
        yield log, connection


def fill(directory: Path, count: int = 5) -> None:
    with opened(directory) as (log, _), log.transaction():
        for number in range(count):
            log.append("noted", {"text": f"event {number}"})


def test_events_come_back_in_order(tmp_path: Path) -> None:
    fill(tmp_path, 250)
    with opened(tmp_path) as (log, _):
        assert [event.number for event in log.events()] == list(range(1, 251))
        assert [event.payload for event in log.events(after=248)] == [
            {"text": "event 248"},
            {"text": "event 249"},
        ]
        assert log.revision == 250
        assert log.kinds(after=249) == {"noted"}
        assert log.kinds(after=250) == frozenset()
        log.verify()


def test_the_same_events_give_the_same_head(tmp_path: Path) -> None:
    heads = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        fill(tmp_path / name)
        with opened(tmp_path / name) as (log, _):
            heads.append(log.head)
    assert heads[0] == heads[1]


def test_a_log_of_another_name_begins_elsewhere(tmp_path: Path) -> None:
    fill(tmp_path)
    with opened(tmp_path, name="other") as (log, _), pytest.raises(LogCorrupt, match="event 1 "):
        log.verify()


def test_a_failed_transaction_leaves_nothing(tmp_path: Path) -> None:
    fill(tmp_path, 1)
    with opened(tmp_path) as (log, _):
        head = log.head
        with pytest.raises(TypeError), log.transaction():
            log.append("noted", {"first": log.append("noted", {}), "second": object()})
        assert (log.revision, log.head) == (1, head)
        log.verify()


def test_appending_needs_a_transaction(tmp_path: Path) -> None:
    with opened(tmp_path) as (log, _), pytest.raises(LogCorrupt, match="outside a transaction"):
        log.append("noted", {})


def test_a_second_writer_waits_its_turn(tmp_path: Path) -> None:
    fill(tmp_path, 1)
    with opened(tmp_path) as (log, _), opened(tmp_path) as (other, connection):
        connection.execute("PRAGMA busy_timeout = 10")
        with log.transaction(), pytest.raises(LogUnavailable, match="locked"), other.transaction():
            pass
        with other.transaction():
            other.append("noted", {"text": "from the other"})
        with log.transaction():
            log.append("noted", {"text": "from the first"})
        log.verify()
        assert log.revision == 3


TAMPERINGS: dict[str, str] = {
    "another payload": (
        "UPDATE event SET payload = (SELECT payload FROM event WHERE number = 1) WHERE number = 3"
    ),
    "an unreadable payload": "UPDATE event SET payload = x'00' WHERE number = 3",
    "a payload of another type": "UPDATE event SET payload = 'text' WHERE number = 3",
    "a payload and its digest": (
        "UPDATE event SET payload = f.payload, payload_sha256 = f.payload_sha256"
        " FROM event f WHERE f.number = 1 AND event.number = 3"
    ),
    "another kind": "UPDATE event SET kind = 'other' WHERE number = 3",
    "another link": "UPDATE event SET link = 'x' WHERE number = 3",
    "a removed event": "DELETE FROM event WHERE number = 3",
    "a removed first event": "DELETE FROM event WHERE number = 1",
    "a cut tail": "DELETE FROM event WHERE number > 3",
    "everything removed": "DELETE FROM event",
    "an erased payload": "UPDATE event SET payload = NULL WHERE number = 3",
    "two events swapped": (
        "UPDATE event SET number = number - 5 WHERE number IN (2, 3);"
        "UPDATE event SET number = -number WHERE number < 0"
    ),
    "the tail renumbered": (
        "DELETE FROM event WHERE number = 3;UPDATE event SET number = number - 1 WHERE number > 3"
    ),
    "an event inserted": (
        "INSERT INTO event SELECT 6, kind, payload, payload_sha256, link FROM event"
        " WHERE number = 5"
    ),
}


@pytest.mark.parametrize("tampering", TAMPERINGS)
def test_tampering_is_detected(tmp_path: Path, tampering: str) -> None:
    fill(tmp_path)
    with opened(tmp_path) as (log, connection):
        log.verify()
        connection.executescript(TAMPERINGS[tampering])
        with pytest.raises(LogCorrupt):
            log.verify()


def anchor_missing(anchor: Path) -> None:
    anchor.unlink()


def anchor_garbled(anchor: Path) -> None:
    anchor.write_text("five abc", encoding="utf-8")


def anchor_ahead(anchor: Path) -> None:
    anchor.write_text(f"6 {'0' * 64}\n", encoding="utf-8")


def anchor_elsewhere(anchor: Path) -> None:
    anchor.write_text(f"4 {'0' * 64}\n", encoding="utf-8")


@pytest.mark.parametrize("harm", [anchor_missing, anchor_garbled, anchor_ahead, anchor_elsewhere])
def test_a_wrong_anchor_is_detected(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    fill(tmp_path)
    harm(tmp_path / "log.head")
    with opened(tmp_path) as (log, _), pytest.raises(LogCorrupt, match=r"anchor"):
        log.check_anchor()


def test_an_anchor_left_behind_by_a_crash_is_no_harm(tmp_path: Path) -> None:
    fill(tmp_path, 4)
    behind = (tmp_path / "log.head").read_bytes()
    with opened(tmp_path) as (log, _):
        with log.transaction():
            log.append("noted", {})
        (tmp_path / "log.head").write_bytes(behind)
        log.verify()


def test_erasing_keeps_the_chain_and_needs_its_tombstone(tmp_path: Path) -> None:
    fill(tmp_path)
    with opened(tmp_path) as (log, connection):
        with log.transaction():
            assert log.erase([4, 2], {"why": "asked"}) == 6
        log.verify()
        assert [event.payload for event in log.events(after=1)][:1] == [None]
        assert next(log.events(after=5)).payload == {"events": [2, 4], "why": "asked"}
        connection.execute("UPDATE event SET payload = NULL WHERE number = 5")
        with pytest.raises(LogCorrupt, match="event 5 is gone without a tombstone"):
            log.verify()


def test_a_tombstone_names_no_later_event(tmp_path: Path) -> None:
    with opened(tmp_path) as (log, connection):
        with log.transaction():
            log.erase([2], {})
            log.append("noted", {})
        connection.execute("UPDATE event SET payload = NULL WHERE number = 2")
        with pytest.raises(LogCorrupt, match="event 2"):
            log.verify()


@given(
    position=st.integers(1, 5),
    column=st.sampled_from(["kind", "payload", "payload_sha256", "link"]),
    place=st.integers(0, 200),
    flip=st.integers(1, 255),
)
def test_any_flipped_byte_is_detected(
    tmp_path_factory: pytest.TempPathFactory, position: int, column: str, place: int, flip: int
) -> None:
    directory = tmp_path_factory.mktemp("log")
    fill(directory)
    with opened(directory) as (log, connection):
        (stored,) = connection.execute(
            f"SELECT CAST({column} AS BLOB) FROM event WHERE number = ?", (position,)
        ).fetchone()
        changed = bytearray(stored)
        changed[place % len(changed)] ^= flip
        value = bytes(changed)
        if column == "payload":  # the level of compression may change, and nothing with it
            with suppress(zlib.error):
                assume(zlib.decompress(value) != zlib.decompress(stored))
        cast = "?" if column == "payload" else "CAST(? AS TEXT)"
        connection.execute(
            f"UPDATE event SET {column} = {cast} WHERE number = ?", (value, position)
        )
        with pytest.raises(LogCorrupt):
            log.verify()
