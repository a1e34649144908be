"""Which words does a text have? Stemmed, without stop words; identifiers, codes and paths are kept whole as well.

A text in a script without spaces is taken by pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from adaptive_memory_core.channels.words.stem import stem

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
_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af\u0e00-\u0e7f]+")
_WHOLE = re.compile(r"(?=.*[0-9_./:@#\\-])(?=.*[^\W_]).*[^\W_].*[^\W_]", re.DOTALL)
_MANY_MARKS = re.compile(r"([^\w\s]{30})[^\w\s]+")  # accents without end on one letter take ages to be put in order
_EDGES = ".:'`*~-\u2019\u2013\u2014"


def words(text: str) -> list[str]:
    """The words of a text as they are looked up, in order, repeated where they repeat.

    >>> words("She was deploying the tier migrations.")
    ['deploy', 'tier', 'migrat']
    >>> words("What raised ERR_CONN_RESET in net.http_client?")
    ['rais', 'err_conn_reset', 'err', 'conn', 'reset', 'net.http_client', 'net', 'http', 'client']
    >>> words("東京都")
    ['東京', '京都']
    >>> words("It is what it is")
    []
    """
    if not text.isascii():
        text = unicodedata.normalize("NFKC", _MANY_MARKS.sub(r"\1", text))
    return [word for chunk in _CHUNK.findall(text) for word in _of(chunk)]


def _of(chunk: str) -> tuple[str, ...]:
    """The words of a chunk. Those of short ones are kept, which bounds what is kept in bytes as well."""
    if len(chunk) <= (REMEMBERED if chunk.isascii() else OF_A_SCRIPT):
        return _of_short(chunk)
    return tuple(_parts(chunk.strip(_EDGES)))


@lru_cache(maxsize=32_768)  # of at most 1.2 kB each
def _of_short(chunk: str) -> tuple[str, ...]:
    return tuple(_parts(chunk.strip(_EDGES)))


def _parts(chunk: str) -> Iterator[str]:
    parts = [part for run in _WORD.findall(chunk) for part in _HUMP.split(run)]
    if len(chunk) <= LONGEST_WORD and _is_identifier(chunk, parts):
        yield chunk.lower()
    for part in parts:
        word = part.lower()
        if _UNSPACED.search(word):
            yield from _pairs(word)
        elif len(word) <= LONGEST_WORD and word not in STOP_WORDS:
            yield stem(word)


def _is_identifier(chunk: str, parts: list[str]) -> bool:
    """Whether a chunk means something as a whole that its parts do not.

    >>> [one for one in ("it's", "well-known", "E-42", "getUser", "3.5", "end.") if _is_identifier(one, [one, one])]
    ['well-known', 'E-42', 'getUser', '3.5']
    """
    if len(parts) < 2:
        return False
    return _WHOLE.fullmatch(chunk) is not None or _HUMP.search(chunk) is not None


def _pairs(word: str) -> Iterator[str]:
    if len(word) == 1:
        yield word
    for start in range(len(word) - 1):
        yield word[start : start + 2]
