"""How does a whole memory look as a page? Who has how much in it, and how it is doing; texts stay each user's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adaptive_memory_core.context.ages import date
from adaptive_memory_core.pages.charts import meter
from adaptive_memory_core.pages.markup import Cell, Column, number, plural, shown, table
from adaptive_memory_core.pages.shell import Section, page, tiles
from adaptive_memory_core.reports import BackgroundStats, Stats, WriteBackProgress

COLUMNS = (
    Column("Whose"),
    *(Column(name, "number") for name in ("Records", "Recalls", "Reads", "Remembered", "Verdicts", "Mean strength")),
)


@dataclass(frozen=True, slots=True)
class UsersFacts:
    """The users that are shown, each with the numbers of their memory, of all that there are."""

    now: float
    users: Sequence[tuple[str, Stats]]
    total: int
    write_back: WriteBackProgress
    background: BackgroundStats


def users_page(facts: UsersFacts, *, title: str | None = None) -> str:
    """The whole page. It holds names of users and numbers, and no text that anybody stored."""
    sections = [Section("overview", "Overview", "", _overview(facts)), _users(facts), _background(facts)]
    day = date(facts.now)
    lead = f"As of {day}. What one user's memory holds: <code>for_user(name).report(path)</code>."
    made = f"Made on {day} (UTC) by adaptive-memory-retrieval. This file holds names of users, and none of their texts."
    return page(title or "Whole memory", lead, sections, made=made)


def _overview(facts: UsersFacts) -> str:
    stats = [one for _, one in facts.users]
    numbers = [
        (number(facts.total), "users", "everyone’s records count as one"),
        (number(sum(one.records for one in stats)), "records", ""),
        (number(sum(one.recalls for one in stats)), "recalls", ""),
        (number(sum(one.reads for one in stats)), "reads", ""),
        (number(sum(one.verdicts for one in stats)), "verdicts", ""),
        (number(facts.write_back.waiting), "to be written back", f"for {number(facts.write_back.waited_seconds, 1)} s"),
    ]
    return tiles(numbers)


def _users(facts: UsersFacts) -> Section:
    left_out = facts.total - len(facts.users)
    lead = f"{plural(len(facts.users), 'user')}, those with most recalls first."
    lead += f" {left_out:,} are left out, also of the sums above." if left_out else ""
    rows = [_row(name, one) for name, one in facts.users]
    body = (
        table("users-table", "Users", COLUMNS, rows, stack=True) if rows else '<p class="none">Nobody is known yet.</p>'
    )
    return Section("users", "Users", lead, body)


def _row(name: str, stats: Stats) -> list[Cell]:
    counts = (stats.records, stats.recalls, stats.reads, stats.remembered, stats.verdicts)
    mean = stats.strengths.mean
    return [
        Cell(f"<bdi>{shown(name, 60)}</bdi>"),
        *(Cell(number(one), one) for one in counts),
        Cell(number(mean, 2) + meter(mean, "mean strength", 5), mean),
    ]


def _background(facts: UsersFacts) -> Section:
    """What a person would look at first where something is amiss."""
    done, background = facts.write_back, facts.background
    failed = ", ".join(f"{shown(name, 40)} {count:,} times" for name, count in sorted(background.failures.items()))
    rows = [
        ("written back", f"{done.written:,} since this memory was opened"),
        ("deleted meanwhile", f"{done.vanished:,}"),
        ("keys that others use", f"{done.conflicts:,}"),
        ("failed in the background", failed or "nothing"),
        ("last error", shown(background.last_error or "none", 60)),
    ]
    listed = "".join(f"<dt>{name}</dt><dd>{said}</dd>" for name, said in rows)
    return Section("health", "Write-back and background", "", f'<dl class="facts">{listed}</dl>')
