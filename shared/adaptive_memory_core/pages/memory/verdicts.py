"""What did verdicts change? Importance before and after, what counts as useful, and the trail of who said what."""

from __future__ import annotations

from adaptive_memory_core.context.ages import date
from adaptive_memory_core.pages.charts import picture
from adaptive_memory_core.pages.markup import SHORT, Cell, Column, chip, number, passage, plural, shown, table
from adaptive_memory_core.pages.memory.facts import MemoryFacts
from adaptive_memory_core.pages.memory.recalls import place_of
from adaptive_memory_core.pages.memory.records import judged
from adaptive_memory_core.pages.scale import Scale
from adaptive_memory_core.pages.shell import Section, cards
from adaptive_memory_core.records import Record

MOST_DRAWN = 16
NEUTRAL = 0.5  # of a record that was written without an importance
TRAIL = (Column("When", "number"), Column("Memory"), Column("What"), Column("By"))
TONE = {
    "helpful": "good",
    "unhelpful": "bad",
    "pinned": "good",
    "remembered": "good",
    "demoted": "bad",
    "pruned": "bad",
}
NOTHING = '<p class="none">Nobody has judged a memory yet, pinned one or demoted one.</p>'


def verdicts(facts: MemoryFacts) -> Section:
    """The effect of verdicts first, then each of them."""
    if not facts.log.changes and not facts.judged:
        return Section("verdicts", "Verdicts", "", NOTHING)
    lead = (
        f"{plural(facts.stats.verdicts, 'verdict')} so far. A verdict moves a record's importance a little and makes "
        "it useful for some time; what they showed of usefulness as a whole makes it count "
        f"× {number(facts.stats.useful_gain, 2)}."
    )
    moved = [one for one in facts.judged if _before(one) != _after(one)]
    body = cards([("Importance, before and after", _pairs(moved), _words(moved))]) if moved else ""
    body += _trail(facts)
    return Section("verdicts", "Verdicts", lead, body)


def _before(record: Record) -> float:
    return NEUTRAL if record.written_importance is None else record.written_importance


def _after(record: Record) -> float:
    return NEUTRAL if record.importance is None else record.importance


def _words(moved: list[Record]) -> str:
    left_out = f" {len(moved) - MOST_DRAWN:,} more are left out." if len(moved) > MOST_DRAWN else ""
    return f"Hollow: as written; filled: as verdicts moved it.{left_out}"


def _pairs(moved: list[Record]) -> str:
    """A line from what was written to what it is now, for each record, the largest move first."""
    drawn = sorted(moved, key=lambda one: -abs(_after(one) - _before(one)))[:MOST_DRAWN]
    ends = [value for one in drawn for value in (_before(one), _after(one))]
    low, high = min(ends), max(ends)
    x = Scale(low, high if high > low else low + 0.1, 190, 345)
    rows = [_pair(place, one, x) for place, one in enumerate(drawn)]
    foot = 20 + 22 * len(drawn)
    rows += [
        f'<text class="{place}" x="{x(at):.0f}" y="{foot}">{number(at, 3)}</text>'
        for at, place in ((low, "begin"), (high, "end"))
    ]
    return picture(
        f"Importance of {plural(len(drawn), 'record')} before and after verdicts", "".join(rows), height=foot + 8
    )


def _pair(place: int, record: Record, x: Scale) -> str:
    y, before, after = 14 + 22 * place, _before(record), _after(record)
    tone = 3 if after >= before else 6
    return (
        f"<g><title>{shown(record.text)}: {number(before)} to {number(after)}</title>"
        f'<text class="end name" x="178" y="{y + 4}">{shown(record.text, 27)}</text>'
        f'<line class="whisker t{tone}" x1="{x(before):.1f}" x2="{x(after):.1f}" y1="{y}" y2="{y}"/>'
        f'<circle class="open t{tone}" cx="{x(before):.1f}" cy="{y}" r="4"/>'
        f'<circle class="s{tone}" cx="{x(after):.1f}" cy="{y}" r="4.5"/></g>'
    )


def _trail(facts: MemoryFacts) -> str:
    if not facts.log.changes:
        return ""
    there = {one.id for one in facts.log.recalls}
    known = {one.id: one for one in (*facts.records, *facts.judged)}
    rows = []
    for one in facts.log.changes:
        recall = one.by.removeprefix("recall ")
        by = f'<a href="#{place_of(recall)}">a recall</a>' if recall in there else shown(one.by, 60)
        record = known.get(one.id)
        text = facts.log.texts.get(one.id) or (record.text if record is not None else None)
        about = f"<code>{shown(one.id, 60)}</code>" if text is None else passage(text, SHORT)
        about += f" {judged(record)}" if record is not None and judged(record) != "–" else ""
        rows.append(
            [
                Cell(f"<time>{date(one.at)}</time>", one.at),
                Cell(about),
                Cell(chip(one.what, TONE.get(one.what, ""))),
                Cell(by),
            ]
        )
    return f"<h3>The newest {plural(len(rows), 'change')}</h3>" + table("changes", "Changes", TRAIL, rows)
