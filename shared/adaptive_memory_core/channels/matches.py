"""Matches between a cue's words and records, and the evidence that they give for each candidate.

A turn of a conversation contains little information, so the words of its neighbours and of its session count as well.
A record outside a conversation has no neighbours. It gets what the turns of the conversation reach by chance, so that
neither kind has an advantage.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np

from adaptive_memory_core.channels.sessions import AROUND, Conversation, Layout, says_name, windows_with_word
from adaptive_memory_core.channels.turns import stated
from adaptive_memory_core.channels.words_of_text import Forms
from adaptive_memory_core.late import late_pattern
from adaptive_memory_core.policy.advanced import ANSWERS, MOST_OF_KINDS, MOST_OF_WORDS, WORDS, Fusion
from adaptive_memory_core.policy.advanced import AROUND as WORDS_AROUND
from adaptive_memory_core.score.ranking import Candidates
from adaptive_memory_core.score.surprise import baseline_in, of_kind, of_meaning, of_number, of_word, without_word

MOST_WORDS = 256  # different words of a query that are looked up, ten times as many as in a usual question; guess
_NUMBER = late_pattern(r"(?:\d\D*){3}")  # must match exactly; two digits would include most ages and days
NOWHERE, NOTHING = np.empty(0, dtype=np.int64), np.empty(0)  # the posting of a word that no record contains
Array = Any


class Posting(NamedTuple):
    """The records that contain a word, and its evidence: `nats[i]` for the record or window with the number `slots[i]`.
    The windows of the layout are numbered after the records. `exact` is the additional evidence of a number or code,
    which the nats of the records include. `rate` is the value of `without_word`, per word of a text."""

    docs: Array
    slots: Array
    nats: Array
    exact: float
    rate: float


Asked = Mapping[Forms, tuple[float, Posting]]  # each word of a cue, with its number of occurrences and its posting


def posting(word: Forms, docs: Array, talk: Conversation) -> Posting:
    """The posting of a word, given the records that contain it.

    >>> layout = Layout(np.array([2.0, 2.0]), 2, np.arange(2), np.arange(2), np.arange(1, 3))
    >>> found = posting("tea", np.array([0]), Conversation(layout, False, {}, False, np.arange(2)))
    >>> found.slots.tolist(), found.nats.round(1).tolist(), found.exact
    ([0], [3.1], 0.0)
    """
    layout, holding, first = talk.layout, len(docs), len(talk.layout.lengths)
    average = float(layout.lengths.sum()) / max(1, layout.live) or 1.0  # of the records' lengths in words
    exact = of_number(max(0.5, holding), layout.live) if _is_number(word) else 0.0
    slots, lengths = [docs], [layout.lengths[docs]]
    if holding and talk.people is not None and layout.surroundings is not None:
        for windows in layout.surroundings.windows:
            there = windows_with_word(layout.surroundings, windows, docs)
            slots.append(there + first)
            lengths.append(windows.long[there])
            first += len(windows.long)
    nats = of_word(max(0.5, holding), layout.live, np.concatenate(lengths) / average)
    nats[:holding] += exact
    rate = without_word(max(0.5, holding), layout.live)
    return Posting(docs, np.concatenate(slots), nats, exact, rate / average)


def _is_number(word: Forms) -> bool:
    """Whether a word is a number, a code or a date with at least three digits, which must match exactly.

    >>> _is_number("1001"), _is_number(("c7007",)), _is_number("mp3")
    (True, True, False)
    """
    return _NUMBER.search(word if isinstance(word, str) else word[0]) is not None


class Matches(NamedTuple):
    """Evidence in nats for each record, from its own words and from the words around it (None without conversations);
    and the maximum for the words of this query."""

    own: Array
    around: Array | None
    most: float


def matches(asked: Asked, talk: Conversation) -> Matches:
    """The evidence for each record from the query's words.

    >>> layout = Layout(np.array([2.0, 2.0]), 2, np.arange(2), np.arange(2), np.arange(1, 3))
    >>> talk = Conversation(layout, False, {}, False, np.arange(2))
    >>> found = matches({"tea": (1, posting("tea", np.array([0]), talk))}, talk)
    >>> found.own.round(1).tolist(), round(found.most, 1)
    ([3.1, 0.0], 3.8)
    """
    records = len(talk.layout.lengths)
    if len(asked) > MOST_WORDS:
        asked = _most_telling(asked)
    slots, nats, most = [NOWHERE], [NOTHING], 0.0
    shortest = sum([times for times, _ in asked.values()])  # the length of a text with all of the words and no others
    for times, one in asked.values():
        weight = min(1.0, times)
        most += weight * (one.exact - math.log(max(1e-12, -math.expm1(shortest * one.rate))))  # as in `of_word`
        slots.append(one.slots)
        nats.append(one.nats if weight == 1.0 else weight * one.nats)
    said = np.bincount(np.concatenate(slots), np.concatenate(nats), records)
    if talk.people is None:
        return Matches(said, None, most)
    return Matches(said[:records], _around(said, talk, talk.people), most * (1.0 + sum(one for _, one in AROUND)))


def _around(said: Array, talk: Conversation, people: Array) -> Array:
    """Evidence in nats from the words around each record, with each window taken as one text."""
    layout, first = talk.layout, len(people)
    found = np.zeros(first)
    all_windows = () if layout.surroundings is None else layout.surroundings.windows
    for windows, (_, counts_as) in zip(all_windows, AROUND, strict=False):
        of_windows = said[first : first + len(windows.long)]
        first += len(windows.long)
        of_windows = np.concatenate((of_windows, np.zeros(len(windows.long) - len(of_windows))))  # the last have none
        found += counts_as * of_windows[windows.of_record]
    people = np.where(_has_neighbours(layout), people, 0.0)
    found *= people
    alone = (people <= 0.0) & (layout.lengths > 0.0)
    turns = (said[: len(people)] + found)[people > 0.0]
    if alone.any() and len(turns):
        return np.where(alone, turns.mean() + _best_by_chance(len(turns)) * turns.std(), found)
    return found


def _best_by_chance(turns: int) -> float:
    """How many standard deviations above the mean the best of this number of turns is expected to be by chance.

    >>> round(_best_by_chance(4), 1), round(_best_by_chance(600), 1)
    (1.7, 3.6)
    """
    return math.sqrt(2.0 * math.log(turns))


def _has_neighbours(layout: Layout) -> Array:
    """For each record, whether its session contains other records."""
    found = np.zeros(len(layout.lengths), dtype=bool)
    found[layout.order] = layout.last - layout.first > 1
    return found


def _most_telling(asked: Asked) -> Asked:
    """The words of a very long query to look up: words that no record contains, which cost nothing, and the rarest.

    >>> nobody = (1, Posting(NOWHERE, NOWHERE, NOTHING, 0.0, 0.0))
    >>> some = (1, Posting(np.array([0]), NOWHERE, NOTHING, 0.0, 0.0))
    >>> many = {str(number): nobody if number < 500 else some for number in range(1000)}
    >>> len(_most_telling(many)) - 500 == MOST_WORDS
    True
    """
    held = [word for word, (_, one) in asked.items() if len(one.docs)]
    held.sort(key=lambda word: len(asked[word][1].docs))
    left_out = frozenset(held[MOST_WORDS:])
    return {word: one for word, one in asked.items() if word not in left_out}


class Numbers(Protocol):
    """Record numbers by ids in the collection."""

    def __contains__(self, stored_id: object, /) -> bool: ...
    def __getitem__(self, stored_id: str, /) -> int: ...
    def get(self, stored_id: str, default: int, /) -> int: ...


class WordsFound(NamedTuple):
    """The best records by their words, and the evidence in nats for any other record.

    `columns` have a value for each record of the scope, and `numbers` give a record's position in them. `talk` contains
    the conversations, if the records are turns. `most` and `most_of_kinds` are the maximum evidence from the query's
    words and from the kind of turn that a record is.
    """

    best: Sequence[str]
    columns: Mapping[str, Any]
    most: float
    numbers: Numbers
    cue: str  # the query for the vector search, without the parts that words match better
    fusion: Fusion
    talk: Conversation | None = None
    note: str | None = None  # why word matches are missing: not all records are indexed
    most_of_kinds: float = 0.0
    asks_for_name: bool = False
    placed: Mapping[str, int] = MappingProxyType({})  # the numbers of the best records at the time of the search

    def __call__(self, these: Candidates) -> dict[str, Sequence[float]]:
        """The evidence from words for each candidate; 0 for a record that is not indexed."""
        get, placed = self.numbers.get, self.placed  # a record that was indexed again in the meantime has a new number
        found_at = [get(one, -1) if (at := placed.get(one)) is None else at for one in these.columns.stored_ids]
        places = np.array(found_at, dtype=np.intp)
        columns = {name: _at(values, places) for name, values in self.columns.items()}
        most_of_kinds = self.most_of_kinds
        if self.talk is not None and self.talk.people is not None:
            people = _at(self.talk.people, places)
            more, most = kinds_of_texts(these.columns.texts, people, self.talk.speakers if self.asks_for_name else None)
            columns[ANSWERS] = self._answers(these, columns, people, places)
            columns |= more
            most_of_kinds += most
        found: dict[str, Sequence[float]] = {MOST_OF_WORDS: [self.most] * len(places)}
        for name, values in columns.items():
            found[name] = values.tolist()
        if most_of_kinds > 0.0:
            found[MOST_OF_KINDS] = [most_of_kinds] * len(places)
        return found

    def _answers(self, these: Candidates, columns: Mapping[str, Array], people: Array, places: Array) -> Array:
        """For each turn that follows a question, how much stronger the question's evidence is than its own."""
        texts, nats = these.columns.texts, of_meaning(these.columns.similarities, baseline_in(these.leads))
        nats = self.fusion.vectors * nats + self.fusion.words * (columns[WORDS] + columns[WORDS_AROUND])
        found = np.zeros(len(places))
        if self.talk is None:
            return found
        number_at = {place: number for number, place in enumerate(places.tolist()) if place >= 0}
        layout = self.talk.layout
        for place, number in number_at.items():
            if people[number] <= 0.0 or place >= len(self.talk.places):
                continue
            stands = int(self.talk.places[place])
            if stands == int(layout.first[stands]):
                continue
            before = number_at.get(int(layout.order[stands - 1]))
            if before is not None and stated(texts[before]) < 1.0:
                found[number] = people[number] * max(0.0, float(nats[before] - nats[number]))
        return found

    def in_conversation(self, stored_ids: Sequence[str]) -> list[bool]:
        """For each record, whether it is a turn of a conversation; False if it is not indexed."""
        if self.talk is None:
            return [False] * len(stored_ids)
        places = np.array([self.numbers.get(one, -1) for one in stored_ids], dtype=np.intp)
        marks = self.talk.layout.alone
        alone = np.zeros(len(places)) if marks is None else _at(marks, places)
        return [place >= 0 and not by_itself for place, by_itself in zip(places.tolist(), alone.tolist(), strict=True)]


