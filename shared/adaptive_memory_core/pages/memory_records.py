"""Sections of a memory's page about records: the data behind the page, records, fading, and themes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from adaptive_memory_core.context.entries import age, date_of
from adaptive_memory_core.context.themes import Theme, Themes
from adaptive_memory_core.pages.charts import Point, bars, line_chart, meter
from adaptive_memory_core.pages.markup import (
    SHOWN_AT_ONCE,
    Section,
    TableCell,
    TableColumn,
    cards,
    chip,
    expandable_text,
    html_table,
    html_text,
    moment,
    number,
    plural,
    room,
)
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Record
from adaptive_memory_core.reports import Change, LoggedRecall, Sample, Stats


@dataclass(frozen=True, slots=True)
class FadingFacts:
    """The decay of unread records: a curve for each kind of memory over `unit` ("recalls" or "days"), and each record's
    point on its curve. Without decay there are no curves."""

    unit: str = "recalls"
    curves: Mapping[str, Sequence[Point]] = field(default_factory=dict)
    records: Sequence[Point] = ()


@dataclass(frozen=True, slots=True)
class NameFacts:
    """The graph's most frequent names in the records shown, and which of them occur together."""

    records: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by name, the ids of records that mention it
    counts: Mapping[str, int] = field(default_factory=dict)  # by name, the number of all records that mention it
    links: Mapping[tuple[str, str], int] = field(default_factory=dict)
    looked_at: int = 0  # records that were read for this
    passages: int = 0  # in the whole graph


@dataclass(frozen=True, slots=True)
class QuestionInLog:
    """A question as last asked, the ids of all its recalls in the log, newest first, and the problem with its answer
    ("" if none)."""

    cue: str
    at: float
    recalls: tuple[str, ...]
    problem: str


@dataclass(frozen=True, slots=True)
class LogFacts:
    """Recalls and feedback in the log. `recalls` are the newest recalls; `questions` groups the newest `counted`
    recalls, and `over_time` counts them per `unit`, "day" or "hour". `texts` are the texts of the records involved, by
    id, if they still exist. `verdicts` are by the ids of a recall and of a record."""

    recalls: Sequence[LoggedRecall] = ()
    questions: Sequence[QuestionInLog] = ()
    over_time: Sequence[tuple[str, int]] = ()
    unit: str = "day"
    counted: int = 0
    texts: Mapping[str, str] = field(default_factory=dict)
    verdicts: Mapping[tuple[str, str], str] = field(default_factory=dict)
    changes: Sequence[Change] = ()


class RecordList(NamedTuple):
    """The first records of a list, and its total length."""

    first: Sequence[Record]
    total: int


@dataclass(frozen=True, slots=True)
class MemoryFacts:
    """The data for the page of one scope. `records` are the first of `total`."""

    whose: str
    now: float
    policy: Policy
    stats: Stats
    records: Sequence[Record]
    total: int
    reads: Mapping[str, int]  # the number of records by number of reads: "0", "1", "2–3", ...
    kinds: Mapping[str, int]
    judged: Sequence[Record]
    helpful: RecordList
    unhelpful: RecordList
    unread: RecordList
    log: LogFacts
    samples: Sequence[Sample]
    themes: Themes
    fading: FadingFacts
    names: NameFacts

    @property
    def fades(self) -> bool:
        """Whether strengths differ or will: false if decay is off and no record has lost strength."""
        return bool(self.fading.curves) or self.stats.strengths.stale > 0


CHARACTERS = 300_000  # of all texts in the table
STRENGTH = TableColumn("Strength", "number")
COLUMNS = (
    TableColumn("Memory"),
    TableColumn("Importance", "number"),
    STRENGTH,
    TableColumn("Reads", "number"),
    TableColumn("Last read", "number"),
    TableColumn("Verdicts", "number"),
    TableColumn("Written", "number"),
)
SEARCH = (
    '<div class="tools"><label><span class="hidden">Search the records that are shown</span>'
    '<input type="search" data-filters="records-table" data-counts="records-count" placeholder="Search these records">'
    '</label><span id="records-count" class="meta" role="status"></span></div>'
)


