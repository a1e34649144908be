"""What must a word index be able to do? Answer a cue's words with records and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from adaptive_memory_core.channels.conversation.among_people import stated_in
from adaptive_memory_core.channels.conversation.says_name import named_in
from adaptive_memory_core.channels.conversation.session_similarity import session_similarity
from adaptive_memory_core.channels.conversation.sessions import Conversation
from adaptive_memory_core.channels.conversation.standing_alone import by_kind, company_of_alone
from adaptive_memory_core.channels.words.lengths_found import LengthsFound, lengths_found
from adaptive_memory_core.channels.words.longer_texts import as_many_texts, chance_among, chance_between, how_far_longer
from adaptive_memory_core.channels.words.shorter_texts import shortness_of_each
from adaptive_memory_core.frozen import quickly_made
from adaptive_memory_core.policy.fusion import CHANCE, SHORT, TELLING, Fusion
from adaptive_memory_core.records import Scope
from adaptive_memory_core.score.candidates import Candidates

Pair = tuple[str | None, str | None]  # the ids in the collection of what was said right before and right after


class Numbers(Protocol):
    """The numbers of records by their ids in the collection."""

    def __contains__(self, stored_id: object, /) -> bool: ...
    def __getitem__(self, stored_id: str, /) -> int: ...
    def get(self, stored_id: str, default: int, /) -> int: ...


@quickly_made
@dataclass(frozen=True, slots=True)
class WordsFound:
    """The best records by their words, and leads on any other: one number in [0, 1] for each thing that is looked at.

    `chance` is that some record matches as well as the best by accident, before it is known what the vectors find, and
    `chance_alone` that it does as well as the best one of no conversation, where there are such beside conversations;
    `numbers` say where in the columns a record stands; `talk` is how the records stand to each other, where they are
    turns of a conversation.
    """

    best: Sequence[str]
    columns: Mapping[str, Any]
    chance: float
    numbers: Numbers
    cue: str  # what the vectors are to look for: the cue, less what words take care of
    talk: Conversation | None = None
    note: str | None = None
    chance_alone: float | None = None
    telling: float = 0.5  # how much the cue's words could say
    chance_any: float | None = None  # that any words of the cue match as well by accident, of another kind of texts
    asks_for_name: bool = False
    names: bool = False  # whether the cue names something

    def __call__(self, these: Candidates) -> dict[str, Sequence[float]]:
        """What words say of each; nothing speaks for a record that they do not know."""
        get = self.numbers.get
        places = [get(one, -1) for one in these.columns.stored_ids]
        columns: dict[str, Sequence[float]] = {name: _at(values, places) for name, values in self.columns.items()}
        there = these.columns
        lengths = lengths_found(there.texts, there.similarities, columns["words"])
        times = as_many_texts(lengths)
        chance, longer = self.chance, how_far_longer(lengths)
        if self.chance_any is not None:
            chance = chance_between(chance, self.chance_any, longer)
        columns[CHANCE] = [chance_among(chance, times)] * len(places)
        columns[TELLING] = [self.telling] * len(places)
        if self.talk is None:
            return {**columns, **self._short(there.texts, [True] * len(places), lengths, of_all_kinds=longer >= 1.0)}
        close = [min(1.0, max(0.0, one)) for one in there.similarities]
        columns["before"], columns["company"] = self._of_each_other(close, places, self.talk)
        if self.talk.people is not None:
            people = _at(self.talk.people, places)
            columns["stated"] = stated_in(there.texts, people)
            if self.asks_for_name:
                columns["named"] = named_in(there.texts, people, self.talk.speakers)
        marks = self.talk.layout.alone
        if marks is not None and self.chance_alone is not None:
            alone, chance = _at(marks, places), chance_among(self.chance_alone, times)
            columns[CHANCE] = by_kind(columns[CHANCE], chance, alone)
            columns.update(self._short(there.texts, alone, lengths, of_all_kinds=True))
            columns["company"] = company_of_alone(columns["company"], close, alone, chance)
        return columns

    def _short(
        self, texts: Sequence[str], alone: Sequence[float], lengths: LengthsFound, *, of_all_kinds: bool
    ) -> dict[str, Sequence[float]]:
        """How far each is too short to answer; nothing where none is. What a cue names may be said in a few words."""
        found = shortness_of_each(texts, alone, lengths, len(self.cue), by_own_length=of_all_kinds and not self.names)
        return {SHORT: found} if any(found) else {}

    def in_conversation(self, stored_ids: Sequence[str]) -> list[bool]:
        """Which of them are said in a conversation; none that is not known."""
        if self.talk is None:
            return [False] * len(stored_ids)
        places = [self.numbers.get(one, -1) for one in stored_ids]
        marks = self.talk.layout.alone
        alone = [0.0] * len(places) if marks is None else _at(marks, places)
        return [place >= 0 and not by_itself for place, by_itself in zip(places, alone, strict=True)]

    def _of_each_other(
        self, close: Sequence[float], places: Sequence[int], talk: Conversation
    ) -> tuple[list[float], list[float]]:
        """In a conversation, what the candidates say of each other; one met since then stands alone."""
        last = len(talk.places)
        there = {place: like for place, like in zip(places, close, strict=True) if 0 <= place < last}
        found = session_similarity(there, talk)
        pairs = [found.get(place, (like, like)) for place, like in zip(places, close, strict=True)]
        return [before for before, _ in pairs], [best for _, best in pairs]


def _at(values: Any, places: Sequence[int]) -> list[float]:
    """The values at these places, 0 at those that there are not.

    >>> _at(np.array([0.5, 0.25]), [1, -1, 2])
    [0.25, 0.0, 0.0]
    """
    wanted = np.array(places, dtype=np.intp)
    found: list[float]
    if len(wanted) and wanted.min() >= 0 and wanted.max() < len(values):
        found = values[wanted].tolist()
    else:
        there = [0 <= place < len(values) for place in places]
        found = [float(values[place]) if here else 0.0 for place, here in zip(places, there, strict=True)]
    return found


class Words(Protocol):
    """Records found by their words, and who stands beside whom. Looking writes nothing: what was learned of other
    programs' writing stays in RAM, until it is written down in the background."""

    def look(self, scope: Scope, cue: str, fusion: Fusion, limit: int, within: Set[str] | None) -> WordsFound: ...
    def beside(self, scope: Scope, stored_ids: Sequence[str]) -> Mapping[str, Pair]: ...
