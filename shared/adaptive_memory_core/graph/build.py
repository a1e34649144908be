"""Building a graph of names from texts: sentences, titles, links.

The number of links shows whether the graph helps. If records are pages that mention each other's titles, questions of
several steps follow these mentions. Conversations, notes and pages cut into pieces have hardly any.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from adaptive_memory_core.channels.words_of_text import words
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.graph.names import (
    Extract,
    Gram,
    Known,
    handle,
    known_names,
    longest,
    name_grams,
    names_in_sentence,
)
from adaptive_memory_core.graph.ports import MOST_TITLED
from adaptive_memory_core.late import late_pattern
from adaptive_memory_core.records import Metadata

MOST_SENTENCES = 4_000  # of one text; the last sentence of a longer text contains the rest
_BREAK = late_pattern(r"(?<=[.!?…])[\"'”\u2019)\]]*\s+(?=[\"'“\u2018(\[]*[^\Wa-z_])|(?<=[。\uff01\uff1f])|\n+")
_LONGEST_SHORT = 20  # characters of an abbreviation or a line's number, with its full stop
_SHORT = late_pattern(
    r"\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Gen|Col|Capt|Lt|Sgt|Rev|Hon|Pres|Gov|Sen|Rep|Mt|Ft|No|Nos|vs|Vol|vol|"
    r"ed|eds|pp|p|cf|ca|approx|Inc|Ltd|Co|Corp|Bros|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|fl|e\.g|i\.e|"
    r"U\.S|U\.K)\.$"
)
_NUMBER = late_pattern(r"\W*\d{1,3}\.")


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, without surrounding blanks.

    >>> sentences("Dr. J. Smith left the U.S. Army. Why? Nobody knows (yet.) It rained.")
    ['Dr. J. Smith left the U.S. Army.', 'Why?', 'Nobody knows (yet.)', 'It rained.']
    >>> sentences("Rome\\nIt lies on the Tiber"), sentences("我住在柏林。你呢。"), sentences(" ")
    (['Rome', 'It lies on the Tiber'], ['我住在柏林。', '你呢。'], [])
    """
    found: list[str] = []
    start = 0
    for end in _BREAK.finditer(text):
        if len(found) >= MOST_SENTENCES - 1:
            break
        if end.group().isspace() and "\n" not in end.group() and _goes_on(text, start, end.start()):
            continue
        piece = text[start : end.end()].strip()
        found += [piece] if piece else []
        start = end.end()
    rest = text[start:].strip()
    return [*found, rest] if rest else found


def _goes_on(text: str, start: int, end: int) -> bool:
    """Whether the full stop before `end` belongs to an abbreviation, or to a number that begins the sentence."""
    last = text[max(start, end - _LONGEST_SHORT) : end]
    return _SHORT.search(last) is not None or (len(last) == end - start and _NUMBER.fullmatch(last) is not None)


TITLE_KEYS = ("title", "document_title", "file_name")  # of frameworks' loaders, tried after the configured key


def record_title(metadata: Metadata | None, fields: Fields) -> str | None:
    """The title in a record's metadata, if there is one.

    >>> record_title({"file_name": "rome.md"}, Fields()), record_title({"title": 7}, Fields()) is None
    ('rome.md', True)
    """
    found: Mapping[str, Any] = metadata or {}
    named = (found.get(key) for key in (fields.title, *TITLE_KEYS))
    return next((one for one in named if isinstance(one, str) and one.strip()), None)


MOST_SAMPLED = 3_000  # records whose titles are looked at; benchmarks/graph_everywhere.py
MOST_READ = 500  # of these records, whose texts are searched for titles
FEWEST_FOUND = 3  # mentions; fewer may be chance
LEAST_TITLED = 0.5  # share of records with a title; below it no text is searched; guess


class Titled(NamedTuple):
    """A record's text, and the title that its metadata give it."""

    text: str
    title: str | None


def links_per_record(sample: Sequence[Titled], records: int) -> float:
    """The average number of other records' titles that a record mentions, in a scope of `records` records. A title of
    more than MOST_TITLED records does not count, and the result is scaled up by the share that was sampled.

    >>> pages = [Titled("Old. The Tiber runs there.", "Rome"), Titled("A river in Rome.", "Tiber")]
    >>> links_per_record([*pages, Titled("Oslo is far from Rome.", "Bergen"), Titled("Far.", "Oslo")], 4)
    1.0
    >>> links_per_record(pages, 2), links_per_record([Titled("Rome is old.", None)], 1)
    (0.0, 0.0)
    """
    if not sample:
        return 0.0
    titles = [_name(one) for one in sample]
    share, counts = len(sample) / max(records, len(sample)), Counter(one for one in titles if one is not None)
    if sum(counts.values()) < LEAST_TITLED * len(sample):
        return 0.0
    rare = {name for name, count in counts.items() if count <= MOST_TITLED * share or count == 1}
    own = list(zip(sample, titles, strict=True))[:MOST_READ]
    found = sum(len(set(known_names(one.text, rare.intersection)) - {title}) for one, title in own)
    return found / len(own) / share if found >= FEWEST_FOUND else 0.0


def _name(one: Titled) -> str | None:
    title, _ = split_title(one.text, one.title)
    return None if title is None else handle(title) or None


LONGEST_TITLE = 100  # characters of a first line that is taken for a title
_AROUND_HEADING = " \t\r\f\v#"
_ENDS = (".", "!", "?", ":", ";", ",", "。", "\uff01", "\uff1f")


class Sentence(NamedTuple):
    """One sentence: its text, the names it mentions, and its normalised words with those of the title."""

    text: str
    names: tuple[str, ...]
    words: tuple[str, ...]


class Passage(NamedTuple):
    """A record in the graph: the name that its title gives, if it has one, and its sentences."""

    title: str | None
    sentences: tuple[Sentence, ...]


def build_passage(text: str, title: str | None, known: Known, extract: Extract = names_in_sentence) -> Passage:
    """A record's part of the graph. `known` returns which names are titles in the graph: these are found in any text.

    >>> rome = build_passage("Rome lies on the Tiber. It is old.", "Rome", lambda names: {"tiber"} & set(names))
    >>> rome.title, [(one.names, one.words) for one in rome.sentences]
    ('rome', [(('rome', 'tiber'), ('rome', 'rome', 'li', 'tiber')), ((), ('rome', 'old'))])
    """
    heading, found = sentences_below(text, title)
    named = None if heading is None else handle(heading) or None
    possible = [name_grams(one) for one in found]
    there = known({gram.name for own in possible for gram in own}) | ({named} if named else set())
    begin = () if heading is None else tuple(words(heading))
    return Passage(
        named, tuple(_sentence(one, own, there, begin, extract) for one, own in zip(found, possible, strict=True))
    )


def sentences_below(text: str, title: str | None) -> tuple[str | None, list[str]]:
    """The title of a text and the sentences below it; if there are none, the title is the only sentence.

    >>> sentences_below("Rome\\nIt is old. It is big.", None)
    ('Rome', ['It is old.', 'It is big.'])
    """
    heading, body = split_title(text, title)
    return heading, sentences(body) or sentences(text)


def split_title(text: str, title: str | None) -> tuple[str | None, str]:
    """The title of a text, given or in its first line, and the text below it.

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
    """A word as a number, for fast comparison.

    >>> word_key("rome") == word_key("rome") != word_key("roma")
    True
    """
    return zlib.crc32(word.encode())