def kinds_of_texts(
    texts: Sequence[str], people: Array, speakers: Iterable[str] | None
) -> tuple[dict[str, Array], float]:
    """Evidence for or against each turn because it is a statement and, if `speakers` are given, because it contains
    another name; and the maximum of this evidence. `people` is how far each record is a turn."""
    turns, found, most = people > 0.0, dict[str, Array](), 0.0
    if not turns.any():
        return found, most
    marks = {
        "stated": np.array(  # most texts contain no question mark and need no closer look
            [
                not turn or ("?" not in text and text.isascii()) or stated(text) >= 1.0
                for text, turn in zip(texts, turns, strict=True)
            ]
        )
    }
    if speakers is not None:
        known = {part for name in speakers for part in name.split()}
        marks["named"] = np.array([turn and says_name(text, known) for text, turn in zip(texts, turns, strict=True)])
    for name, marked in marks.items():
        speaks_for, against = of_kind(float(marked[turns].mean()))
        found[name] = people * np.where(marked, speaks_for, against)
        most += speaks_for
    return found, most


def no_words(cue: str, note: str) -> WordsFound:
    """The result without word matches, used until all records of a user are indexed."""
    return WordsFound((), {}, 0.0, numbers={}, cue=cue, fusion=Fusion(), note=note)


def _at(values: Array, places: Array) -> Array:
    """The values at these places; 0 for places outside the array.

    >>> _at(np.array([0.5, 0.25]), np.array([1, -1, 2])).tolist()
    [0.25, 0.0, 0.0]
    """
    asked = places.tolist()
    if asked and min(asked) >= 0 and max(asked) < len(values):  # nearly always
        return values[places].astype(float, copy=False)
    there = (places >= 0) & (places < len(values))
    found = np.zeros(len(places))
    found[there] = values[places[there]]
    return found
