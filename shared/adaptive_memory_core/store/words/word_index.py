"""The word index: which records match a query's words best, and how the index follows the records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from adaptive_memory_core.channels.languages import language_given
from adaptive_memory_core.channels.matches import Asked, WordsFound, matches, no_words
from adaptive_memory_core.channels.sessions import Conversation, cue_without_names, named, next_to
from adaptive_memory_core.channels.turns import turn_of
from adaptive_memory_core.channels.words_of_text import words, words_of_cue
from adaptive_memory_core.cue.question_kinds import asks_for_name, asks_when
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports.ledger_values import LedgerVersion, WordRow, some_let_go
from adaptive_memory_core.flow.ports.records import Stored, Vector
from adaptive_memory_core.flow.ports.source import Pair
from adaptive_memory_core.policy.advanced import AROUND, WORDS, Fusion
from adaptive_memory_core.record_metadata import created_at
from adaptive_memory_core.records import Scope
from adaptive_memory_core.score.surprise import of_kind
from adaptive_memory_core.store.background import Going
from adaptive_memory_core.store.ledger.cached_copies import CopiedRow
from adaptive_memory_core.store.mirror.resident_records import UsersInRam
from adaptive_memory_core.store.mirror.vector_matrix import could_be_highest
from adaptive_memory_core.store.user_copies import UserCopies
from adaptive_memory_core.store.words import frozen_lists as word_rows
from adaptive_memory_core.store.words.frozen_lists import Lists, RecordText, concatenated_lists
from adaptive_memory_core.store.words.posting_lists import MOST_BYTES, HeldLists, PostingLists

if TYPE_CHECKING:
    from adaptive_memory_core.store.chroma.open_collection import CollectionAccess
    from adaptive_memory_core.store.ledger.word_rows import LedgerWords

WASTE = 0.25  # share of removed records at which a user's lists are rebuilt
MOST_CURRENT = 10_000  # users known to be current
AT_ONCE = 3_000  # records that a recall waits for; with more, words are unused until the background has indexed them
PAGE = 500  # records per transaction: other writers wait for its end
INCOMPLETE = "the words of {left} records are not indexed yet, so words say nothing"
NOT_COPIED = "the collection's records are not copied, so words say nothing"


class WordIndex:
    """The words of a collection's records, with separate statistics and lists for each user. Its rows in the ledger
    follow those of the records. A user's words are indexed from the first query by words on; after that, as they are
    written."""

    name = "word index"

    def __init__(
        self,
        rows: LedgerWords,
        fields: Fields,
        copied: CollectionAccess,
        wake: Callable[[], object],
        kept: UserCopies | None = None,
        *,
        read_only: bool,
    ) -> None:
        self._rows, self._fields, self._copied, self._wake, self._kept = rows, fields, copied, wake, kept
        self._read_only = read_only
        self._users = UsersInRam(HeldLists, MOST_BYTES)
        self._current: dict[Scope, tuple[int, int]] = {}  # the ledger's change up to which a user is indexed
        self._due: dict[Scope, None] = {}  # users whose words the background indexes
        self._all_due = self._asked = False

    def look(
        self,
        scope: Scope,
        cue: str,
        fusion: Fusion,
        limit: int,
        within: Set[str] | None,
        version: LedgerVersion | None = None,
    ) -> WordsFound:
        """The records that match the query's words best; none, and a note why, until all of the user's records are
        indexed."""
        note = self.lacking(scope, version)
        if note is not None:
            return no_words(cue, note)
        if scope.over is None:
            return found_by_words(cue, self._lists(scope, cue, None, version), fusion, limit, within)
        languages = set[str]()
        for part in scope.parts:
            held = self._users.of(part)
            with held.turn:
                languages.update(self._as_of(version, part, held).languages)
        parts = [self._lists(part, cue, sorted(languages), version) for part in scope.parts]
        return found_by_words(cue, concatenated_lists(*parts), fusion, limit, within)

    def lacking(self, scope: Scope, version: LedgerVersion | None = None) -> str | None:
        """Index new records; return a note if words cannot be used until the rest is indexed, else None."""
        self._asked = True
        opened = self._copied.open
        if opened is not None and not opened.importer.ready:
            return NOT_COPIED
        left = 0
        for part in (scope,) if scope.over is None else scope.parts:
            if version is None or self._current.get(part) != version.change:
                left += self._taken_in(part, version)
        return None if not left else INCOMPLETE.format(left=f"{left:,}" if left <= AT_ONCE else f"over {AT_ONCE:,}")

    def _lists(self, scope: Scope, cue: str, languages: Sequence[str] | None, version: LedgerVersion | None) -> Lists:
        """The postings of the query's words for one user; `languages` are those of all parts of the scope, if it has
        more than one. Only this user waits meanwhile."""
        held = self._users.of(scope)
        with held.turn:
            user = self._as_of(version, scope, held)
            talk = user.conversation
            asked = user.asked(words_of_cue(cue, user.languages if languages is None else languages))
            in_talk = talk.people is not None or languages is not None
            times = user.dated if in_talk and asks_when(cue) else None
            return Lists(talk, asked, user.ids, user.numbers, times)

    def _as_of(self, version: LedgerVersion | None, scope: Scope, held: HeldLists) -> PostingLists:
        """The user's lists, updated to the version, or to now. The caller holds the user's turn."""
        user = held.lists
        if user is not None and version is not None and user.as_of == version.change == self._current.get(scope):
            return user
        change = self._rows.version(scope, version).change
        if user is not None and user.as_of == change:
            return user
        if user is None and self._kept is not None and (found := self._kept.read(scope)) is not None:
            user = PostingLists.of(*found)
        if user is None or user.wasted > WASTE:
            user = PostingLists()
        news = self._rows.news(scope, *user.seen)
        if user.owner not in (None, news.owner) or (user.ids and some_let_go(news.removed)):
            user = PostingLists()
            news = self._rows.news(scope, *user.seen)
        held.lists = None  # so that an interrupt leaves no half-updated lists
        try:
            user.take_in(news)
            user.as_of = change if user.wasted <= WASTE else None
            held.lists = user
        finally:
            self._users.weigh(scope, held, held.nbytes)
        if self._kept is not None and self._kept.is_due(len(user), user.in_file):
            self._kept.ask(scope, held.taken, held.adopt)
        return user

    def neighbours(self, scope: Scope, stored_ids: Sequence[str]) -> Mapping[str, Pair]:
        """The record right before and the one right after each given record in its conversation, as far as they are
        indexed."""
        self.lacking(scope)
        found: dict[str, Pair] = {}
        for part in scope.parts:
            held = self._users.of(part)
            with held.turn:
                user = self._as_of(None, part, held)
                layout, ids = user.conversation.layout, user.ids
                known = {one: user.numbers[one] for one in stored_ids if one in user.numbers}
            for one, number in known.items():
                before, after = next_to(layout, number)
                found[one] = (None if before is None else ids[before], None if after is None else ids[after])
        return found

    def count(self, scope: Scope) -> int:
        """The number of one user's indexed records."""
        held = self._users.of(scope)
        with held.turn:
            return len(self._as_of(None, scope, held))

    def _taken_in(self, scope: Scope, version: LedgerVersion | None = None) -> int:
        """Index the user's new records if they are few; return how many are left, counted up to a limit."""
        change = self._rows.version(scope, version).change
        if self._current.get(scope) == change:
            return 0
        left = self._rows.behind(scope, AT_ONCE + 1)
        if not left:
            if len(self._current) >= MOST_CURRENT:
                self._current.clear()
            self._current[scope] = change
        elif not self._read_only and left > AT_ONCE:
            self._due[scope] = None
            self._wake()
        elif not self._read_only:
            while self.follow(scope, PAGE):
                pass
            return 0
        return left

    def follow(self, scope: Scope, most: int) -> bool:
        """Index the words of at most `most` changed records of one user; return whether there may be more."""
        return self._rows.follow(scope, self._rows_of, most)

    def _rows_of(self, found: Sequence[CopiedRow], known: Mapping[str, bytes]) -> list[WordRow]:
        """The word rows of the records whose mark differs from the known one."""
        rows = []
        for stored_id, text, metadata in found:
            turn = turn_of(text or "", metadata, self._fields, created_at=created_at(metadata, self._fields))
            language = None if metadata is None else language_given(metadata.get(self._fields.language))
            if known.get(stored_id) != word_rows.mark(text or "", turn, language):
                rows.append(word_rows.row_of(RecordText(stored_id, text or "", turn, language)))
        return rows

    def expect(self) -> None:
        """Prepare for queries: from now on new records are indexed at once, and existing ones in the background."""
        self._asked = True
        self.others_changed()

    def others_changed(self) -> None:
        """Index records imported from other programs, of any user, in the background."""
        if self._asked and not self._read_only:
            self._all_due = True
            self._wake()

    def wrote(self, scope: Scope, records: Sequence[Stored], vectors: Sequence[Vector]) -> None:  # noqa: ARG002
        """Index the new records, within the transaction that wrote them."""
        if self._asked:
            self._taken_in(scope)

    def removed(self, scope: Scope, stored_ids: Sequence[str]) -> None:
        """Do nothing: a record's words are removed with the record."""

    def stored_ids(self) -> set[str]:
        return self._rows.stored_ids()

    def sync(self) -> None:
        """Index all records now, for callers that need the rows of words to be complete."""
        for scope in self._rows.users_behind():
            while self.follow(scope, PAGE):
                pass

    def wait(self) -> float | None:
        return 0.0 if self._due or self._all_due else None

    def work(self, _going: Going) -> None:
        """Index the next page of one user's records. If this fails, the next recall notices what is missing."""
        if self._all_due:
            self._all_due = False
            self._due.update(dict.fromkeys(self._rows.users_behind()))
        scope = next(iter(self._due), None)
        if scope is not None and not self.follow(scope, PAGE):
            self._due.pop(scope, None)


