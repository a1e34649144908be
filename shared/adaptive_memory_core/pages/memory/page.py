"""How does one user's memory look as a page? Overview, records, fading, recalls, verdicts, themes and names."""

from __future__ import annotations

from adaptive_memory_core.context.ages import date
from adaptive_memory_core.pages.markup import number, plural, shown
from adaptive_memory_core.pages.memory.facts import MemoryFacts
from adaptive_memory_core.pages.memory.fading import fading
from adaptive_memory_core.pages.memory.names import names
from adaptive_memory_core.pages.memory.recalls import recalls
from adaptive_memory_core.pages.memory.records import records
from adaptive_memory_core.pages.memory.themes import themes
from adaptive_memory_core.pages.memory.verdicts import verdicts
from adaptive_memory_core.pages.shell import Section, page, tiles


def memory_page(facts: MemoryFacts, *, title: str | None = None) -> str:
    """The whole page, in one file that needs nothing else."""
    sections = [overview(facts), fading(facts), records(facts), recalls(facts), verdicts(facts)]
    sections += [one for one in (themes(facts), names(facts)) if one is not None]
    day = date(facts.now)
    lead = f"As of {day}: {plural(facts.stats.records, 'record')}, {plural(facts.stats.recalls, 'recall')} so far."
    made = (
        f"Made on {day} (UTC) by adaptive-memory-retrieval, under the policy <code>{facts.policy.hash}</code>. "
        "This file holds what is remembered: keep it as you keep the memory itself. Looking at it counts as no read."
    )
    return page(title or f"Memory of {facts.whose}", lead, sections, made=made)


def overview(facts: MemoryFacts) -> Section:
    """The numbers that tell how a memory is doing."""
    stats = facts.stats
    unread = stats.records - stats.read_records
    numbers = [
        (number(stats.records), "records", _kinds(facts)),
        (number(stats.recalls), "recalls", f"{number(stats.reads_per_recall, 1)} reads each"),
        (number(stats.read_records), "records read", f"{number(unread)} never"),
        (number(stats.remembered), "remembered for good", f"{number(stats.pinned)} pinned"),
        (number(stats.verdicts), "verdicts", f"usefulness counts × {number(stats.useful_gain, 2)}"),
        (number(stats.strengths.mean, 2), "mean strength", f"{number(stats.strengths.stale)} fading"),
    ]
    return Section("overview", "Overview", "", tiles(numbers) + _health(facts))


def _kinds(facts: MemoryFacts) -> str:
    first = [f"{shown(kind, 20)} {count:,}" for kind, count in list(facts.kinds.items())[:2]]
    return ", ".join(first)


def _health(facts: MemoryFacts) -> str:
    """What a person would want to know of the write-back and the background, in a line."""
    projection, background = facts.stats.projection, facts.stats.background
    said = [f"{plural(projection.pending, 'record')} wait to be written back into the collection"]
    if projection.failures:
        said.append(f"the write-back failed {plural(projection.failures, 'time')}")
    failed = sum(background.failures.values())
    said.append(f"{plural(failed, 'chore')} of the background failed" if failed else "nothing failed in the background")
    return f'<p class="none">Since this memory was opened: {"; ".join(said)}.</p>'
