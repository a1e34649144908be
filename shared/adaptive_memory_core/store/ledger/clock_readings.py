"""What time is it, as far as deletion is concerned? One reading of the clock alone deletes nothing.

A clock can leap ahead, by a year if it likes, and come back; what was deleted meanwhile does not. So the ledger keeps
the readings of its earlier passes. A pass believes its own reading up to a day beyond one that is at least an hour
older; a clock that leapt is believed an hour later, if no pass has seen it further back in between. After a long pause
retention is therefore late by an hour; the log shows nothing beyond it all the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median_low
from typing import NamedTuple

from adaptive_memory_core.store.sqlite_file import LedgerFile

HOUR, DAY = 3_600.0, 86_400.0
APART = 600.0  # seconds between two readings that are kept

_LAST_RECALLS = "SELECT at FROM recalls WHERE at <= ? ORDER BY recall_key DESC LIMIT 5"


class Believed(NamedTuple):
    """The time that retention goes by, and the readings to keep for the next pass."""

    now: float
    readings: tuple[float, ...]


def believed_now(file: LedgerFile, *, now: float) -> float:
    """The latest time that more than this one reading of the clock speaks for."""
    with file.reading() as sql:
        known = tuple(row[0] for row in sql.execute("SELECT at FROM clock_readings ORDER BY at"))
        recalls = [row[0] for row in sql.execute(_LAST_RECALLS, (now - HOUR,))]
    believed = weigh(known, median_low(recalls) if recalls else None, now=now)
    if believed.readings != known:
        with file.writing(told=True) as sql:
            sql.execute("DELETE FROM clock_readings")
            sql.executemany(
                "INSERT INTO clock_readings VALUES (?) ON CONFLICT DO NOTHING", [(one,) for one in believed.readings]
            )
    return believed.now


def weigh(readings: Sequence[float], recalled: float | None, *, now: float) -> Believed:
    """What this reading is worth beside earlier ones, oldest first, and the last recalls of more than an hour ago.

    >>> weigh([0.0], None, now=2 * HOUR).now == 2 * HOUR             # as it was to be expected
    True
    >>> leapt = weigh([0.0], None, now=365 * DAY)                    # a leap, or a long pause
    >>> leapt.now == DAY, weigh(leapt.readings, None, now=365 * DAY + HOUR).now == 365 * DAY + HOUR
    (True, True)
    >>> weigh(leapt.readings, None, now=2 * HOUR)                    # it was a leap
    Believed(now=7200.0, readings=(0.0, 7200.0))
    """
    past = [one for one in readings if one <= now]
    old = [one for one in past if one <= now - HOUR]
    witness = old[-1] if old else recalled if recalled is not None else past[0] if past else None
    kept = [one for one in past if not old or one >= old[-1]]
    if not kept or now - kept[-1] >= APART:
        kept.append(now)
    return Believed(now if witness is None else min(now, witness + DAY), tuple(kept))
