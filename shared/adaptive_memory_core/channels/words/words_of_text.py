"""Which words does a text have? Stemmed, without stop words; identifiers, codes and paths are kept whole as well.

In a language that is given, by its stemmer and without its function words; else as English. What is in a script without
spaces is taken by pairs of characters and by single ones, whatever the language.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from adaptive_memory_core.channels.words.languages import is_function_word, lower, stem_in
from adaptive_memory_core.channels.words.stem import stem
from adaptive_memory_core.channels.words.unspaced import UNSPACED, grams, parted

LONGEST_WORD = 60  # characters of a word; what is longer is no word that anybody asks for
REMEMBERED, OF_A_SCRIPT = 24, 8  # characters of a chunk whose words are kept, and of one in another script than ASCII
STOP_WORDS = frozenset(
    """
    a about above after again all am an and any are aren as at be because been before being below between both but
    by can cannot could couldn d did didn do does doesn doing don down during each few for from further had hadn
    has hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself just
    ll m me more most mustn my myself no nor not of off on once only or other our ours ourselves out over own re s
    same shall shan she should shouldn so some such t than that the their theirs them themselves then there these
    they this those through to too under until up us ve very was wasn we were weren what when where which while
    who whom why will with won would wouldn you your yours yourself yourselves
    """.split()  # noqa: SIM905 - a list of them would be longer than this file
)
_CHUNK = re.compile(r"[^\s,;!?()\[\]{}<>\"“”„«»]+")  # may be an identifier as a whole
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"  # of a word's letters
_WORD = re.compile(rf"(?:[^\W_]|[{_MARKS}])+")
_DIGIT = re.compile(r"\d")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WHOLE = re.compile(r"(?=.*[0-9_./:@#\\-])(?=.*[^\W_]).*[^\W_].*[^\W_]", re.DOTALL)
_MANY_MARKS = re.compile(r"([^\w\s]{30})[^\w\s]+")  # accents without end on one letter take ages to be put in order
_EDGES = ".:'`*~-\u2019\u2013\u2014"


class Piece(NamedTuple):
    """A part of a text that is looked up: as it is, or (`inflected`) in the form that its language gives it."""

    text: str
    inflected: bool


def words(text: str, language: str | None = None) -> list[str]:
    """The words of a text as they are looked up, in order, repeated where they repeat.

    >>> words("She was deploying the tier migrations.")
    ['deploy', 'tier', 'migrat']
    >>> words("What raised ERR_CONN_RESET in net.http_client?")
    ['rais', 'err_conn_reset', 'err', 'conn', 'reset', 'net.http_client', 'net', 'http', 'client']
    >>> words("Die Häuser in der Straße", "de"), words("東京都")
    (['haus', 'strass'], ['東', '京', '都', '東京', '京都'])
    >>> words("It is what it is")
    []
    """
    return [word for chunk in chunks(text) for word in _of(chunk, language)]


def chunks(text: str) -> list[str]:
    """A text cut at its spaces and brackets."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _MANY_MARKS.sub(r"\1", text))
    return _CHUNK.findall(text)


def pieces(chunk: str) -> Iterator[Piece]:
    """What there is to look up in a chunk: identifiers as a whole, their parts, pairs of characters."""
    for part, unspaced in _by_script(chunk):
        if unspaced:
            yield from (Piece(gram, inflected=False) for gram in grams(part))
        else:
            yield from _parts(part.strip(_EDGES))


def _by_script(chunk: str) -> list[tuple[str, bool]]:
    return [(chunk, False)] if chunk.isascii() or not UNSPACED.search(chunk) else parted(chunk)


def form(piece: Piece, language: str | None) -> str | None:
    """What a piece is looked up as in a language; None for a function word, and for what is no word."""
    if not piece.inflected:
        return piece.text
    word = lower(piece.text, language)
    if len(word) > LONGEST_WORD:
        return None
    if language is None:
        return None if word in STOP_WORDS else stem(word)
    if is_function_word(word, language):
        return None
    return word if len(word) <= 2 or _DIGIT.search(word) else stem_in(word, language)


def _of(chunk: str, language: str | None) -> tuple[str, ...]:
    """The words of a chunk. Those of short ones are kept, which bounds what is kept in bytes as well."""
    if len(chunk) <= (REMEMBERED if chunk.isascii() else OF_A_SCRIPT):
        return _of_short(chunk, language)
    return _words_of(chunk, language)


@lru_cache(maxsize=32_768)  # of at most 1.2 kB each
def _of_short(chunk: str, language: str | None) -> tuple[str, ...]:
    return _words_of(chunk, language)


def _words_of(chunk: str, language: str | None) -> tuple[str, ...]:
    found: list[str] = []
    for part, unspaced in _by_script(chunk):
        if unspaced:
            found += grams(part)  # as they are: there are two for each character
        else:
            parts = _parts(part.strip(_EDGES))
            found += [word for piece in parts if (word := form(piece, language)) is not None]
    return tuple(found)


def _parts(chunk: str) -> Iterator[Piece]:
    parts = [part for run in _WORD.findall(chunk) for part in _HUMP.split(run)]
    if len(chunk) <= LONGEST_WORD and _is_identifier(chunk, parts):
        yield Piece(chunk.lower(), inflected=False)
    yield from (Piece(part, inflected=True) for part in parts)


def _is_identifier(chunk: str, parts: list[str]) -> bool:
    """Whether a chunk means something as a whole that its parts do not.

    >>> [one for one in ("it's", "well-known", "E-42", "getUser", "3.5", "end.") if _is_identifier(one, [one, one])]
    ['well-known', 'E-42', 'getUser', '3.5']
    """
    if len(parts) < 2:
        return False
    return _WHOLE.fullmatch(chunk) is not None or _HUMP.search(chunk) is not None