MANY_FOUND = 2_000  # matching records from which on most are excluded quickly
Array = Any


def found_by_words(cue: str, lists: Lists, fusion: Fusion, limit: int, within: Set[str] | None) -> WordsFound:
    """The best `limit` of the records, or of those in `within`."""
    talk = lists.talk
    speakers = named(cue, talk.speakers) if talk.speakers else []
    found = matches(lists.asked if talk.people is None else _without_speakers(lists.asked, talk), talk)
    columns, most_of_kinds = {WORDS: found.own}, 0.0
    if found.around is None or talk.people is None:
        eligible = np.flatnonzero(found.own)
        nats = fusion.words * found.own[eligible]
    else:
        columns[AROUND] = found.around
        kinds, most_of_kinds = _kinds(lists, talk.people, speakers)
        columns |= kinds
        next_to_match = (found.around > 0.0) & (talk.people > 0.0)  # next to a match in a conversation
        eligible = np.flatnonzero((found.own > 0.0) | next_to_match)
        nats = sum(kinds.values(), fusion.words * (found.own + found.around))[eligible]
    best = _best(nats, eligible, limit, lists, within)
    return WordsFound(
        best=list(best),
        placed=best,
        columns=columns,
        most=found.most,
        most_of_kinds=most_of_kinds,
        numbers=lists.numbers,
        cue=cue_without_names(cue, speakers) if talk.unnamed else cue,
        talk=talk if talk.in_sessions else None,
        asks_for_name=talk.people is not None and asks_for_name(cue),
        fusion=fusion,
    )


