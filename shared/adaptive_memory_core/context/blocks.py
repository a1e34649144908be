"""Results shown together: those of one conversation in one block, in order, with episodes, themes and facts."""

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
    """Where a message stands: its episode by number, the episode's title, the theme that most of it is about; from the
    top down also what happened in the episode, and the ids of its messages that may be shown."""

    episode: int
    title: str = ""
    theme: str | None = None
    narrative: str = ""
    messages: Sequence[str] = ()

    @property
    def heading(self) -> str:
        """The way from the theme down to the episode, in words.

        >>> MessagePlace(3, "A pottery class", "pottery, clay").heading
        'pottery, clay > A pottery class'
        >>> MessagePlace(3, "A walk").heading, MessagePlace(3).heading
        ('A walk', '')
        """
        return " > ".join(one for one in (self.theme, self.title) if one)


class OutlineFact(NamedTuple):
    """A semantic that was chosen: what it says, its theme, when it was said, and by which messages (ids as the user
    knows them)."""

    text: str
    theme: str | None
    at: float
    of: Sequence[str]


@dataclass(frozen=True, slots=True)
class Outline:
    """The places of hits and of their neighbours, by id, the facts, best first, and the themes they are from.

    `apart` says that each episode is shown by itself, even if several are of one session. `summed_up` are the hits
    whose episode is shown by its narrative instead of all its messages. `judged` says that a reader has chosen the
    episodes, given the facts: a page then shows the facts first, as they were read. Without a reader the facts come
    last, since whole episodes hold more evidence in fewer tokens (docs/research/conversations.md). `more` are the next
    best if a set is asked for: a page shows them if its budget leaves room, and they are not hits.
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


DISTILLED = "distilled"  # the kind that a fact is shown with: a sentence of a message that is not shown itself
READ_ALONE = 1_600  # characters of the first hits, read before what is next to them; docs/research/conversations.md
BETWEEN_THEMES = " | "  # in a heading; commas and semicolons part other things there
_FACTS = "\0facts"  # nobody's name


@dataclass(frozen=True, slots=True)
class PageLine:
    """One memory in its block: `rank` among the hits, None for a mere neighbour of one; `order` in the block."""

    record: Record
    block: int
    rank: int | None
    order: tuple[float, int, int]
    whose: str | None = None  # the shared scope it is of
    older: str | None = None  # what is said of it where another hit says what it has become
    fact: bool = False  # whether it is a fact, whose id is that of a message that says it


@dataclass(frozen=True, slots=True)
class Page:
    """All there is to show. `units` are the numbers of the lines that belong to each hit, best hit first: its own line,
    then those of its neighbours; and then one for each fact. `headings` say what blocks are about; `whole` that a unit
    is an episode, which belongs together."""

    lines: list[PageLine]
    units: list[list[int]]
    headings: Mapping[int, str] = field(default_factory=dict)
    whole: bool = False

    @property
    def by_worth(self) -> list[list[int]]:
        """The units, those most worth their tokens first: the first short hits alone, since each may be the answer,
        then the same hits with their neighbours, then the rest. A long reply gets its neighbours at once: the question
        that it answers costs little in comparison.

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
    )  # of each episode or session and whose it is: its block, and the best score in it
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
    """The hits and their neighbours as lines of blocks. A hit joins the block of a better one of its session, or of
    its episode where there is none or episodes stand apart, if its score is at least `merge` of that one's; what is of
    neither stands alone. Facts of one theme are a block.

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
    """The number of the block that a hit belongs to: that of its session, if it is good enough for it, or a new one."""
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
    """What a session's block is about: the themes of its hits.

    >>> _themes("pottery", MessagePlace(1, "A walk", "dogs, walks")), _themes("dogs", MessagePlace(1, "A walk", "dogs"))
    ('pottery | dogs/walks', 'dogs')
    """
    known = before.split(BETWEEN_THEMES) if before else []
    theme = _in_heading(place.theme or "")
    return BETWEEN_THEMES.join([*known, theme] if theme and theme not in known else known)


def _way_to(place: MessagePlace) -> str:
    """From the theme down to the episode."""
    return place._replace(theme=_in_heading(place.theme or "")).heading


def _in_heading(theme: str) -> str:
    """A theme's name among the marks of a page, where commas part other things.

    >>> _in_heading("pottery, clay")
    'pottery/clay'
    """
    return theme.replace(", ", "/")


def _facts(making: _Making) -> list[list[int]]:
    return [[_add_fact(making, fact)] for fact in making.outline.facts]


def _add_fact(making: _Making, fact: OutlineFact) -> int:
    """The number of the line of a fact, in the block of its theme."""
    known = making.open.get((_FACTS, fact.theme or ""))
    if known is None:
        known = making.open[_FACTS, fact.theme or ""] = (making.blocks, 0.0)
        making.headings[making.blocks] = _in_heading(fact.theme or "")
        making.blocks += 1
    record = Record(next(iter(fact.of), ""), fact.text, DISTILLED, created_at=fact.at)
    making.lines.append(PageLine(record, known[0], None, (fact.at, 0, 0), fact=True))
    return len(making.lines) - 1


def _add_narrative(making: _Making, hit: Scored, block: int) -> int:
    """The number of the line that tells the episode of a hit, before what is quoted of it."""
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
    beside: int,
    fields: Fields,
    hit: Scored | None,
) -> int:
    place = turn_of(record.text, record.metadata, fields, created_at=record.created_at).place
    order = (0.0 if place is None else place, offset, beside)
    making.numbers[record.id] = len(making.lines)
    whose, older = (None, None) if hit is None else (hit.shared, outdated(hit))
    making.lines.append(PageLine(record, block, rank, order, whose, older))
    return len(making.lines) - 1
