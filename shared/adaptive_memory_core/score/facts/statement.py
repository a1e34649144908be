"""How is a short text taken so that it can be compared with another one: its words, names, numbers, owners?"""

from __future__ import annotations

import re
from functools import lru_cache

from adaptive_memory_core.channels.words.unspaced import UNSPACED, parted
from adaptive_memory_core.channels.words.words_of_text import words
from adaptive_memory_core.cue.time.english_leans import EARLIEST, PAST
from adaptive_memory_core.frozen import computed_once
from adaptive_memory_core.score.facts.bare_words import bare
from adaptive_memory_core.score.facts.events_elsewhere import happened_elsewhere
from adaptive_memory_core.score.facts.names import CALENDAR, EDGES, names_in
from adaptive_memory_core.score.facts.openings import without_opening
from adaptive_memory_core.score.facts.relations import relations_in
from adaptive_memory_core.score.facts.unsettled import announces, denies, happened, is_event, is_hedged

Stems = frozenset[str]
REMEMBERED = 2_000  # texts whose statements are kept from one recall to the next, of a few kB each
_QUOTED = re.compile(r"[\"\u201c\u201d\u00ab\u00bb]")
_NOW_UNSPACED = re.compile("现在|現在|目前|如今|今は|今(?![日年月週周朝晩夜晚天])")  # "now" between other words
_BETWEEN_CLAUSES = re.compile(r"[,;:](?=\s)")
_SPEAKER = re.compile(r"^\s*[^\W\d]\w*(?: \w+)?:\s")


class Statement:
    """A text as far as it can be compared with another one. All words are stems but for `said` and `in_order`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.asks = text.rstrip().endswith(("?", "\uff1f"))

    @computed_once
    def in_order(self) -> tuple[str, ...]:
        """The words as they stand there, in lower case; of Chinese, Japanese and Thai the characters."""
        return tuple(_said(self._plain))

    @computed_once
    def with_commas(self) -> str:
        """They in one line, with the commas, colons and the like that stand between them."""
        marked = _BETWEEN_CLAUSES.sub(" , ", self._plain)
        return " ".join("," if one == "," else word for one in marked.split() for word in _said(one) or [one])

    @computed_once
    def bare(self) -> tuple[str, ...]:
        """They without those that only say that it is new, or since when."""
        point = without_opening(self._plain)
        return bare(self.in_order if point is self._plain else tuple(_said(point)))

    @computed_once
    def begins(self) -> str:
        """The first of those."""
        return self.bare[0] if self.bare else ""

    @computed_once
    def said(self) -> Stems:
        """The different ones of them."""
        return frozenset(self.in_order)

    @computed_once
    def longest_words(self) -> tuple[str, ...]:
        """Those of letters and digits alone, the longest first."""
        return tuple(sorted(filter(str.isalnum, self.said), key=len, reverse=True))

    @computed_once
    def _stems(self) -> list[str]:
        return words(self._plain)

    @computed_once
    def _plain(self) -> str:
        """Without "now", where nothing separates it from the words that another text has as well."""
        return self._text if self._text.isascii() else _NOW_UNSPACED.sub("", self._text)

    @computed_once
    def stems(self) -> Stems:
        return frozenset(self._stems)

    @computed_once
    def spoken(self) -> Stems:
        """The words without the speaker before them: "Ana: I have a cat" is by Ana, and need not be about her."""
        return frozenset(words(_SPEAKER.sub("", self._plain, count=1)))

    @property
    def subject(self) -> str | None:
        """The first word that is no stop word."""
        return self._stems[0] if self._stems else None

    @property
    def opening(self) -> str:
        """The first word."""
        return self.in_order[0] if self.in_order else ""

    @computed_once
    def titled(self) -> int:
        """The number of words before a colon, as in "Budget: 500 euros"; 0 without one."""
        head, colon, _ = self._text.partition(": ")
        return len(list(_said(head))) if colon else 0

    @computed_once
    def names(self) -> Stems:
        """What has a capital, not at the beginning of a sentence."""
        return names_in(without_opening(self._text))

    @computed_once
    def things(self) -> Stems:
        """The names without days and months, which tell when and not what."""
        return self.names - CALENDAR

    @computed_once
    def when(self) -> Stems:
        """The days and months."""
        return self.stems & CALENDAR

    @computed_once
    def numbers(self) -> Stems:
        return frozenset(one for one in self.stems if any(map(str.isdigit, one)))

    @computed_once
    def owners(self) -> Stems:
        """What has an 's."""
        return owners_in(self._text)

    @computed_once
    def past(self) -> bool:
        """Whether it says itself that it is over, or quotes somebody."""
        return any(one.search(self._text) for one in (_QUOTED, PAST, EARLIEST))

    @computed_once
    def announced(self) -> bool:
        """Whether it says that something has changed."""
        return announces(self._text) or happened(self.in_order)

    @computed_once
    def hedged(self) -> bool:
        """Whether it says what may be, is wished for, or was asked."""
        return is_hedged(self._text)

    @computed_once
    def denied(self) -> bool:
        """Whether it says that something is not so."""
        return denies(self._text)

    @computed_once
    def event(self) -> bool:
        """Whether it says what happened, not how things are."""
        return is_event(self.in_order) or happened_elsewhere(self.in_order)

    @computed_once
    def relations(self) -> frozenset[str]:
        """The common relations that it speaks of."""
        return relations_in(self.in_order)


@lru_cache(maxsize=REMEMBERED)
def statement(text: str) -> Statement:
    """
    >>> one = statement("These days Ilse lives in Oslo.")
    >>> sorted(one.names), one.subject, one.announced, one.asks
    (['ils', 'oslo'], 'day', True, False)
    >>> statement("小明住在北京。").in_order
    ('小', '明', '住', '在', '北', '京')
    >>> statement("小明现在住在北京。").in_order == statement("小明住在北京。").in_order
    True
    """
    return Statement(text)


def differ(one: Stems, other: Stems) -> int:
    """How many words the one has that the other has not, or the other that this one has not.

    >>> differ(frozenset("abc"), frozenset("abxyz"))
    3
    """
    longer = len(one) if len(one) >= len(other) else len(other)
    return longer - len(one & other)


def owners_in(text: str) -> Stems:
    """What has an 's."""
    if "'s" not in text and "\u2019s" not in text:
        return frozenset()
    owners = (word for word in _said(text) if word.endswith(("'s", "\u2019s")))
    return frozenset(stem for word in owners for stem in words(word[:-2]))


def _said(text: str) -> list[str]:
    found = [word for one in text.casefold().split() if (word := one.strip(EDGES))]
    if text.isascii() or not UNSPACED.search(text):
        return found
    return [piece for word in found for part, unspaced in parted(word) for piece in _pieces(part, unspaced)]


def _pieces(part: str, unspaced: bool) -> list[str]:
    if unspaced and not _HANGUL.search(part):
        return list(part)
    return [word] if (word := part.strip(EDGES)) else []


_HANGUL = re.compile("[\uac00-\ud7af]")
