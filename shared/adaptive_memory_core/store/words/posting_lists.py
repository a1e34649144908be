"""Users' posting lists in RAM: kept current with the ledger, limited in bytes, least recently used dropped first."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import islice
from operator import itemgetter
from typing import Any

import numpy as np

from adaptive_memory_core.channels.matches import NOWHERE, Asked, Posting, posting
from adaptive_memory_core.channels.sessions import conversation
from adaptive_memory_core.channels.turns import TurnColumns, Turns
from adaptive_memory_core.channels.words_of_text import Forms, words
from adaptive_memory_core.cue.question_kinds import SAYS, SAYS_ELSEWHERE, SAYS_IN_PAIRS
from adaptive_memory_core.flow.ports.ledger_values import News, UserFile
from adaptive_memory_core.store.user_copies import Arrays, CopiedUser
from adaptive_memory_core.store.words import frozen_lists as word_rows
from adaptive_memory_core.store.words.frozen_lists import (
    ListsFromFile,
    WordOfRecord,
    arrays_of,
    begins_of_runs,
    contents_of,
    merged_lists,
    nothing,
)

TAIL = 256  # records in the tail, word by word, before they are moved into the lists
TAIL_SHARE = 0.05  # or this share of all
OF_A_RECORD, OF_A_TAIL = 500, 250  # bytes per record in addition to its words, and per word in the tail
Array = Any
IN_TAIL = -1  # the place of a word that is only in the tail
MOST_WORDS_KEPT = 20  # cached postings of query words per record, 16 bytes each; guess
OF_A_WORD = 50  # postings that a cached word counts for in addition to its own


@cache
def _words_of_times() -> frozenset[str]:
    """The words of all languages that state a time. Cached, because the languages' stemmers take a while to load."""
    elsewhere = (words(said, language) for language, said in SAYS_ELSEWHERE.items())
    return frozenset(words(" ".join(SAYS))).union(SAYS_IN_PAIRS, *elsewhere)


