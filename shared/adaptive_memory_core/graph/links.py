"""Do records name each other? How many other records' titles each one's text has, as a sample tells it.

That is what tells where the graph helps: where records are pages that mention each other by their titles, questions of
several steps follow these mentions. In conversations, notes and pages cut into pieces there are next to none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from adaptive_memory_core.graph.build import split_title
from adaptive_memory_core.graph.known_names import known_names
from adaptive_memory_core.graph.names import handle
from adaptive_memory_core.graph.ports import MOST_TITLED

MOST_SAMPLED = 3_000  # records whose titles are looked at; benchmarks/graph_everywhere.py
MOST_READ = 500  # of those, whose texts are searched for them
FEWEST_FOUND = 3  # mentions below which it is chance
LEAST_TITLED = 0.5  # share of the records that have a title, below which no text is searched; guess


class Titled(NamedTuple):
    """A record's text, and the title that its metadata give it."""

    text: str
    title: str | None


def links_per_record(sample: Sequence[Titled], records: int) -> float:
    """How many titles of others a record names, on average, in a scope of so many records. A title that more than
    MOST_TITLED have is none, and a sample finds only its own share of what is named.

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
