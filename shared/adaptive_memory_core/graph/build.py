"""What does a passage add to the graph? Its sentences, the names and words in each, and its title as a name."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import NamedTuple

from adaptive_memory_core.channels.words.words_of_text import words
from adaptive_memory_core.graph.known_names import Gram, Known, grams, longest
from adaptive_memory_core.graph.names import Extract, handle, names
from adaptive_memory_core.graph.sentences import sentences

LONGEST_TITLE = 100  # characters of a first line that is taken for a title
_AROUND_HEADING = " \t\r\f\v#"
_ENDS = (".", "!", "?", ":", ";", ",", "。", "\uff01", "\uff1f")


class Sentence(NamedTuple):
    """One sentence: its text, the names it mentions, and its words with those of the title, as they are looked up."""

    text: str
    names: tuple[str, ...]
    words: tuple[str, ...]


class Passage(NamedTuple):
    """What is known of a record: the name that its title gives, if it has one, and its sentences."""

    title: str | None
    sentences: tuple[Sentence, ...]


def passage(text: str, title: str | None, known: Known, extract: Extract = names) -> Passage:
    """A record's part of the graph. `known` says which names the graph knows as titles: they are found again.

    >>> rome = passage("Rome lies on the Tiber. It is old.", "Rome", lambda names: {"tiber"} & set(names))
    >>> rome.title, [(one.names, one.words) for one in rome.sentences]
    ('rome', [(('rome', 'tiber'), ('rome', 'rome', 'li', 'tiber')), ((), ('rome', 'old'))])
    """
    heading, found = sentences_below(text, title)
    named = None if heading is None else handle(heading) or None
    possible = [grams(one) for one in found]
    there = known({gram.name for own in possible for gram in own}) | ({named} if named else set())
    begin = () if heading is None else tuple(words(heading))
    return Passage(
        named, tuple(_sentence(one, own, there, begin, extract) for one, own in zip(found, possible, strict=True))
    )


def sentences_below(text: str, title: str | None) -> tuple[str | None, list[str]]:
    """The title of a text, and its sentences; the title itself is one only where there is no other.

    >>> sentences_below("Rome\\nIt is old. It is big.", None)
    ('Rome', ['It is old.', 'It is big.'])
    """
    heading, body = split_title(text, title)
    return heading, sentences(body) or sentences(text)


def split_title(text: str, title: str | None) -> tuple[str | None, str]:
    """The title of a text, given or in its first line, and what stands below it.

    >>> split_title("Rome\\nIt lies on the Tiber.", None), split_title("Rome is old.", None)
    (('Rome', 'It lies on the Tiber.'), (None, 'Rome is old.'))
    >>> split_title("Rome is old.", "Rome"), split_title("# Rome\\n\\nOld.", "Roma")
    (('Rome', 'Rome is old.'), ('Roma', '# Rome\\n\\nOld.'))
    """
    given = (title or "").strip() or None
    line, below, body = text.lstrip().partition("\n")
    first = line.strip(_AROUND_HEADING)
    if not below or not first or len(first) > LONGEST_TITLE or first.endswith(_ENDS):
        return given, text
    if given is not None and handle(given) != handle(first):
        return given, text
    return given or first, body.lstrip("\n")


def _sentence(text: str, possible: Sequence[Gram], there: object, begin: tuple[str, ...], extract: Extract) -> Sentence:
    again = longest([gram for gram in possible if gram.name in there])  # type: ignore[operator]
    return Sentence(text, tuple(dict.fromkeys((*extract(text), *again))), (*begin, *words(text)))


def word_key(word: str) -> int:
    """A word as a number, to be compared quickly.

    >>> word_key("rome") == word_key("rome") != word_key("roma")
    True
    """
    return zlib.crc32(word.encode())
