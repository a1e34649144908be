"""Sections of a memory's page about recalls: scores and their parts, dropped candidates, and effects of feedback."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive_memory_core.pages.charts import Scale, legend, shares, svg_chart
from adaptive_memory_core.pages.markup import (
    SHORT,
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
from adaptive_memory_core.pages.memory_insights import asked, recall_anchor
from adaptive_memory_core.pages.memory_records import MemoryFacts, QuestionInLog, verdict_counts
from adaptive_memory_core.policy.advanced import AROUND, OF_TURNS
from adaptive_memory_core.records import Record
from adaptive_memory_core.reports import LoggedCandidate, LoggedRecall

TONES = {
    "similarity": 0,
    "words": 1,
    "recency": 2,
    "importance": 3,
    "useful": 4,
    "strength": 5,
    "graph": 6,
    "asked_before": 8,
}
AROUND_PARTS = (AROUND, *OF_TURNS)  # parts of a score that come from the conversation
AROUND_TONE, OTHERS_TONE, LEAST_SHOWN = 9, 7, 0.0005
MOST_HITS, MOST_DROPPED, CHARACTERS = 20, 8, 150_000  # of a recall; of the texts of all hits
HITS = (
    TableColumn("#", "number"),
    TableColumn("Memory"),
    TableColumn("Parts of the score", "parts"),
    TableColumn("Score", "number"),
    TableColumn("Verdict"),
)
DROPPED = (TableColumn("Dropped"), TableColumn("Score", "number"), TableColumn("Because"))
TOOLS = '<div class="tools"><button type="button" data-opens="recall-list">Open all</button></div>'


def recalls_section(facts: MemoryFacts) -> Section:
    """The newest recalls, grouped by question; each question can be opened."""
    if not facts.log.recalls:
        return Section("recalls", "Recalls", "", '<p class="none">No recall is in the log.</p>')
    left_out = max(0, facts.stats.logged_recalls - len(facts.log.recalls))
    lead = f"The newest {plural(len(facts.log.recalls), 'recall')}" + (
        f"; {left_out:,} older ones are left out." if left_out else "."
    )
    parts = {name for one in facts.log.recalls for hit in one.kept for name, _ in score_parts(hit)}
    found = {tone_of(name): _named(name) for name in sorted(parts)}
    newest = {one.id: one for one in facts.log.recalls}
    drawn = "".join(
        _question(place, one, [newest[name] for name in one.recalls if name in newest], facts)
        for place, one in enumerate(one for one in facts.log.questions if one.recalls[0] in newest)
    )
    words = legend([name for _, name in sorted(found.items())], sorted(found))
    return Section(
        "recalls", "Recalls", lead, f'{words}{TOOLS}<div id="recall-list" data-shows="{SHOWN_AT_ONCE}">{drawn}</div>'
    )


def tone_of(name: str) -> int:
    """The colour of a part; the caller's channels share one colour.

    >>> tone_of("words"), tone_of("speaker"), tone_of("my channel")
    (1, 9, 7)
    """
    return AROUND_TONE if name in AROUND_PARTS else TONES.get(name, OTHERS_TONE)


def _named(name: str) -> str:
    """The name of a part's colour in the legend."""
    return "the conversation" if name in AROUND_PARTS else name.replace("_", " ")


def score_parts(one: LoggedCandidate) -> list[tuple[str, float]]:
    """The parts of a score that are not close to 0, ordered by colour."""
    parts = [part for part in one.parts.items() if abs(part[1]) >= LEAST_SHOWN]
    return sorted(parts, key=lambda part: (tone_of(part[0]), part[0]))


def _question(place: int, question: QuestionInLog, recalls: Sequence[LoggedRecall], facts: MemoryFacts) -> str:
    """The newest recall of a question, with the earlier recalls inside."""
    newest, *earlier = recalls
    summary = (
        f'<summary><b><bdi dir="auto">{html_text(newest.cue, 300)}</bdi></b>{asked(question)}'
        f'<span class="meta">{_found(newest)}</span> {moment(newest.at)}</summary>'
    )
    body = _tables(f"{place}", newest, facts)
    if len(question.recalls) > 1:
        before = "".join(_earlier(f"{place}-{number_}", one, facts) for number_, one in enumerate(earlier))
        left_out = len(question.recalls) - len(recalls)
        more = f'<p class="none">and {left_out:,} more</p>' if left_out else ""
        body += f"<h3>Asked before</h3>{before}{more}"
    opened = " open" if place == 0 else ""
    return f'<details class="recall" id="{recall_anchor(newest.id)}"{opened}>{summary}{body}</details>'


def _earlier(name: str, recall: LoggedRecall, facts: MemoryFacts) -> str:
    summary = f'<summary>{moment(recall.at)} <span class="meta">{_found(recall)}</span></summary>'
    return f'<details class="earlier" id="{recall_anchor(recall.id)}">{summary}{_tables(name, recall, facts)}</details>'


def _found(recall: LoggedRecall) -> str:
    return f"{len(recall.kept)} of {plural(len(recall.candidates), 'candidate')}"


