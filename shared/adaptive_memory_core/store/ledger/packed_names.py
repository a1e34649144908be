"""How are names stored in a packed line of the log? As a length and the text, so that they can be searched."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

_LONG = 255  # where a length stands: one of 4 bytes follows
_OTHER = 255  # where the number of a title stands: its name follows
TITLES = (  # what most columns are called: a byte each, by their place here, which never changes
    *("score", "recency", "importance", "similarity", "useful", "words", "near", "around", "session", "speaker"),
    *("dated", "before", "company", "reranked", "kind", "strength", "covered", "relevance", "chance"),
    *("via", "read_ago", "fresh_before", "useful_ago", "useful_lag", "warmth", "credit", "helpful", "unhelpful"),
    *("balance", "unrelated", "own_words", "verdicts", "rest", "asked_near", "asked_trusted", "asked_against", "time"),
    *("telling", "stated", "named", "short"),
)
_NUMBERS = {title: number for number, title in enumerate(TITLES)}


def pack_names(names: Iterable[str]) -> bytes:
    """Names one behind the other.

    >>> unpack_names(pack_names(["tea", "", "x" * 300, "milk"]), 0, 4)[:2]
    ['tea', '']
    """
    return b"".join(map(_packed, names))


def unpack_names(packed: bytes, start: int, count: int) -> list[str]:
    """As many names from there on."""
    names: list[str] = []
    for _ in range(count):
        name, start = _next(packed, start)
        names.append(name)
    return names


def pack_titles(tables: Iterable[Iterable[str]]) -> bytes:
    """The titles of each table's columns.

    >>> unpack_titles(pack_titles([["score"], ["similarity", "mine"], []]), 0)
    ([['score'], ['similarity', 'mine'], []], 15)
    """
    return _titles(tuple(map(tuple, tables)))


@lru_cache(maxsize=100)
def _titles(tables: tuple[tuple[str, ...], ...]) -> bytes:
    found = [bytes([len(tables)])]
    for titles in tables:
        found.append(len(titles).to_bytes(2, "little"))
        for title in titles:
            number = _NUMBERS.get(title, _OTHER)
            found.append(bytes([number]) if number != _OTHER else bytes([_OTHER]) + _packed(title))
    return b"".join(found)


def unpack_titles(packed: bytes, start: int) -> tuple[list[list[str]], int]:
    """The titles, and where what follows them begins."""
    count, start = packed[start], start + 1
    tables: list[list[str]] = []
    for _ in range(count):
        titles: list[str] = []
        width, start = int.from_bytes(packed[start : start + 2], "little"), start + 2
        for _ in range(width):
            number, start = packed[start], start + 1
            title, start = _next(packed, start) if number == _OTHER else (TITLES[number], start)
            titles.append(title)
        tables.append(titles)
    return tables, start


def _packed(name: str) -> bytes:
    text = name.encode(errors="surrogatepass")
    if len(text) < _LONG:
        return bytes([len(text)]) + text
    return bytes([_LONG]) + len(text).to_bytes(4, "little") + text


def _next(packed: bytes, start: int) -> tuple[str, int]:
    """The name that begins there, and where the next one does."""
    length, start = packed[start], start + 1
    if length == _LONG:
        length, start = int.from_bytes(packed[start : start + 4], "little"), start + 4
    return packed[start : start + length].decode(errors="surrogatepass"), start + length
