"""Blocks of results: hits of one conversation together, in order, with episodes, themes and facts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, takewhile
from typing import NamedTuple

from adaptive_memory_core.channels.turns import Turn, turn_of
from adaptive_memory_core.context.entries import outdated
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.records import Neighbour, Record, Scored


class MessagePlace(NamedTuple):
    """The place of a message: its episode's number, title and main theme. For recalls from the top down also the
    episode's narrative, and the ids of its messages that may be shown."""

    episode: int
    title: str = ""
    theme: str | None = None
    narrative: str = ""
    messages: Sequence[str] = ()

    @property
    def heading(self) -> str:
        """The theme and the episode's title as a path.

        >>> MessagePlace(3, "A pottery class", "pottery, clay").heading
        'pottery, clay > A pottery class'
        >>> MessagePlace(3, "A walk").heading, MessagePlace(3).heading
        ('A walk', '')
        """
        return " > ".join(one for one in (self.theme, self.title) if one)


class OutlineFact(NamedTuple):
    """A chosen semantic: its text, its theme, its time, and the ids of its messages as the user gave them."""

    text: str
    theme: str | None
    at: float
    of: Sequence[str]


@dataclass(frozen=True, slots=True)
class Outline:
    """The places of hits and neighbours by id, the facts, best first, and the themes that they come from.

    If `apart`, each episode is shown by itself, even if several belong to one session. `summed_up` are the hits whose
    episode is shown as its narrative instead of all its messages. If `judged`, a reader chose the episodes after
    reading the facts, so a page shows the facts first. Without a reader the facts come last, since whole episodes
    contain more evidence in fewer tokens (docs/research/conversations.md). `more` are the next best results for a query
    that asks for a set: a page shows them if its budget allows, but they are not hits.
    """

    places: Mapping[str, MessagePlace] = field(default_factory=dict)
    facts: Sequence[OutlineFact] = ()
    themes: Sequence[str] = ()
    apart: bool = False
    summed_up: frozenset[str] = frozenset()
    judged: bool = False
    more: Sequence[Scored] = ()

    def __bool__(self) -> bool:
        return bool(self.places or self.facts)


NO_OUTLINE = Outline()


DISTILLED = "distilled"  # the kind shown with a fact: a sentence from a message that is not itself shown
READ_ALONE = 1_600  # characters of the first hits that come before any neighbours; docs/research/conversations.md
BETWEEN_THEMES = " | "  # in a heading, where commas and semicolons separate other things
_FACTS = "\0facts"  # cannot be a user's name


@dataclass(frozen=True, slots=True)
class PageLine:
    """One memory in its block: `rank` among the hits, None for a neighbour of a hit; `order` in the block."""

    record: Record
    block: int
    rank: int | None
    order: tuple[float, int, int]
    whose: str | None = None  # the shared scope that it belongs to
    older: str | None = None  # the mark of an outdated memory, if a newer hit differs
    fact: bool = False  # whether it is a fact, shown with the id of its message


@dataclass(frozen=True, slots=True)
class Page:
    """Everything that can be shown. `units` are the numbers of each hit's lines, best hit first: its own line, then its
    neighbours'. Each fact is a separate unit. `headings` are the topics of blocks. If `whole`, a unit is an episode
    that must stay together."""

    lines: list[PageLine]
    units: list[list[int]]
    headings: Mapping[int, str] = field(default_factory=dict)
    whole: bool = False

    @property
    def by_worth(self) -> list[list[int]]:
        """The units, most valuable per token first. The first short hits come alone, since each may be the answer, then
        the same hits with their neighbours, then the rest. A long reply gets its neighbours at once: in comparison,
        the question that it answers costs little.

        >>> def lengths(*characters: int) -> list[int]:
        ...     lines = [PageLine(Record(str(n), "x" * many), 0, n, (n, 0, n)) for n, many in enumerate(characters)]
        ...     return [len(unit) for unit in Page(lines, [[0, 1], [2], [3]]).by_worth]
        >>> lengths(90, 90, 90, 90), lengths(9_000, 90, 90, 90)
        ([1, 1, 1, 2], [2, 1, 1])
        """
        if self.whole:
            return self.units
        ends = accumulate(len(self.lines[unit[0]].record.text) for unit in self.units)
        alone = sum(1 for _ in takewhile(lambda end: end <= READ_ALONE, ends))
        first = self.units[:alone]
        return [*(unit[:1] for unit in first), *(unit for unit in first if len(unit) > 1), *self.units[alone:]]


@dataclass(slots=True)
class _Making:
    lines: list[PageLine] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)  # of the lines, by the record's id
    open: dict[tuple[str | None, str | int], tuple[int, float]] = field(
        default_factory=dict
    )  # (shared scope, episode or session) to its block and the best score in it
    headings: dict[int, str] = field(default_factory=dict)
    outline: Outline = NO_OUTLINE
    blocks: int = 0


