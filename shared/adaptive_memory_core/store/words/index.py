"""Which records have the cue's words? Posting lists in RAM over the words that the ledger keeps."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Generator, Iterable, Sequence, Set
from contextlib import AbstractContextManager
from typing import Any

from adaptive_memory_core.channels.conversation.sessions import next_to
from adaptive_memory_core.channels.conversation.turns import turn_of
from adaptive_memory_core.channels.words.languages import language_given
from adaptive_memory_core.channels.words.words_of_cue import words_of_cue
from adaptive_memory_core.cue.time.asks_when import how_much_a_time_counts
from adaptive_memory_core.errors import AdaptiveMemoryError
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports import Found, Stored, WordNews
from adaptive_memory_core.flow.ports.ledger_copies import WordRows
from adaptive_memory_core.flow.ports.ledger_values import WORDS_VERSION, some_let_go
from adaptive_memory_core.flow.ports.words import Pair, WordsFound
from adaptive_memory_core.interrupts import interruptible
from adaptive_memory_core.policy.fusion import Fusion
from adaptive_memory_core.records import Metadata, Scope
from adaptive_memory_core.store.user_files.kept_copies import KeptCopies
from adaptive_memory_core.store.words import rows as word_rows
from adaptive_memory_core.store.words.compared import Laid
from adaptive_memory_core.store.words.found_by_words import found_by_words
from adaptive_memory_core.store.words.joined_lists import Lists, joined
from adaptive_memory_core.store.words.lists_in_ram import Held, ListsInRam
from adaptive_memory_core.store.words.not_yet_written import NotYetWritten, Row, by_scope
from adaptive_memory_core.store.words.posting_lists import PostingLists
from adaptive_memory_core.store.words.rows import Text
from adaptive_memory_core.store.words.written_meanwhile import WrittenMeanwhile
from adaptive_memory_core.stored_metadata import created_at
from adaptive_memory_core.stored_owner import owner_of
from adaptive_memory_core.written_metadata import metadata_of

WASTE = 0.25  # share of removed records at which a user's lists are made anew
MANY = 2_000  # records with words of the cue, of which most are left out at a glance


Afterwards = Callable[[Callable[[], object]], None]  # has something done once the ledger's transaction is kept


class WordIndex:
    """The words of a collection's records, each user's apart: own statistics, own lists."""

    def __init__(self, rows: WordRows, fields: Fields, afterwards: Afterwards, kept: KeptCopies | None = None) -> None:
        self._rows, self._fields, self._afterwards, self._kept = rows, fields, afterwards, kept
        self._users = ListsInRam()
        self._turn = threading.Lock()  # taken before the ledger's own, never within it, and after a user's own
        self._keeping = threading.Lock()  # taken before both: who writes down what is old would overrule what is newer
        self._meanwhile = WrittenMeanwhile()
        self._unwritten = NotYetWritten()
        self._half_done = False  # where an interrupt struck amid a change of what was learned

    @property
    def fields(self) -> Fields:
        return self._fields

    def look(self, scope: Scope, cue: str, fusion: Fusion, limit: int, within: Set[str] | None) -> WordsFound:
        """The records with the most of the cue's words, and what is to be said of any other."""
        when, languages = how_much_a_time_counts(cue), self._languages(scope)
        parts = [self._lists(one, cue, languages, when) for one in scope.parts]
        return found_by_words(cue, joined(parts), fusion, limit, within, when)

    def beside(self, scope: Scope, stored_ids: Sequence[str]) -> dict[str, Pair]:
        """What was said right before and right after each of the records that it knows."""
        found: dict[str, Pair] = {}
        for part in scope.parts:
            with self._resident(part) as user:
                layout, ids = user.conversation.layout, user.ids
                known = {one: user.numbers[one] for one in stored_ids if one in user.numbers}
            for one, (before, after) in ((one, next_to(layout, number)) for one, number in known.items()):
                found[one] = (None if before is None else ids[before], None if after is None else ids[after])
        return found

    def _languages(self, scope: Scope) -> list[str] | None:
        """The languages of all parts of a scope; None where it has one part, which knows its own."""
        if len(scope.parts) == 1:
            return None
        found = set()
        for part in scope.parts:
            with self._resident(part) as user:
                found.update(user.languages)
        return sorted(found)

    def _lists(self, scope: Scope, cue: str, languages: list[str] | None, when: float) -> Lists:
        """What one scope's lists say of the cue's words."""
        with self._resident(scope) as user:
            asked = words_of_cue(cue, user.languages if languages is None else languages)
            times = user.dated if when else None
            return Lists(user.conversation, user.postings(asked), user.ids, user.numbers, times)

    def put(self, scope: Scope, records: Sequence[Stored]) -> None:
        """Write down records as they were just written."""
        found = [(one.stored_id, one.record.text, metadata_of(scope, one.record, self._fields)) for one in records]
        rows = self._rows_of(found)
        stored_ids = [row[0] for row in rows]
        self._meanwhile.ours(stored_ids)
        self._rows.put({scope: rows})
        self._afterwards(lambda: self._as_written(stored_ids))

    def drop(self, stored_ids: Sequence[str]) -> None:
        """These are no more, or no longer what they were."""
        self._meanwhile.ours(stored_ids)
        self._rows.drop(stored_ids)
        self._afterwards(lambda: self._as_written(stored_ids))

    def changed(self, scope: Scope, found: Sequence[Found]) -> list[str]:
        """Those of the records that do not say what is known of them: another program wrote."""
        with self._resident(scope) as user:
            marks = {one.stored_id: user.mark(one.stored_id) for one in found}
        return [one.stored_id for one in found if marks[one.stored_id] != self._mark(one.text, one.metadata)]

    def miss(self, stored_ids: Collection[str]) -> None:
        """Learn that these are no more."""
        with self._alone():
            gone = self._meanwhile.of_others(stored_ids)
            self._unwritten.miss(gone, known=self._written(gone).keys())

    def take_in(self, found: Sequence[Laid]) -> None:
        """Learn of records as the collection has them, whoever they belong to."""
        for scope, own in self._by_owner(found).items():
            self._lay(scope, self._rows_of(own))

    @property
    def outdated(self) -> bool:
        """Whether some words were made by an earlier version, which did it otherwise."""
        return self._rows.version() < WORDS_VERSION

    def make_anew(self, found: Sequence[Laid]) -> None:
        """Write down the words of records as the collection has them, where an earlier version made other ones."""
        for scope, own in self._by_owner(found).items():
            texts = [one for one in (self._text_of(*row) for row in own) if word_rows.made_otherwise_before(one)]
            others = set(self._meanwhile.of_others(one.stored_id for one in texts))
            if rows := [word_rows.row_of(one) for one in texts if one.stored_id in others]:
                self._rows.put({scope: rows})

    def keep_version(self) -> None:
        """All words are made by this version now."""
        self._rows.keep_version(WORDS_VERSION)

    def comparing(self) -> AbstractContextManager[None]:
        """Meanwhile what this process writes is not overruled by what was read before."""
        return self._meanwhile.comparing()

    def page(self, scope: Scope, most: int) -> list[str]:
        """The next of the user's records, in turn."""
        with self._resident(scope) as user:
            return user.page(most)

    def compare(self, scope: Scope, asked: Set[str], found: Sequence[Laid]) -> None:
        """Learn of those of the user's that changed hands or text. What was `asked` for and not found is left to the
        comparison of all ids."""
        with self._resident(scope) as user:
            marks = {row[0]: user.mark(row[0]) for row in found}
        mine = {row[0] for row in found if owner_of(row[2], self._fields) == scope}
        changed = [row for row in found if row[0] in mine and marks[row[0]] != self._mark(row[1], row[2])]
        self.take_in([*changed, *(row for row in found if row[0] in asked and row[0] not in mine)])

    def keep(self, most: int) -> bool:
        """Write down as many as that of what was learned; whether there is more."""
        with self._keeping:
            with self._alone():
                entries = self._unwritten.taken(most)
            if entries:
                self._rows.put(by_scope(entries), gone=[one for one, entry in entries.items() if entry.row is None])
                with self._alone():
                    self._unwritten.written(entries)
        return len(self._unwritten) > 0

    @property
    def unwritten(self) -> int:
        """How much was learned and is not written down."""
        return len(self._unwritten)

    def size(self, scope: Scope | None = None) -> int:
        """How many records it knows, of all users; `scope` is whose words are to be looked at next."""
        return self._rows.size(scope) + self._unwritten.change

    def knows(self, stored_id: str) -> bool:
        """Whether it has a record's words, whoever it belongs to: of the newest one, that tells of a swap."""
        learned = self._unwritten.has(stored_id)
        return bool(self._written([stored_id])) if learned is None else learned

    def ever_known(self, stored_ids: Sequence[str]) -> list[str]:
        """Those of the records that it knows, or of which the ledger has something that is no longer so."""
        written = self._written(stored_ids)
        return [one for one in stored_ids if one in written or self._unwritten.has(one)]

    def known(self) -> set[str]:
        """All that it knows. What another process wrote down meanwhile is let go of here."""
        written = self._rows.stored_ids()  # all of them: nobody waits for that
        with self._alone():
            said = self._written(self._unwritten.ids(set()))
            if same := self._unwritten.as_written(said):
                self._unwritten.let_go(same)
                self._users.clear()
            return self._unwritten.ids(written)

    @interruptible
    def _alone(self) -> Generator[None, None, None]:
        """One thread at a time. After an interrupt in here the next one begins anew with what the ledger says, and what
        was learned beyond it is learned again."""
        with self._turn:
            if self._half_done:
                self._users.clear()
                self._unwritten = NotYetWritten()
            self._half_done = True
            try:
                yield
            except AdaptiveMemoryError:  # of the ledger, which is asked before anything is changed
                self._half_done = False
                raise
            self._half_done = False

    def _by_owner(self, found: Iterable[Laid]) -> dict[Scope | None, list[Laid]]:
        """Records by whom they belong to; None is nobody of ours."""
        owners: dict[Scope | None, list[Laid]] = {}
        for row in found:
            owners.setdefault(owner_of(row[2], self._fields), []).append(row)
        return owners

    def _lay(self, scope: Scope | None, rows: Sequence[Row]) -> None:
        with self._alone():
            others = set(self._meanwhile.of_others(row[0] for row in rows))
            rows = [row for row in rows if row[0] in others]
            self._unwritten.lay(scope, rows, known=self._written([row[0] for row in rows]).keys())

    def _as_written(self, stored_ids: Iterable[str]) -> None:
        """The ledger is right about these; told once its transaction is kept."""
        with self._alone():
            self._unwritten.let_go(stored_ids)

    def _written(self, stored_ids: Iterable[str]) -> dict[str, bytes]:
        """Those that the ledger has something of, with their marks."""
        return self._rows.marks(list(stored_ids))

    def _rows_of(self, found: Iterable[tuple[str, str | None, Metadata | None]]) -> list[Row]:
        """Records' words as the ledger has them."""
        return [word_rows.row_of(self._text_of(*one)) for one in found]

    def _text_of(self, stored_id: str, text: str | None, metadata: Metadata | None) -> Text:
        return Text(stored_id, text or "", self._turn_of(text, metadata), self._language_of(metadata))

    def _language_of(self, metadata: Metadata | None) -> str | None:
        return None if metadata is None else language_given(metadata.get(self._fields.language))

    def _turn_of(self, text: str | None, metadata: Metadata | None) -> Any:
        return turn_of(text or "", metadata, self._fields, created_at=created_at(metadata, self._fields))

    def _mark(self, text: str | None, metadata: Metadata | None) -> bytes:
        return word_rows.mark(text or "", self._turn_of(text, metadata), self._language_of(metadata))

    @interruptible
    def _resident(self, scope: Scope) -> Generator[PostingLists, None, None]:
        """The user's lists, as of now. While they are made and used only this user waits; all wait for the ledger."""
        held, is_as_before = self._users.of(scope), False
        try:
            with held.turn:
                self._begin_from_file(scope, held)
                with self._alone():
                    user, news = self._news(scope, held)
                    version = self._unwritten.version
                    stale = user.version != version
                    rows = dict(self._unwritten.rows(scope)) if stale else {}
                    overruled = set(self._unwritten.overruled) if stale else set()
                is_as_before = user is held.lists and not (stale or news.written or news.removed)
                held.lists = None  # whoever interrupts this leaves no half of it
                if stale:
                    user.lift(rows)
                user.take_in(news)
                if stale:
                    user.lay(rows, overruled, version)
                held.lists = user
                yield user
        finally:
            if not is_as_before or held.lists is None:
                self._users.used(scope, held)
        if self._kept is not None and held.lists is not None and self._kept.is_due(len(user), user.in_file):
            self._kept.ask(scope, held.taken, held.adopt)

    def _begin_from_file(self, scope: Scope, held: Held) -> None:
        """Lists that are not in RAM may stand in a file; nobody else waits while they are read."""
        if held.lists is None and self._kept is not None and (found := self._kept.read(scope)) is not None:
            held.lists = PostingLists.of(*found)

    def _news(self, scope: Scope, held: Held) -> tuple[PostingLists, WordNews]:
        """The user's lists as they were, new ones where those are of no more use, and what they have to take in."""
        user, change = held.lists, self._rows.last_change(scope)
        if user is not None and user.as_of == change and user.wasted <= WASTE:
            return user, WordNews(user.owner or 0, (), ())
        if user is None or user.wasted > WASTE:
            user = PostingLists()
        news = self._rows.news(scope, *user.seen)
        if user.owner not in (None, news.owner) or (user.ids and some_let_go(news.removed)):
            user = PostingLists()
            news = self._rows.news(scope, *user.seen)
        user.as_of = change
        return user, news