class PostingLists:
    """The posting lists of one user's records. `take_in` updates them from the ledger."""

    def __init__(self) -> None:
        self.owner: int | None = None  # the user's key in the ledger; None before the first row
        self.as_of: tuple[int, int] | None = None  # the ledger's last change taken in
        self.ids: list[str] = []
        self.numbers: dict[str, int] = {}
        self.marks: list[bytes] = []
        self._row, self._gone = 0, 0
        self._rows = np.empty(0, dtype=np.int64)
        self._lengths = np.empty(0)
        self._lists, self._said = nothing(), list[WordOfRecord]()  # words that are not in the lists yet
        self._turns = TurnColumns()
        self._tail: dict[int, list[int]] = {}
        self._frozen = 0
        self._settle()
        self.in_file = 0  # the number of records in the file

    @classmethod
    def of(cls, file: UserFile, arrays: Arrays) -> PostingLists:
        """The lists from a file."""
        one, there = cls(), contents_of(arrays)
        one.owner, one._row, one._gone = file[1:]
        one.ids, one.marks, one._rows, one._lengths = list(there.ids), list(there.marks), there.rows, there.lengths
        one._turns = TurnColumns.of(there.turns, there.sessions)
        one.numbers = {stored_id: number for number, stored_id in enumerate(there.ids)}
        one._lists = there.lists
        one.in_file = one._frozen = len(one.ids)
        one._settle()
        return one

    def taken(self) -> CopiedUser | None:
        """The content to write into a file; None if there is none."""
        if self.owner is None or not len(self):
            return None
        turns, arrays = self._turns, (self._rows, self._lengths, self._lists, tuple(self._said))
        there = ListsFromFile(tuple(self.ids), tuple(self.marks), turns.columns, turns.session_names, *arrays)
        return CopiedUser(self.owner, self._row, self._gone, {}, lambda: arrays_of(there))

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def wasted(self) -> float:
        """The share of its entries that belong to removed records."""
        return 1.0 - len(self.numbers) / len(self.ids) if self.ids else 0.0

    @property
    def nbytes(self) -> int:
        """The approximate size in RAM of the postings and the attributes of the records."""
        postings: int = sum(array.nbytes for one in self._said for array in one)
        return self._lists.nbytes + postings + OF_A_RECORD * len(self.ids) + OF_A_TAIL * len(self._tail)

    @property
    def seen(self) -> tuple[int, int]:
        """The numbers of the last row and the last removal taken in."""
        return self._row, self._gone

    def take_in(self, news: News) -> None:
        """Apply the rows written and removed since the last call."""
        self.owner, gone, rows = news
        if gone:
            self._gone, self.in_file = gone[-1][0], 0
            self._remove([row for _, row in gone])
        if rows:
            self._add(rows)
        if gone or rows:
            self._settle()

    def _settle(self) -> None:
        """Recalculate what depends on all records together, and clear the caches."""
        self.conversation = conversation(self._turns.columns, self._lengths, len(self))
        places = self._places_of(list(word_rows.LANGUAGES))
        codes = zip(word_rows.LANGUAGES.values(), places, strict=True)
        self.languages = [code for code, place in codes if place is not None]  # other than English
        self._dated: Array | None = None
        self._looked_up: dict[Forms, Posting] = {}  # words of queries
        self._looked_up_size = 0

    def asked(self, words: Mapping[Forms, float]) -> Asked:
        """For each word of the query, given with its number of occurrences, the records that contain one of its
        forms."""
        known = self._looked_up
        if self._looked_up_size > MOST_WORDS_KEPT * (len(self.ids) + OF_A_WORD):
            known, self._looked_up_size = {}, 0
            self._looked_up = known
        if not words.keys() <= known.keys():
            self._look_up([word for word in words if word not in known], known)
        asked = {}
        for word, times in words.items():
            asked[word] = times, known[word]
        return asked

    def _look_up(self, words: Sequence[Forms], known: dict[Forms, Posting]) -> None:
        forms = [(one,) if isinstance(one, str) else one for one in words]
        terms = [word_rows.digest_of(form) for one in forms for form in one]
        there = iter(zip(terms, self._places_of(terms), strict=True))
        for word, own in zip(words, forms, strict=True):
            docs = together(
                [self._holding(term, place) for term, place in islice(there, len(own)) if place is not None]
            )
            known[word] = posting(word, docs, self.conversation)
            self._looked_up_size += len(known[word].slots) + OF_A_WORD

    @property
    def dated(self) -> Array:
        """1 for each record that states a time."""
        if self._dated is None:
            self._dated = np.zeros(len(self.ids))
            terms = [word_rows.digest_of(word) for word in _words_of_times()]
            for term, place in zip(terms, self._places_of(terms), strict=True):
                if place is not None:
                    self._dated[self._holding(term, place)] = 1.0
        return self._dated

    def _places_of(self, terms: Sequence[int]) -> list[int | None]:
        """The place of each word in the lists: IN_TAIL if it is only in the tail, None if no record has it. All are
        looked up at once, because most words of a long query are in no record."""
        known = self._lists.known
        if not len(known):
            return [IN_TAIL if term in self._tail else None for term in terms]
        wanted = np.array(terms, dtype="<i8")
        places = np.minimum(known.searchsorted(wanted), len(known) - 1)
        found = zip(terms, places.tolist(), (known[places] == wanted).tolist(), strict=True)
        return [place if listed else IN_TAIL if term in self._tail else None for term, place, listed in found]

    def _holding(self, term: int, place: int) -> Array:
        """The records that contain a word."""
        docs = (
            NOWHERE if place == IN_TAIL else self._lists.docs[self._lists.bounds[place] : self._lists.bounds[place + 1]]
        )
        if tail := self._tail.get(term):
            docs = np.concatenate((docs, np.array(tail, dtype=np.int64)))
        return docs[self._lengths[docs] > 0.0] if len(self.numbers) < len(self.ids) else docs

    def _add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        self._bury([row[1] for row in rows if row[1] in self.numbers])
        first = len(self.ids)
        # Column by column: `zip` makes an object of each.
        columns = [list(map(itemgetter(column), rows)) for column in range(len(rows[0]))]
        numbers, ids, marks_, lengths, terms, speakers, sessions, places, speaker_from = columns
        self.ids += ids
        self.marks += marks_
        self.numbers.update(zip(ids, range(first, len(self.ids)), strict=True))
        self._turns.extend(Turns(speakers, speaker_from, sessions, [0.0 if one is None else one for one in places]))
        self._row = numbers[-1]
        self._rows = np.concatenate((self._rows, numbers))
        self._lengths = np.concatenate((self._lengths, np.maximum(1.0, lengths)))
        self._said.append(_said(first, terms))
        if len(self.ids) - self._frozen > max(TAIL, int(TAIL_SHARE * len(self.ids))):
            self._freeze()
        else:
            for number, one in enumerate(terms, first):
                for term in np.frombuffer(one, dtype="<i8").tolist():
                    self._tail.setdefault(term, []).append(number)

    def _freeze(self) -> None:
        """Move the words in the tail into the lists."""
        self._lists, self._said = merged_lists(self._lists, self._said), []
        self._tail, self._frozen = {}, len(self.ids)

    def _bury(self, stored_ids: Sequence[str]) -> None:
        """Mark these records as removed, because new rows replace them."""
        there = [one for one in stored_ids if one in self.numbers]
        if there:
            self.numbers = dict(self.numbers)  # another thread may be reading the old one, and the lengths
            places = [self.numbers.pop(one) for one in there if one in self.numbers]
            lengths = self._lengths.copy()
            lengths[places] = 0.0
            self._lengths = lengths

    def _remove(self, rows: Sequence[int]) -> None:
        places = np.searchsorted(self._rows, rows)
        lengths, self.numbers = self._lengths.copy(), dict(self.numbers)  # as above
        for place, row in zip(places.tolist(), rows, strict=True):
            if place < len(self._rows) and self._rows[place] == row:
                lengths[place] = 0.0
                if self.numbers.get(self.ids[place]) == place:
                    del self.numbers[self.ids[place]]
        self._lengths = lengths