def _without_speakers(asked: Asked, talk: Conversation) -> Asked:
    """The query's words without speakers' names: a name in the query means who spoke, and a turn is no better an answer
    because it names the listener."""
    names = {word for name in talk.speakers for word in words(name)}
    return {word: one for word, one in asked.items() if word not in names}


def _kinds(lists: Lists, people: Array, speakers: list[str]) -> tuple[dict[str, Array], float]:
    """The evidence for each turn that the only speaker named said it, and that it states a time, if the query asks for
    one. Also returns the most evidence possible."""
    found, most = dict[str, Array](), 0.0
    marks = {}
    if len(speakers) == 1:
        marks["speaker"] = np.zeros(len(people))
        marks["speaker"][lists.talk.speakers[speakers[0]]] = 1.0
    if lists.times is not None:
        marks["dated"] = lists.times
    for name, marked in marks.items():
        speaks_for, against = of_kind(float(marked[people > 0.0].mean()))
        found[name] = people * np.where(marked > 0.0, speaks_for, against)
        most += speaks_for
    return found, most


def _best(nats: Array, eligible: Array, limit: int, lists: Lists, within: Set[str] | None) -> dict[str, int]:
    """The ids of the eligible records with the highest scores in nats, best first, with their numbers."""
    ids, numbers, lack = lists.ids, lists.numbers, -nats
    if within is not None:
        allowed = np.zeros(len(lists.talk.layout.lengths), dtype=bool)
        places = np.array(list(map(numbers.get, within, repeat(-1))), dtype=np.intp)
        allowed[places[places >= 0]] = True
        there = allowed[eligible]
        eligible, lack = eligible[there], lack[there]
    if len(eligible) > limit:
        most = _least(lack, limit)
        eligible, lack = eligible[most], lack[most]
    ranked = eligible[lack.argsort(kind="stable")]
    return {ids[number]: number for number in ranked.tolist() if numbers.get(ids[number], -1) == number}


def _least(lack: Array, limit: int) -> Array:
    """The places of the `limit` smallest values, in no order. Ties at the limit are resolved as in a search through all
    values."""
    some = could_be_highest(-lack, limit) if len(lack) > MANY_FOUND else ()
    if len(some) > limit:
        found = lack[some]
        order = found.argpartition(limit)
        if found[order[:limit]].max() < found[order[limit]]:
            return some[order[:limit]]
    return lack.argpartition(limit)[:limit]
