"""How strong are the memories, how do they fade, and how much is read? A picture for each."""

from __future__ import annotations

from adaptive_memory_core.pages.charts import Point, bars, lines
from adaptive_memory_core.pages.markup import plural
from adaptive_memory_core.pages.memory.facts import MemoryFacts
from adaptive_memory_core.pages.shell import Section, cards

BINS = [f"{place / 10:.1f}" for place in range(10)]
STILL = '<p class="none">Nothing fades under this policy: every record keeps its strength of 1 (docs/fading.md).</p>'


def fading(facts: MemoryFacts) -> Section:
    """Strengths, their decay, reads and recalls."""
    strengths = facts.stats.strengths
    charts = [
        (
            "Strength",
            bars("Records by strength", list(zip(BINS, strengths.histogram, strict=True)), tone=5),
            _strength(facts),
        ),
        (f"Decay over {facts.fading.unit} without a read", _decay(facts), _decay_words(facts)),
        (
            "Reads",
            bars("Records by how often they were read", list(facts.reads.items())),
            "How many records were read so often.",
        ),
        (
            "Recalls a day",
            bars("Recalls by day", facts.log.by_day, tone=1),
            f"The newest {plural(facts.log.counted, 'logged recall')}.",
        ),
    ]
    if len(facts.samples) > 1:
        charts.append(("Over time", _over_time(facts), "By the user's recalls, as the ledger sampled them."))
    return Section("fading", "Strength and reading", "", cards(charts))


def _strength(facts: MemoryFacts) -> str:
    strengths = facts.stats.strengths
    return f"{plural(strengths.size, 'record')} of at least {strengths.at_least:g}; {strengths.stale:,} have lost some."


def _decay(facts: MemoryFacts) -> str:
    if not facts.fading.curves:
        return STILL
    title = f"Strength over {facts.fading.unit} without a read"
    return lines(title, facts.fading.curves, dots=facts.fading.records, across=facts.fading.unit, range_of=(0.0, 1.0))


def _decay_words(facts: MemoryFacts) -> str:
    return "A line for each kind of memory; the dots are the records of the table below." if facts.fading.curves else ""


def _over_time(facts: MemoryFacts) -> str:
    samples = facts.samples
    series = {
        "mean strength": [Point(one.step, one.strengths.mean) for one in samples],
        "share remembered": [Point(one.step, one.remembered_fraction) for one in samples],
    }
    return lines("Over time", series, across="recalls", range_of=(0.0, 1.0))
