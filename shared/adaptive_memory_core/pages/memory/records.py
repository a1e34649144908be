"""What is remembered? The records as a table to sort and search, with what reads and verdicts made of each."""

from __future__ import annotations

from adaptive_memory_core.context.ages import age, date
from adaptive_memory_core.pages.charts import meter
from adaptive_memory_core.pages.markup import Cell, Column, chip, number, passage, plural, room, shown, table
from adaptive_memory_core.pages.memory.facts import MemoryFacts
from adaptive_memory_core.pages.shell import Section
from adaptive_memory_core.records import Record

CHARACTERS = 300_000  # of all texts together
COLUMNS = (
    Column("Memory"),
    Column("Importance", "number"),
    Column("Strength", "number"),
    Column("Reads", "number"),
    Column("Last read", "number"),
    Column("Verdicts", "number"),
    Column("Written", "number"),
)
SEARCH = (
    '<div class="tools"><label><span class="hidden">Search the records that are shown</span>'
    '<input type="search" data-filters="records-table" data-counts="records-count" placeholder="Search these records">'
    '</label><span id="records-count" class="meta" role="status"></span></div>'
)


def records(facts: MemoryFacts) -> Section:
    """The table, and what it leaves out."""
    left_out = facts.total - len(facts.records)
    lead = f"All {plural(facts.total, 'record')}: "
    if left_out > 0:
        lead = f"{len(facts.records):,} of {plural(facts.total, 'record')}, the other {left_out:,} are left out: "
    lead += "first what is pinned or remembered, then what was read most, then the newest."
    if not facts.records:
        return Section("records", "What is remembered", "", '<p class="none">Nothing is remembered yet.</p>')
    most = room(CHARACTERS, len(facts.records))
    rows = [_row(one, facts.now, most) for one in facts.records]
    return Section(
        "records", "What is remembered", lead, SEARCH + table("records-table", "Records", COLUMNS, rows, stack=True)
    )


def _row(record: Record, now: float, most: int) -> list[Cell]:
    read = record.read
    importance = record.importance
    last, written = read.last_read, record.created_at
    return [
        Cell(
            f'{passage(record.text, most)}<small class="block"><code>{shown(record.id, 60)}</code> '
            f"{_marks(record, now)}</small>"
        ),
        Cell(
            number(importance, 2) + ("" if importance is None else meter(importance, "importance", 3)),
            importance or 0.0,
        ),
        Cell(number(read.strength, 2) + meter(read.strength, "strength", 5), read.strength),
        Cell(number(read.retrieval_count), read.retrieval_count),
        Cell("never" if last is None else age(last, now=now), last or 0.0),
        Cell(judged(record), read.helpful - read.unhelpful),
        Cell("–" if written is None else f"<time>{date(written)}</time>", written or 0.0),
    ]


def judged(record: Record) -> str:
    """The verdicts that a record got."""
    helpful, unhelpful = record.read.helpful, record.read.unhelpful
    said = chip(f"+{helpful}", "good") if helpful else ""
    said += chip(f"−{unhelpful}", "bad") if unhelpful else ""
    return said or "–"


def _marks(record: Record, now: float) -> str:
    """What is special about a record, in a word each."""
    ended = record.valid_until is not None and record.valid_until <= now
    words = [
        (record.kind or "", ""),
        ("pinned" if record.read.pinned else "", "good"),
        ("remembered" if record.read.remembered else "", "good"),
        ("superseded" if record.superseded_by is not None else "no longer valid" if ended else "", "bad"),
    ]
    return "".join(chip(word, tone) for word, tone in words if word)
