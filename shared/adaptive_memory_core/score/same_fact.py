"""Do two short texts say the same thing about the same subject, so that the newer one is what holds?

Two ways are told apart. In the same words: the texts differ in a few words that the cue does not hold ("Ilse lives in
Oslo", "Ilse lives in Turin"). In other words: both are about the names that the cue holds ("Ilse has moved to Turin");
whether it is the same thing is then for the similarity to the cue to say (`score/newest_first.py`).
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import NamedTuple

from adaptive_memory_core.channels.words.words_of_text import words
from adaptive_memory_core.cue.time.english_leans import EARLIEST, PAST
from adaptive_memory_core.policy.updates import Updates

Stems = frozenset[str]
_EDGES = " .,;:!?\"'`()[]{}\u2019\u201c\u201d\u2026"
_QUOTED = re.compile(r"[\"\u201c\u201d\u00ab\u00bb]")
_ANNOUNCED = re.compile(
    r"\b(?:now|new|newly|instead|(?:no|any) longer|any ?more|these days|nowadays|currently"
    r"|(?:has|have) (?!an?\b|the\b|no\b)[a-z]+)\b"
    r"|\w['\u2019](?:ve|s) (?:\w+ed|been|gone)\b",
    re.IGNORECASE,
)
_SPEAKER = re.compile(r"^\s*[^\W\d]\w*(?: \w+)?:\s")
_FEW = 3  # words that both have; two are enough where both begin with the same one
REMEMBERED = 2_000  # texts whose statements are kept from one recall to the next, of a few kB each


class Statement:
    """A text as far as it can be compared with another one. All words are stems but for `said`."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.asks = text.rstrip().endswith("?")

    @cached_property
    def said(self) -> Stems:
        """The words as they stand there, in lower case."""
        return frozenset(_said(self._text))

    @cached_property
    def _in_order(self) -> list[str]:
        return words(self._text)

    @cached_property
    def stems(self) -> Stems:
        return frozenset(self._in_order)

    @cached_property
    def spoken(self) -> Stems:
        """The words without the speaker before them: "Ana: I have a cat" is by Ana, and need not be about her."""
        return frozenset(words(_SPEAKER.sub("", self._text, count=1)))

    @property
    def subject(self) -> str | None:
        """The first word that is no stop word."""
        return self._in_order[0] if self._in_order else None

    @property
    def opening(self) -> str:
        """The first word."""
        return self._text.split(None, 1)[0].casefold()

    @cached_property
    def names(self) -> Stems:
        """What has a capital, not at the beginning of a sentence."""
        return _names(self._text)

    @cached_property
    def numbers(self) -> Stems:
        return frozenset(one for one in self.stems if any(map(str.isdigit, one)))

    @cached_property
    def owners(self) -> Stems:
        """What has an 's."""
        return _owners(self._text)

    @cached_property
    def past(self) -> bool:
        """Whether it says itself that it is over, or quotes somebody."""
        return any(one.search(self._text) for one in (_QUOTED, PAST, EARLIEST))

    @cached_property
    def announced(self) -> bool:
        """Whether it says that something has changed."""
        return _ANNOUNCED.search(self._text) is not None


class Asked(NamedTuple):
    """What a cue is about."""

    stems: Stems
    names: Stems
    owners: Stems


@lru_cache(maxsize=REMEMBERED)
def statement(text: str) -> Statement:
    """
    >>> one = statement("These days Ilse lives in Oslo.")
    >>> sorted(one.names), one.subject, one.announced, one.asks
    (['ils', 'oslo'], 'day', True, False)
    """
    return Statement(text)


@lru_cache(maxsize=512)
def asked(cue: str) -> Asked:
    """
    >>> asked("Who is Ilse's dentist?")
    Asked(stems=frozenset({...}), names=frozenset({'ils'}), owners=frozenset({'ils'}))
    """
    return Asked(frozenset(words(cue)), _names(cue), _owners(cue))


