"""The page of one user's memory, including the names of its graph, and the page of all users."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from adaptive_memory_core.context.themes import Themes
from adaptive_memory_core.pages.charts import meter, svg_chart
from adaptive_memory_core.pages.markup import (
    Section,
    TableCell,
    TableColumn,
    html_page,
    html_table,
    html_text,
    moment,
    number,
    plural,
    tiles,
)
from adaptive_memory_core.pages.memory_insights import insights_section
from adaptive_memory_core.pages.memory_recalls import recalls_section, verdicts_section
from adaptive_memory_core.pages.memory_records import MemoryFacts, reading_section, records_section, themes_section
from adaptive_memory_core.reports import BackgroundStats, Stats, WriteBackProgress


def memory_page(facts: MemoryFacts, *, title: str | None = None) -> str:
    """The complete page of a memory as one self-contained file."""
    sections = [
        insights_section(facts),
        overview_section(facts),
        reading_section(facts),
        records_section(facts),
        recalls_section(facts),
        verdicts_section(facts),
    ]
    sections += [one for one in (themes_section(facts.themes), names_section(facts)) if one is not None]
    now = moment(facts.now)
    lead = f"As of {now} UTC: {plural(facts.stats.records, 'record')}, {plural(facts.stats.recalls, 'recall')} so far."
    made = (
        f"Made on {now} UTC by adaptive-memory-retrieval, under the policy <code>{facts.policy.hash}</code>. "
        "This file contains memories: protect it like the memory itself. Viewing it does not count as a read."
    )
    return html_page(title or f"Memory of {facts.whose}", lead, sections, made=made)


def themes_page(found: Themes) -> str:
    """A page with all themes of a user as one self-contained file."""
    section = themes_section(found, most=max(1, len(found)))
    nothing = Section("themes", "Themes", "", '<p class="none">No conversation was observed yet.</p>')
    return html_page("What is remembered", "", [section or nothing], made="Made by adaptive-memory-retrieval.")


def overview_section(facts: MemoryFacts) -> Section:
    """The key numbers of a memory."""
    stats = facts.stats
    unread = stats.records - stats.read_records
    numbers = [
        (number(stats.records), "records", _kinds(facts)),
        (number(stats.recalls), "recalls", f"{number(stats.reads_per_recall, 1)} reads each"),
        (number(stats.read_records), "records read", f"{number(unread)} never"),
        (number(stats.remembered), "remembered for good", f"{number(stats.pinned)} pinned"),
        (number(stats.verdicts), "verdicts", f"usefulness counts {stats.useful_gain:.0%} of its weight"),
    ]
    if facts.fades:
        numbers.append((number(stats.strengths.mean, 2), "mean strength", f"{number(stats.strengths.stale)} fading"))
    return Section("overview", "Overview", "", tiles(numbers) + _health(facts))


def _kinds(facts: MemoryFacts) -> str:
    first = [f"{html_text(kind, 20)} {count:,}" for kind, count in list(facts.kinds.items())[:2]]
    return ", ".join(first)


def _health(facts: MemoryFacts) -> str:
    """The state of the write-back and of background work, in one line."""
    projection, background = facts.stats.projection, facts.stats.background
    sentences = [f"{plural(projection.pending, 'record')} wait to be written back into the collection"]
    if projection.failures:
        sentences.append(f"the write-back failed {plural(projection.failures, 'time')}")
    failed = sum(background.failures.values())
    sentences.append(f"{plural(failed, 'background task')} failed" if failed else "nothing failed in the background")
    return f'<p class="none">Since this memory was opened: {"; ".join(sentences)}.</p>'


MOST_DRAWN, MOST_LISTED, MOST_EXAMPLES = 22, 100, 2
SIDE, RING = 500, 132
NAME_COLUMNS = (
    TableColumn("Name"),
    TableColumn("Records", "number"),
    TableColumn("Together with"),
    TableColumn("For example"),
)


def names_section(facts: MemoryFacts) -> Section | None:
    """The names of the graph; None without a graph, which exists only if a policy uses the channel "graph"."""
    found = facts.names
    if not found.counts:
        return None
    lead = (
        f"From {plural(found.looked_at, 'record')} of the table above, of {found.passages:,} in the graph. The more "
        "records mention a name, the larger it is; lines join names that occur in the same record."
    )
    listed = list(found.counts)[:MOST_LISTED]
    rows = [_name_row(name, facts) for name in listed]
    listing = html_table("names-table", "Names", NAME_COLUMNS, rows)
    return Section("names", "Names", lead, f'<div class="card">{_network(facts)}</div>{listing}')


def _name_row(name: str, facts: MemoryFacts) -> list[TableCell]:
    found = facts.names
    pairs = [(count, a if b == name else b) for (a, b), count in found.links.items() if name in (a, b)]
    others = ", ".join(html_text(other, 30) for _, other in sorted(pairs, key=lambda one: (-one[0], one[1]))[:5])
    texts = [facts.log.texts.get(one, "") for one in found.records.get(name, ())[:MOST_EXAMPLES]]
    examples = "".join(
        f'<small class="block"><bdi dir="auto">{html_text(text, 110)}</bdi></small>' for text in texts if text
    )
    return [
        TableCell(html_text(name, 40)),
        TableCell(number(found.counts[name]), found.counts[name]),
        TableCell(others or "–"),
        TableCell(examples or "–"),
    ]


def _network(facts: MemoryFacts) -> str:
    """Names on a ring; names that occur together are close to each other."""
    found = facts.names
    drawn = _in_order(list(found.counts)[:MOST_DRAWN], found.links)
    most = max(found.counts[name] for name in drawn)
    places = {name: _place(number_, len(drawn)) for number_, name in enumerate(drawn)}
    inside = "".join(
        _link(places[a], places[b], count) for (a, b), count in found.links.items() if a in places and b in places
    )
    inside += "".join(_node(name, number_, len(drawn), found.counts[name], most) for number_, name in enumerate(drawn))
    return svg_chart(
        f"{plural(len(drawn), 'name')}, linked if they occur together: {', '.join(drawn)}",
        inside,
        SIDE,
        SIDE,
        "chart tall",
    )


def _in_order(names_: list[str], links: object) -> list[str]:
    """The names in an order in which each is followed by the one that it occurs with most."""
    weight = dict(links)  # type: ignore[call-overload]
    left, order = list(names_), list[str]()
    while left:
        last = order[-1] if order else None
        nearest = max(left, key=lambda one: (weight.get((last, one), 0) + weight.get((one, last), 0), -left.index(one)))
        left.remove(nearest)
        order.append(nearest)
    return order


def _place(number_: int, count: int, ring: float = RING) -> tuple[float, float]:
    turn = 2 * math.pi * number_ / count - math.pi / 2
    return SIDE / 2 + ring * math.cos(turn), SIDE / 2 + ring * math.sin(turn)


def _link(begin: tuple[float, float], end: tuple[float, float], count: int) -> str:
    middle = SIDE / 2
    return (
        f'<path class="edge" stroke-width="{min(5.0, 0.8 + 0.6 * count):.1f}" '
        f'd="M{begin[0]:.1f} {begin[1]:.1f} Q{middle} {middle} {end[0]:.1f} {end[1]:.1f}"/>'
    )


def _node(name: str, number_: int, count: int, mentions: int, most: int) -> str:
    """A circle with its name on the outside of the ring."""
    x, y = _place(number_, count)
    radius = 3.0 + 6.0 * math.sqrt(mentions / most)
    at_x, _ = _place(number_, count, RING + radius + 6)
    angle = 360.0 * number_ / count - 90.0
    right = at_x >= SIDE / 2 - 1
    turn = angle if right else angle + 180.0
    far = RING + radius + 5
    x_label = SIDE / 2 + far * math.cos(math.radians(angle))
    y_label = SIDE / 2 + far * math.sin(math.radians(angle))
    return (
        f"<g><title>{html_text(name)}: {plural(mentions, 'record')}</title>"
        f'<circle class="s0" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>'
        f'<text class="{"begin" if right else "end"} name" x="{x_label:.1f}" y="{y_label:.1f}" '
        'dominant-baseline="middle" '
        f'transform="rotate({turn:.1f} {x_label:.1f} {y_label:.1f})">{html_text(name, 14)}</text></g>'
    )


MEAN_STRENGTH = TableColumn("Mean strength", "number")
USER_COLUMNS = (
    TableColumn("Whose"),
    *(TableColumn(name, "number") for name in ("Records", "Recalls", "Reads", "Remembered", "Verdicts")),
    MEAN_STRENGTH,
)


@dataclass(frozen=True, slots=True)
class UsersFacts:
    """The users that are shown, each with the numbers of their memory, and totals over all users."""

    now: float
    users: Sequence[tuple[str, Stats]]
    total: int
    write_back: WriteBackProgress
    background: BackgroundStats


def users_page(facts: UsersFacts, *, title: str | None = None) -> str:
    """The complete page. It contains names of users and numbers, but no stored texts."""
    sections = [Section("overview", "Overview", "", _overview(facts)), _users(facts), _background(facts)]
    now = moment(facts.now)
    lead = f"As of {now} UTC. For the content of one user's memory: <code>for_user(name).report(path)</code>."
    made = (
        f"Made on {now} UTC by adaptive-memory-retrieval. This file contains names of users, but none of their texts."
    )
    return html_page(title or "Whole memory", lead, sections, made=made)


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
    lead += f" {left_out:,} are left out, also from the sums above." if left_out else ""
    fades = any(one.strengths.stale for _, one in facts.users)
    columns = [one for one in USER_COLUMNS if fades or one is not MEAN_STRENGTH]
    rows = [_user_row(name, one, fades) for name, one in facts.users]
    body = html_table("users-table", "Users", columns, rows) if rows else '<p class="none">There are no users yet.</p>'
    return Section("users", "Users", lead, body)


def _user_row(name: str, stats: Stats, fades: bool) -> list[TableCell]:
    counts = (stats.records, stats.recalls, stats.reads, stats.remembered, stats.verdicts)
    mean = stats.strengths.mean
    return [
        TableCell(f"<bdi>{html_text(name, 60)}</bdi>"),
        *(TableCell(number(one), one) for one in counts),
        *([TableCell(number(mean, 2) + meter(mean, "mean strength", 5), mean)] if fades else []),
    ]


def _background(facts: UsersFacts) -> Section:
    """The numbers to check first if something is wrong."""
    done, background = facts.write_back, facts.background
    failed = ", ".join(f"{html_text(name, 40)} {count:,} times" for name, count in sorted(background.failures.items()))
    rows = [
        ("written back", f"{done.written:,} since this memory was opened"),
        ("deleted meanwhile", f"{done.vanished:,}"),
        ("keys used by other programs", f"{done.conflicts:,}"),
        ("failed in the background", failed or "nothing"),
        ("last error", html_text(background.last_error or "none", 60)),
    ]
    listed = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in rows)
    return Section("health", "Write-back and background", "", f'<dl class="facts">{listed}</dl>')