def records_section(facts: MemoryFacts) -> Section:
    """The table of records, with a note on records that are left out."""
    left_out = facts.total - len(facts.records)
    lead = f"All {plural(facts.total, 'record')}: "
    if left_out > 0:
        lead = f"{len(facts.records):,} of {plural(facts.total, 'record')}, the other {left_out:,} are left out: "
    lead += "pinned or remembered records first, then the most read, then the newest."
    if not facts.records:
        return Section("records", "What is remembered", "", '<p class="none">Nothing is remembered yet.</p>')
    most = room(CHARACTERS, len(facts.records))
    columns = [one for one in COLUMNS if facts.fades or one is not STRENGTH]
    rows = [_row(one, facts, most) for one in facts.records]
    return Section(
        "records", "What is remembered", lead, SEARCH + html_table("records-table", "Records", columns, rows)
    )


def _row(record: Record, facts: MemoryFacts, most: int) -> list[TableCell]:
    read, importance = record.read, record.importance
    strength = TableCell(number(read.strength, 2) + meter(read.strength, "strength", 5), read.strength)
    return [
        TableCell(
            f'{expandable_text(record.text, most)}<small class="block"><code>{html_text(record.id, 60)}</code> '
            f"{marks(record, facts.now)}</small>"
        ),
        TableCell(
            number(importance, 2) + ("" if importance is None else meter(importance, "importance", 3)),
            importance or 0.0,
        ),
        *([strength] if facts.fades else []),
        TableCell(number(read.retrieval_count), read.retrieval_count),
        _last_read(read.last_read, facts.now),
        TableCell(verdict_counts(record), read.helpful - read.unhelpful),
        TableCell("–", 0.0) if record.created_at is None else TableCell(moment(record.created_at), record.created_at),
    ]


def _last_read(at: float | None, now: float) -> TableCell:
    if at is None:
        return TableCell("never", 0.0)
    return TableCell(f'{age(at, now=now)}<small class="block">{moment(at)}</small>', at)


def verdict_counts(record: Record) -> str:
    """The numbers of helpful and unhelpful verdicts on a record."""
    helpful, unhelpful = record.read.helpful, record.read.unhelpful
    chips = chip(f"+{helpful}", "good") if helpful else ""
    chips += chip(f"−{unhelpful}", "bad") if unhelpful else ""
    return chips or "–"


def marks(record: Record, now: float) -> str:
    """One-word marks for the special properties of a record."""
    ended = record.valid_until is not None and record.valid_until <= now
    words = [
        (record.kind or "", ""),
        ("pinned" if record.read.pinned else "", "good"),
        ("remembered" if record.read.remembered else "", "good"),
        ("superseded" if record.superseded_by is not None else "no longer valid" if ended else "", "bad"),
    ]
    return "".join(chip(word, tone) for word, tone in words if word)


BINS = [f"{place / 10:.1f}" for place in range(10)]


def reading_section(facts: MemoryFacts) -> Section:
    """Charts of reads and recalls, and of strengths and their decay if any."""
    charts = _strengths(facts) if facts.fades else []
    charts.append(
        (
            "Reads",
            bars("Records by how often they were read", list(facts.reads.items())),
            "Records by number of reads.",
        )
    )
    if facts.log.counted:
        charts.append(
            (
                f"Recalls per {facts.log.unit}",
                bars(f"Recalls per {facts.log.unit}", facts.log.over_time, tone=1),
                f"The newest {plural(facts.log.counted, 'logged recall')}.",
            )
        )
    if len(facts.samples) > 1:
        charts.append(("Over time", _over_time(facts), "By the user's recalls, as the ledger sampled them."))
    return Section("reading", "Strength and reading" if facts.fades else "Reading", "", cards(charts))


def _strengths(facts: MemoryFacts) -> list[tuple[str, str, str]]:
    strengths = facts.stats.strengths
    summary = (
        f"{plural(strengths.size, 'record')} of at least {strengths.at_least:g}; {strengths.stale:,} have lost some."
    )
    histogram = bars("Records by strength", list(zip(BINS, strengths.histogram, strict=True)), tone=5)
    charts = [("Strength", histogram, summary)]
    if facts.fading.curves:
        title, summary = f"Decay over {facts.fading.unit} without a read", "A line for each kind of memory"
        summary += "; the dots are the records of the table below." if facts.fading.records else "."
        curves = line_chart(
            title, facts.fading.curves, dots=facts.fading.records, across=facts.fading.unit, range_of=(0.0, 1.0)
        )
        charts.append((title, curves, summary))
    return charts