def session_blocks(
    hits: Sequence[Scored],
    neighbours: Sequence[Neighbour],
    *,
    merge: float,
    fields: Fields,
    outline: Outline = NO_OUTLINE,
) -> Page:
    """The hits and their neighbours as lines of blocks. A hit joins the block of a better hit of its session if its
    score is at least `merge` times the better hit's. Without a session, or if episodes are shown apart, the episode is
    used instead; a hit with neither gets its own block. Facts of one theme form a block.

    >>> from adaptive_memory_core.records import Hit
    >>> hits = [Scored(Hit(Record(name, name, metadata={"session": "s"}), 0.5, name), score, {}, {})
    ...         for name, score in (("a", 0.9), ("b", 0.8), ("c", 0.1))]
    >>> [line.block for line in session_blocks(hits, [], merge=0.85, fields=Fields()).lines]
    [0, 0, 1]
    """
    making, ranks = _Making(outline=outline), {hit.id: rank for rank, hit in enumerate(hits)}
    around: dict[str, list[Neighbour]] = {}
    for one in neighbours:
        around.setdefault(one.of, []).append(one)
    units = _facts(making) if outline.judged else []
    for rank, hit in enumerate(hits):
        turn = turn_of(hit.text, hit.record.metadata, fields, created_at=hit.record.created_at)
        number = making.numbers.get(hit.id)
        if number is None or making.lines[number].rank != rank:
            number = _add(making, hit.record, _block(making, turn, hit, merge), rank, 0, rank, fields, hit)
        unit = [number]
        for one in around.get(hit.id, ()):
            known = making.numbers.get(one.record.id)
            block, own = making.lines[number].block, ranks.get(one.record.id)
            if known is None:
                found = None if own is None else hits[own]
                known = _add(making, one.record, block, own, one.offset, rank, fields, found)
            unit.append(known)
        if hit.id in outline.summed_up:
            unit.append(_add_narrative(making, hit, making.lines[number].block))
        units.append(unit)
    units += [] if outline.judged else _facts(making)
    return Page(making.lines, units, making.headings, whole=outline.apart)


def _block(making: _Making, turn: Turn, hit: Scored, merge: float) -> int:
    """The number of a hit's block: its session's, if the hit's score is high enough, or a new block."""
    place = making.outline.places.get(hit.id)
    apart = place is not None and (making.outline.apart or turn.session is None)
    of = place.episode if place is not None and apart else turn.session
    known = None if of is None else making.open.get((hit.shared, of))
    if known is None or hit.score < merge * known[1]:
        known = (making.blocks, hit.score)
        making.blocks += 1
        if of is not None:
            making.open[hit.shared, of] = known
    if place is not None:
        making.headings[known[0]] = _way_to(place) if apart else _themes(making.headings.get(known[0], ""), place)
    return known[0]


def _themes(before: str, place: MessagePlace) -> str:
    """The heading of a session's block: the themes of its hits.

    >>> _themes("pottery", MessagePlace(1, "A walk", "dogs, walks")), _themes("dogs", MessagePlace(1, "A walk", "dogs"))
    ('pottery | dogs/walks', 'dogs')
    """
    known = before.split(BETWEEN_THEMES) if before else []
    theme = _in_heading(place.theme or "")
    return BETWEEN_THEMES.join([*known, theme] if theme and theme not in known else known)


def _way_to(place: MessagePlace) -> str:
    """The path from the theme to the episode."""
    return place._replace(theme=_in_heading(place.theme or "")).heading


def _in_heading(theme: str) -> str:
    """A theme's name for a heading, where commas separate other things.

    >>> _in_heading("pottery, clay")
    'pottery/clay'
    """
    return theme.replace(", ", "/")


def _facts(making: _Making) -> list[list[int]]:
    return [[_add_fact(making, fact)] for fact in making.outline.facts]


def _add_fact(making: _Making, fact: OutlineFact) -> int:
    """Add a fact to the block of its theme, and return the number of its line."""
    known = making.open.get((_FACTS, fact.theme or ""))
    if known is None:
        known = making.open[_FACTS, fact.theme or ""] = (making.blocks, 0.0)
        making.headings[making.blocks] = _in_heading(fact.theme or "")
        making.blocks += 1
    record = Record(next(iter(fact.of), ""), fact.text, DISTILLED, created_at=fact.at)
    making.lines.append(PageLine(record, known[0], None, (fact.at, 0, 0), fact=True))
    return len(making.lines) - 1


def _add_narrative(making: _Making, hit: Scored, block: int) -> int:
    """Add the narrative of a hit's episode in front of its messages, and return the number of its line."""
    text = making.outline.places[hit.id].narrative
    record = Record(hit.id, text, DISTILLED, created_at=hit.record.created_at)
    making.lines.append(PageLine(record, block, None, (-math.inf, 0, 0), fact=True))
    return len(making.lines) - 1


def _add(
    making: _Making,
    record: Record,
    block: int,
    rank: int | None,
    offset: int,
    distance: int,
    fields: Fields,
    hit: Scored | None,
) -> int:
    place = turn_of(record.text, record.metadata, fields, created_at=record.created_at).place
    order = (0.0 if place is None else place, offset, distance)
    making.numbers[record.id] = len(making.lines)
    whose, older = (None, None) if hit is None else (hit.shared, outdated(hit))
    making.lines.append(PageLine(record, block, rank, order, whose, older))
    return len(making.lines) - 1
