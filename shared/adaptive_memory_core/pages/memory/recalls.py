"""What was asked, and why did it find what it found? Each recall with the parts of each score, and what was dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from adaptive_memory_core.context.ages import date
from adaptive_memory_core.pages.charts import legend, shares
from adaptive_memory_core.pages.markup import SHORT, Cell, Column, chip, number, passage, plural, room, shown, table
from adaptive_memory_core.pages.memory.facts import MemoryFacts
from adaptive_memory_core.pages.shell import Section
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
AROUND = ("around", "before", "company", "near", "session", "speaker")  # what a conversation says of its turns
AROUND_TONE, OTHERS_TONE, LEAST_SHOWN = 9, 7, 0.0005
MOST_HITS, MOST_DROPPED, CHARACTERS = 20, 8, 150_000  # of a recall; of the texts of all hits
HITS = (
    Column("#", "number"),
    Column("Memory"),
    Column("Parts of the score", "parts"),
    Column("Score", "number"),
    Column("Verdict"),
)
DROPPED = (Column("Dropped"), Column("Score", "number"), Column("Because"))
TOOLS = '<div class="tools"><button type="button" data-opens="recall-list">Open all</button></div>'


def recalls(facts: MemoryFacts) -> Section:
    """The newest ones, each to be opened."""
    if not facts.log.recalls:
        return Section("recalls", "Recalls", "", '<p class="none">No recall is in the log.</p>')
    left_out = max(0, facts.stats.logged_recalls - len(facts.log.recalls))
    lead = f"The newest {plural(len(facts.log.recalls), 'recall')}" + (
        f"; {left_out:,} older ones are left out." if left_out else "."
    )
    parts = {name for one in facts.log.recalls for hit in one.kept for name, _ in parts_of(hit)}
    found = {tone_of(name): _named(name) for name in sorted(parts)}
    given = verdicts_of(facts)
    drawn = "".join(_recall(place, one, facts, given) for place, one in enumerate(facts.log.recalls))
    words = legend([name for _, name in sorted(found.items())], sorted(found))
    return Section("recalls", "Recalls", lead, f'{words}{TOOLS}<div id="recall-list">{drawn}</div>')


def tone_of(name: str) -> int:
    """The colour of a part; those that channels of a caller bring share one.

    >>> tone_of("words"), tone_of("session"), tone_of("my channel")
    (1, 9, 7)
    """
    return AROUND_TONE if name in AROUND else TONES.get(name, OTHERS_TONE)


def _named(name: str) -> str:
    """What the colour of a part is called."""
    return "the conversation" if name in AROUND else name.replace("_", " ")


def parts_of(one: LoggedCandidate) -> list[tuple[str, float]]:
    """The parts of a score that are not nothing, each colour's together."""
    parts = [part for part in one.parts.items() if abs(part[1]) >= LEAST_SHOWN]
    return sorted(parts, key=lambda part: (tone_of(part[0]), part[0]))


def place_of(recall_id: str) -> str:
    """Where in the page a recall is to be found."""
    return f"recall-{shown(recall_id, 60)}"


def verdicts_of(facts: MemoryFacts) -> Mapping[tuple[str, str], str]:
    """Which verdict each hit of each recall got, by the ids of both; the last one counts."""
    told = [one for one in facts.log.changes if one.what in ("helpful", "unhelpful") and one.by.startswith("recall ")]
    return {(one.by.removeprefix("recall "), one.id): one.what for one in reversed(told)}


def _recall(place: int, recall: LoggedRecall, facts: MemoryFacts, given: Mapping[tuple[str, str], str]) -> str:
    kept = recall.kept
    found = f"{len(kept)} of {plural(len(recall.candidates), 'candidate')}" if kept else "nothing found"
    summary = (
        f'<summary><b><bdi dir="auto">{shown(recall.cue, 300)}</bdi></b><span class="meta">{found}</span> '
        f"<time>{date(recall.at)}</time></summary>"
    )
    rows = [
        _hit(number_, one, facts, given.get((recall.id, one.id))) for number_, one in enumerate(kept[:MOST_HITS], 1)
    ]
    body = table(f"hits-{place}", "Hits", HITS, rows, stack=True) if rows else ""
    dropped = [one for one in recall.candidates if one.reason is not None]
    if dropped:
        body += table(f"dropped-{place}", "Dropped", DROPPED, _dropped(dropped, facts))
    more = max(0, len(kept) - MOST_HITS) + max(0, len(dropped) - MOST_DROPPED)
    body += f'<p class="none">{more:,} more are left out.</p>' if more else ""
    opened = " open" if place == 0 else ""
    return f'<details class="recall" id="{place_of(recall.id)}"{opened}>{summary}{body}</details>'


def _hit(place: int, one: LoggedCandidate, facts: MemoryFacts, verdict: str | None) -> list[Cell]:
    parts = parts_of(one)
    said = ", ".join(f"{name.replace('_', ' ')} {number(value)}" for name, value in parts)
    bar = shares(said, [(name, value, tone_of(name)) for name, value in parts], one.score or 0.0)
    tone = "good" if verdict == "helpful" else "bad"
    return [
        Cell(number(place), place),
        Cell(_said(one.id, facts, _room(facts))),
        Cell(f"{bar}<small>{shown(said)}</small>", one.score or 0.0),
        Cell(number(one.score), one.score or 0.0),
        Cell(chip(verdict, tone) if verdict else "–", verdict or ""),
    ]


def _dropped(dropped: Sequence[LoggedCandidate], facts: MemoryFacts) -> list[list[Cell]]:
    best = sorted(dropped, key=lambda one: -(one.score or 0.0))[:MOST_DROPPED]
    return [
        [Cell(_said(one.id, facts)), Cell(number(one.score), one.score or 0.0), Cell(shown(one.reason or ""))]
        for one in best
    ]


def _room(facts: MemoryFacts) -> int:
    return room(CHARACTERS, sum(min(MOST_HITS, len(one.kept)) for one in facts.log.recalls))


def _said(name: str, facts: MemoryFacts, most: int = SHORT) -> str:
    text = facts.log.texts.get(name)
    if text is None:
        return f"<code>{shown(name, 60)}</code> <small>is gone</small>"
    return passage(text, most)