def _said(first: int, terms: Sequence[bytes]) -> WordOfRecord:
    """The words of new records, numbered from `first` on, from the ledger's rows."""
    sizes = np.fromiter(map(len, terms), dtype=np.int64, count=len(terms)) // 8
    docs = np.repeat(np.arange(first, first + len(terms)), sizes)
    return WordOfRecord(np.frombuffer(b"".join(terms), dtype="<i8"), docs)


def together(lists: Sequence[Array]) -> Array:
    """The records of several lists, each once.

    >>> together([np.array([2, 0]), np.array([0, 5])]).tolist()
    [0, 2, 5]
    """
    if len(lists) < 2:
        return lists[0] if lists else NOWHERE
    docs = np.sort(np.concatenate(lists))
    return docs[begins_of_runs(docs)]


MOST_BYTES = 400_000_000  # of all users' lists together; about 500,000 records of 20 words


class HeldLists:
    """One user's lists, if they have been built; take `turn` to use them."""

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.lists: PostingLists | None = None
        self.size = 0

    @property
    def nbytes(self) -> int:
        """The approximate size in RAM; 0 without records."""
        return 0 if self.lists is None or not len(self.lists) else self.lists.nbytes

    def taken(self) -> CopiedUser | None:
        """The content to write into a file."""
        with self.turn:
            return None if self.lists is None else self.lists.taken()

    def adopt(self, file: UserFile, arrays: Arrays) -> None:
        """Note how many records the file has, if it matches the lists."""
        with self.turn:
            if self.lists is not None and self.lists.seen == file[2:]:
                self.lists.in_file = len(arrays["rows"])