def in_same_words(old: Statement, new: Statement, about: Asked, rule: Updates) -> bool:
    """Whether the newer text says of the same what the older one said, but for a few words.

    >>> def same(old, new, cue="Where does Ilse live?"):
    ...     return in_same_words(statement(old), statement(new), asked(cue), Updates())
    >>> same("Ilse lives in Oslo.", "Ilse lives in Turin."), same("Ilse lives in Oslo.", "Colm lives in Turin.")
    (True, False)
    >>> same("Ilse lives in Oslo.", "Ilse no longer lives in Oslo.")
    True
    >>> same("Ilse lives in Oslo.", "Ilse used to live in Rome."), same("Ilse lives in Oslo.", "Does Ilse live here?")
    (False, False)
    >>> same("Ilse lives in Oslo.", "Colm lives in Oslo.", "who lives in Oslo?")  # another person, another fact
    False
    >>> same("My number is 12.", "My sister's number is 34.", "my number?"), same("It is at 3.", "It's at 4.", "is it?")
    (False, False)
    """
    if old.asks or new.asks:
        return False
    common = old.said & new.said
    gone, come = len(old.said) - len(common), len(new.said) - len(common)
    if (
        not come
        or max(gone, come) > rule.different_words
        or len(common) < rule.common_words * (gone + come + len(common))
    ):
        return False
    if len(common) < _FEW - (old.opening == new.opening):
        return False
    shared = old.stems & about.stems
    if not shared or shared != new.stems & about.stems or _of_others(old, new, about) or _of_one_more(old, new):
        return False
    return old.past or not new.past


def in_other_words(old: Statement, new: Statement, about: Asked, rule: Updates) -> bool:
    """Whether the newer text is about the subject that the cue names, and could say the same of it in other words.

    >>> def may(old, new, cue="Where does Ilse live?"):
    ...     return in_other_words(statement(old), statement(new), asked(cue), Updates())
    >>> may("Ilse lives in Oslo.", "Ilse has moved to Turin."), may("Ilse lives in Oslo.", "Ilse has gone vegan.")
    (True, False)
    >>> may("Ilse lives in Oslo.", "Ilse's brother lives in Turin."), may("Ilse lives in Oslo.", "Colm moved to Turin.")
    (False, False)
    """
    if old.asks or new.asks or differ(old.said, new.said) > rule.other_words:
        return False
    if not same_subject(old, new, about) or _of_others(old, new, about) or new.past:
        return False
    if old.stems & about.stems <= new.stems and (
        not about.names or new.owners & about.stems - old.owners - about.owners or _of_one_more(old, new)
    ):
        return False  # what was asked for is said of somebody else: "Ilse's brother lives in ..."
    return _kind(old, about) == _kind(new, about)


def same_subject(one: Statement, other: Statement, about: Asked) -> bool:
    """Whether both hold the names that the cue holds; where it holds none, half of its words."""
    if about.names:
        return about.names <= one.spoken and about.names <= other.spoken
    return 2 * len(one.stems & other.stems & about.stems) >= max(1, len(about.stems))


def differ(one: Stems, other: Stems) -> int:
    """How many words the one has that the other has not, or the other that this one has not.

    >>> differ(frozenset("abc"), frozenset("abxyz"))
    3
    """
    return max(len(one), len(other)) - len(one & other)


def about_the_cue(one: Statement, about: Asked) -> bool:
    """Whether it holds enough of the cue for another text to be of the same subject."""
    return bool(about.names) or 2 * len(one.stems & about.stems) >= max(1, len(about.stems))


def _of_others(old: Statement, new: Statement, about: Asked) -> bool:
    """Whether each begins with something that the other does not speak of, unless the cue says whose it is."""
    if old.subject is None or new.subject is None or (about.owners and about.owners <= old.stems & new.stems):
        return False
    return old.subject not in new.stems and new.subject not in old.stems


def _of_one_more(old: Statement, new: Statement) -> bool:
    """Whether one names an owner that the other does not speak of: "my sister's number" is not "my number"."""
    fewer, more = sorted((old.owners, new.owners), key=len)
    return fewer < more and not more <= old.stems & new.stems


def _kind(one: Statement, about: Asked) -> tuple[bool, bool]:
    """Whether it says a name or a number besides what was asked for: a place is no answer where a number was one."""
    return bool(one.names - about.stems), bool(one.numbers - about.stems)


def _said(text: str) -> list[str]:
    return [word.casefold() for one in text.split() if (word := one.strip(_EDGES))]


def _names(text: str) -> Stems:
    found: list[str] = []
    start = True
    for one in text.split():
        word = one.strip(_EDGES)
        if word[:1].isupper() and not start:
            found += words(word)
        start = one[-1] in ".!?:"
    return frozenset(found)


def _owners(text: str) -> Stems:
    if "'s" not in text and "\u2019s" not in text:
        return frozenset()
    owners = (word for word in _said(text) if word.endswith(("'s", "\u2019s")))
    return frozenset(stem for word in owners for stem in words(word[:-2]))