def _over_time(facts: MemoryFacts) -> str:
    samples = facts.samples
    series = {"share remembered": [Point(one.step, one.remembered_fraction) for one in samples]}
    if facts.fades:
        series = {"mean strength": [Point(one.step, one.strengths.mean) for one in samples], **series}
    return line_chart("Over time", series, across="recalls", range_of=(0.0, 1.0))


WIDTH, MARGIN, SMALLEST = 960, 6, 14  # pixels
MOST_DRAWN = 200  # themes, the largest ones; all of them are in the list
MOST_THEMES, MOST_KNOWN = 60, 25
TOOLS = '<div class="tools"><button type="button" data-opens="theme-list">Open all</button></div>'


def themes_section(found: Themes, most: int = MOST_THEMES) -> Section | None:
    """The themes of the user's conversations; None if no conversation was observed."""
    if not len(found):
        return None
    numbers = found.statistics
    lead = (
        f"{plural(numbers.messages, 'message')} in {plural(numbers.episodes, 'episode')} "
        f"and {plural(len(found), 'theme')}"
        + (f"; {plural(numbers.waiting, 'message')} are not worked in yet" if numbers.waiting else "")
        + (f". The largest {most} are shown." if len(found) > most else ".")
    )
    drawn = list(found)[:most]
    body = circles([(one.name, len(one.known)) for one in drawn], "theme-")
    listed = "".join(_theme(place, one) for place, one in enumerate(drawn))
    return Section(
        "themes", "Themes", lead, f'{body}{TOOLS}<div id="theme-list" data-shows="{SHOWN_AT_ONCE}">{listed}</div>'
    )


def _theme(place: int, theme: Theme) -> str:
    days = (
        date_of(theme.begins)
        if date_of(theme.begins) == date_of(theme.ends)
        else f"{date_of(theme.begins)} to {date_of(theme.ends)}"
    )
    known = "".join(_known(one.at, one.text, one.episode, one.replaced) for one in theme.known[-MOST_KNOWN:])
    left_out = len(theme.known) - MOST_KNOWN
    more = f'<p class="none">{left_out:,} older ones are left out.</p>' if left_out > 0 else ""
    return (
        f'<details class="theme" id="theme-{place}"><summary><b>{html_text(theme.name, 80)}</b>'
        f'<span class="meta">{plural(len(theme.ids), "message")}</span> <time>{days}</time></summary>'
        f"<ul>{known}</ul>{more}</details>"
    )


def _known(at: float, text: str, episode: str, replaced: tuple[str, ...]) -> str:
    before = "; ".join(html_text(one, 120) for one in replaced[:3])
    return (
        f'<li>{moment(at)} <bdi dir="auto">{html_text(text, 400)}</bdi>'
        + (f" <small>before: <del>{before}</del></small>" if before else "")
        + f' <small class="meta">{html_text(episode, 80)}</small></li>'
    )


def circles(themes: Sequence[tuple[str, int]], to: str) -> str:
    """Names as circles in rows, sized by the number of statements, largest first. Each links to `to` and its number."""
    drawn, x, y, height = [], 0.0, 0.0, 0.0
    for place, (name, known) in enumerate(themes[:MOST_DRAWN]):
        radius = SMALLEST * math.sqrt(1 + known)
        if x + 2 * radius > WIDTH:
            x, y, height = 0.0, y + height + MARGIN, 0.0
        height = max(height, 2 * radius)
        drawn.append(_circle(f"{to}{place}", name, x + radius, y + radius, radius))
        x += 2 * radius + MARGIN
    size = f"-1 -1 {WIDTH + 2} {y + height + 2:.0f}"
    return f'<svg class="circles" viewBox="{size}">{"".join(drawn)}</svg>' if drawn else ""


def _circle(place: str, name: str, x: float, y: float, radius: float) -> str:
    fitting = max(3, int(radius / 3.2))  # characters
    drawn = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"><title>{html_text(name)}</title></circle>'
    return f'<a href="#{place}">{drawn}<text x="{x:.1f}" y="{y + 4:.1f}">{html_text(name, fitting)}</text></a>'