def _tables(name: str, recall: LoggedRecall, facts: MemoryFacts) -> str:
    """The hits and the dropped candidates of a recall."""
    hits = recall.kept
    rows = [
        _hit(place, one, facts, facts.log.verdicts.get((recall.id, one.id)))
        for place, one in enumerate(hits[:MOST_HITS], 1)
    ]
    body = html_table(f"hits-{name}", "Hits", HITS, rows) if rows else '<p class="none">Nothing was found.</p>'
    dropped = [one for one in recall.candidates if one.reason is not None]
    if dropped:
        body += html_table(f"dropped-{name}", "Dropped", DROPPED, _dropped(dropped, facts))
    more = max(0, len(hits) - MOST_HITS) + max(0, len(dropped) - MOST_DROPPED)
    return body + (f'<p class="none">and {more:,} more candidates</p>' if more else "")


def _hit(place: int, one: LoggedCandidate, facts: MemoryFacts, verdict: str | None) -> list[TableCell]:
    parts = score_parts(one)
    summary = ", ".join(f"{name.replace('_', ' ')} {number(value)}" for name, value in parts)
    bar = shares(summary, [(name, value, tone_of(name)) for name, value in parts], one.score or 0.0)
    tone = "good" if verdict == "helpful" else "bad"
    return [
        TableCell(number(place), place),
        TableCell(_text_of(one.id, facts, _room(facts))),
        TableCell(f"{bar}<small>{html_text(summary)}</small>", one.score or 0.0),
        TableCell(number(one.score), one.score or 0.0),
        TableCell(chip(verdict, tone) if verdict else "–", verdict or ""),
    ]


def _dropped(dropped: Sequence[LoggedCandidate], facts: MemoryFacts) -> list[list[TableCell]]:
    best = sorted(dropped, key=lambda one: -(one.score or 0.0))[:MOST_DROPPED]
    return [
        [
            TableCell(_text_of(one.id, facts)),
            TableCell(number(one.score), one.score or 0.0),
            TableCell(html_text(one.reason or "")),
        ]
        for one in best
    ]


def _room(facts: MemoryFacts) -> int:
    return room(CHARACTERS, sum(min(MOST_HITS, len(one.kept)) for one in facts.log.recalls))


def _text_of(name: str, facts: MemoryFacts, most: int = SHORT) -> str:
    text = facts.log.texts.get(name)
    if text is None:
        return f"<code>{html_text(name, 60)}</code> <small>is gone</small>"
    return expandable_text(text, most)


MOST_DRAWN = 16
NEUTRAL = 0.5  # the importance of a record that was written without one
TRAIL = (TableColumn("When", "number"), TableColumn("Memory"), TableColumn("What"), TableColumn("By"))
TONE = {
    "helpful": "good",
    "unhelpful": "bad",
    "pinned": "good",
    "remembered": "good",
    "demoted": "bad",
    "pruned": "bad",
}
NOTHING = '<p class="none">Nobody has judged a memory yet, pinned one or demoted one.</p>'


def verdicts_section(facts: MemoryFacts) -> Section:
    """The effect of feedback, followed by each change."""
    if not facts.log.changes and not facts.judged:
        return Section("verdicts", "Verdicts", "", NOTHING)
    lead = (
        f"{plural(facts.stats.verdicts, 'verdict')} so far. A verdict moves a record's importance a little and makes "
        "it useful for some time; usefulness counts "
        f"{facts.stats.useful_gain:.0%} of its full weight, as far as it has helped so far."
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
    more = f" And {len(moved) - MOST_DRAWN:,} more." if len(moved) > MOST_DRAWN else ""
    return f"Hollow: as written; filled: after feedback.{more}"


def _pairs(moved: list[Record]) -> str:
    """A line from the original to the current importance for each record, largest change first."""
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
    return svg_chart(
        f"Importance of {plural(len(drawn), 'record')} before and after verdicts",
        "".join(rows),
        height=foot + 8,
        kind="chart tall",
    )


def _pair(place: int, record: Record, x: Scale) -> str:
    y, before, after = 14 + 22 * place, _before(record), _after(record)
    tone = 3 if after >= before else 6
    return (
        f"<g><title>{html_text(record.text)}: {number(before)} to {number(after)}</title>"
        f'<text class="end name" x="178" y="{y + 4}">{html_text(record.text, 24)}</text>'
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
        by = f'<a href="#{recall_anchor(recall)}">a recall</a>' if recall in there else html_text(one.by, 60)
        record = known.get(one.id)
        text = facts.log.texts.get(one.id) or (record.text if record is not None else None)
        about = f"<code>{html_text(one.id, 60)}</code>" if text is None else expandable_text(text, SHORT)
        about += f" {verdict_counts(record)}" if record is not None and verdict_counts(record) != "–" else ""
        rows.append(
            [
                TableCell(moment(one.at), one.at),
                TableCell(about),
                TableCell(chip(one.what, TONE.get(one.what, ""))),
                TableCell(by),
            ]
        )
    return f"<h3>The newest {plural(len(rows), 'change')}</h3>" + html_table("changes", "Changes", TRAIL, rows)
