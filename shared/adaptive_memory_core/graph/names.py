"""Finding names in a text: by capitals and quotation marks, or because they are known."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence, Set
from typing import NamedTuple

from adaptive_memory_core.channels.languages import STOP_WORDS
from adaptive_memory_core.channels.words_of_text import UNSPACED
from adaptive_memory_core.late import late_pattern

LONGEST_NAME = 8  # words
Extract = Callable[[str], Sequence[str]]  # from a sentence to the names in it
_WORD = late_pattern(r"[^\W_]+(?:['\u2019][^\W\d_]+)*(?:[-.][^\W_]+(?:['\u2019][^\W\d_]+)*)*")
_POSSESSIVE = late_pattern(r"['\u2019][sS]?$")
_QUOTED = late_pattern(r"[\"“„]([^\"“”„]{2,60})[\"”]")
_JOINED = late_pattern(r"[\s]+|[\s]*&[\s]*|\.\s+|\s*[\u2019']\s*")
INSIDE = frozenset("of the de la le del di da du van von der den and for al el bin ibn".split())  # noqa: SIM905
_NO_NAMES = STOP_WORDS | frozenset(
    """
    yes no yeah yep nope ok okay well oh hey hi hello wow thanks thank please sure maybe also however although though
    many several two three four five one first second third today yesterday tomorrow since despite among within without
    according like just let lets later earlier often sometimes currently originally additionally furthermore moreover
    meanwhile together another every each either neither both whether upon unlike along across around may might must
    would could should here there soon still even yet never always got get going good great nice really totally
    definitely absolutely awesome cool glad sorry sounds looks keep take have had has been being do does did
    """.split()  # noqa: SIM905 - a list of them would be longer than this file
)


class Word(NamedTuple):
    """A word of a sentence: its position, its normalised form, and whether it has a capital."""

    start: int
    end: int
    plain: str
    capital: bool


def names_in_sentence(sentence: str) -> list[str]:
    """The names in a sentence, normalised, once each.

    >>> names_in_sentence("Then Ada Lovelace's friend, Charles Babbage of London, wrote it in Python-3.")
    ['ada lovelace', 'charles babbage of london', 'charles babbage', 'london', 'python 3']
    >>> names_in_sentence("Yeah, I know."), names_in_sentence('He sang "let it be" twice.')
    ([], ['let it be'])
    """
    found = [normalised_name(one) for one in _QUOTED.findall(sentence)]
    for run in _runs(sentence):
        found += _of_run(run)
    return [one for one in dict.fromkeys(found) if _may_be(one)]


def normalised_name(name: str) -> str:
    """The name without accents, capitals, possessives and a leading "the", with one blank between words.

    >>> normalised_name("The Beyoncé's  Renaissance"), normalised_name("J. K. Rowling"), normalised_name("東京")
    ('beyonce renaissance', 'j k rowling', '東京')
    >>> normalised_name("Blind Man'S Eyes") == normalised_name("Blind Man's Eyes")  # as titles are capitalised
    True
    """
    plain = " ".join(word.plain for word in words_in_name(name))
    return plain[4:] if plain.startswith("the ") else plain


def handle(title: str) -> str:
    """The name that a title gives, without the part in brackets that distinguishes it from others.

    >>> handle("Mercury (planet)"), handle("(500) Days of Summer")
    ('mercury', '500 days of summer')
    """
    return normalised_name(re.sub(r"(?<=\S)\s*\([^()]*\)", "", title)) or normalised_name(title)


def words_in_name(text: str) -> list[Word]:
    """The words of a text; parts joined by hyphens or dots are separate words.

    >>> [word.plain for word in words_in_name("Anna's X-ray, Café")]
    ['anna', 'x', 'ray', 'cafe']
    """
    found = []
    for one in _WORD.finditer(text):
        for part in re.finditer(r"[^-.]+", one.group()):
            start = one.start() + part.start()
            plain = _plain(_POSSESSIVE.sub("", part.group()))
            found.append(Word(start, start + len(part.group()), plain, _has_capital(part.group())))
    return [one for one in found if one.plain]


def _plain(word: str) -> str:
    if word.isascii():
        return word.lower().replace("'", "")
    apart = unicodedata.normalize("NFKD", word.lower())
    bare = "".join(one for one in apart if not unicodedata.combining(one) and one != "\u2019")
    return unicodedata.normalize("NFC", bare)


def _has_capital(word: str) -> bool:
    return word[0].isupper() or word[0].isdigit() or (word[0].islower() is False and not word[0].isascii())


def _runs(sentence: str) -> Iterator[list[Word]]:
    """Adjacent words with capitals, including function words between them."""
    run: list[Word] = []
    waiting: list[Word] = []
    for word in words_in_name(sentence):
        last = (waiting or run or [word])[-1]
        joined = last is word or _joined(sentence[last.end : word.start])
        if not joined and run:
            yield run
        if not joined:
            run, waiting = [], []
        if word.capital:
            run += [*waiting, word]
            waiting = []
        elif run and word.plain in INSIDE and len(waiting) < 2:
            waiting.append(word)
        else:
            if run:
                yield run
            run, waiting = [], []
    if run:
        yield run


def _joined(between: str) -> bool:
    return between in ("-", ".", "") or _JOINED.fullmatch(between) is not None


def _of_run(run: Sequence[Word]) -> list[str]:
    """The run as one name without leading function words, and its parts if function words join them."""
    run = list(itertools.dropwhile(lambda word: word.plain in _NO_NAMES, run))
    if not run or len(run) > LONGEST_NAME:
        return [word.plain for word in run]
    parts: list[list[str]] = [[]]
    for word in run:
        if word.plain in INSIDE and not word.capital:
            parts.append([])
        else:
            parts[-1].append(word.plain)
    whole = " ".join(word.plain for word in run)
    return [whole, *(" ".join(part) for part in parts if part)] if len(parts) > 1 else [whole]


def _may_be(name: str) -> bool:
    """Whether the name is more than a function word, a number or a letter."""
    if name in _NO_NAMES:
        return False
    return (len(name) >= 3 and (not name.isdigit() or len(name) == 4)) or (not name.isascii() and len(name) > 1)


LONGEST = 6  # words of a known name that is found in a text
MOST_LOOKED_UP = 2_000  # characters of a query in which names are looked for; a longer query is cut in the middle
LONGEST_UNSPACED = 12  # characters of a name in a script without spaces between words
Known = Callable[[Collection[str]], Set[str]]  # which of these are names


class Gram(NamedTuple):
    """Words that may be a name, or characters in a script without spaces: start, number of them, name, end."""

    start: int
    size: int
    name: str
    end: int


def name_grams(text: str, *, loose: bool = False) -> list[Gram]:
    """All sequences of up to six words that may be a name. A single word must have a capital, or with `loose` must not
    be a function word. Function words alone must all have capitals. In a script without spaces between words, any
    sequence of characters may be a name.

    >>> [one.name for one in name_grams("the Nile flows")]
    ['the nile', 'the nile flows', 'nile', 'nile flows']
    >>> [one.name for one in name_grams("What Is what is")]  # a title, and the begin of any question
    ['what is']
    >>> [one.name for one in name_grams("在东京")]
    ['在东京', '在东', '东京']
    """
    words = words_in_name(text)
    found = []
    for start, first in enumerate(words):
        function_words, capitals = True, True
        for size, last in enumerate(words[start : start + LONGEST], 1):
            function_words, capitals = function_words and last.plain in _NO_NAMES, capitals and last.capital
            if (function_words and (size == 1 or not capitals)) or (size == 1 and not (capitals or loose)):
                continue
            name = " ".join(word.plain for word in words[start : start + size])
            found.append(Gram(first.start, size, name, last.end))
    return [*found, *(gram for word in words for gram in _within(word))]


def known_names(text: str, known: Known, *, loose: bool = False) -> list[str]:
    """The known names in a text; a name within a longer known name is left out.

    >>> there = {"nile", "blue nile", "cairo", "东京"}
    >>> known_names("The Blue Nile does not reach Cairo.", lambda names: there & set(names))
    ['blue nile', 'cairo']
    >>> known_names("我住在东京。", lambda names: there & set(names))
    ['东京']
    """
    found = name_grams(text, loose=loose)
    there = known({one.name for one in found})
    return longest([one for one in found if one.name in there])


def longest(found: Collection[Gram]) -> list[str]:
    """The names that share no word with a longer one, in the order of the text."""
    taken: set[int] = set()
    chosen: list[Gram] = []
    for one in sorted(found, key=lambda one: (-one.size, one.start)):
        places = set(range(one.start, one.end))
        if not places & taken:
            taken |= places
            chosen.append(one)
    return list(dict.fromkeys(one.name for one in sorted(chosen)))


def _within(word: Word) -> Iterator[Gram]:
    """Sequences of two characters or more in a script without spaces, within a word, which may be a whole sentence. A
    word whose plain form has another length, e.g. because letters were decomposed, is skipped."""
    if word.plain.isascii() or len(word.plain) != word.end - word.start:
        return
    for run in UNSPACED.finditer(word.plain):
        for start in range(run.start(), run.end() - 1):
            for end in range(min(run.end(), start + LONGEST_UNSPACED), start + 1, -1):
                if end - start < len(word.plain):  # the whole word is already a gram
                    yield Gram(word.start + start, end - start, word.plain[start:end], word.start + end)
