"""Which records are known to say what the word index has of them? What a recall comes upon is compared once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports import Found
from adaptive_memory_core.records import Metadata, Scope
from adaptive_memory_core.stored_owner import owner_of

MOST_COMPARED = 50_000  # records that are known to say what they said


Laid = tuple[str, str | None, Metadata | None]  # a record's id, text and metadata


def keys_read(fields: Fields) -> tuple[str, ...]:
    """The metadata that the index has something of, besides whom a record belongs to."""
    return fields.speaker, fields.session, fields.seq, fields.language, fields.created_at


def says_the_same(one: Laid, other: Laid, fields: Fields) -> bool:
    """Whether the index has the same of two states of a record.

    >>> says_the_same(("a", "tea", {"topic": "drinks"}), ("a", "tea", None), Fields())
    True
    >>> says_the_same(("a", "tea", {"user_id": "ana"}), ("a", "tea", {"user_id": "bo"}), Fields())
    False
    """
    this, that = one[2] or {}, other[2] or {}
    return (
        one[1] == other[1]
        and owner_of(one[2], fields) == owner_of(other[2], fields)
        and all(this.get(key) == that.get(key) for key in keys_read(fields))
    )


class Compared:
    """What was compared, by a number that changes with whatever the index has of a record.

    >>> known, tea = Compared(Fields()), Found("a", "tea", {"topic": "drinks"}, 0.5)
    >>> known.keep(Scope("ana"), [tea])
    >>> known.unknown(Scope("ana"), [tea, tea._replace(text="coffee")]) == [tea._replace(text="coffee")]
    True
    """

    def __init__(self, fields: Fields) -> None:
        self._keys = keys_read(fields)
        self._known: dict[str, int] = {}
        self._as_known: tuple[Hashable, set[str]] = (None, set())  # which were so in what state of the collection

    def unknown_in(self, state: Hashable, scope: Scope, found: Sequence[Found]) -> list[Found]:
        """`unknown`, which looks at each but once in a state of the collection: the one before they were found, None
        where that is not known."""
        if state is None:
            return self.unknown(scope, found)
        as_of, as_known = self._as_known
        if as_of != state:
            as_of, as_known = self._as_known = state, set()
        rest = [one for one in found if one[0] not in as_known]
        if not rest:
            return rest
        unknown = self.unknown(scope, rest)
        as_known.update({one[0] for one in rest}.difference([one[0] for one in unknown]))
        return unknown

    def unknown(self, scope: Scope, found: Sequence[Found]) -> list[Found]:
        """Those that have yet to be compared as they are."""
        known, keys, user = self._known.get, self._keys, scope.user
        try:  # what `_number` gives, without a call for each
            return [
                one
                for one in found
                if known(one[0]) != hash((user, one[1], () if (said := one[2]) is None else tuple(map(said.get, keys))))
            ]
        except TypeError:
            return [one for one in found if known(one.stored_id) != self._number(scope, one)]

    def keep(self, scope: Scope, found: Sequence[Found]) -> None:
        """These say what the index has of them, or it is learning what they say."""
        if len(self._known) >= MOST_COMPARED:
            self._known = {}
        self._known.update({one.stored_id: self._number(scope, one) for one in found})

    def forget(self, stored_ids: Iterable[str]) -> None:
        """What the index has of these is about to change."""
        for one in stored_ids:
            self._known.pop(one, None)
            self._as_known[1].discard(one)

    def _number(self, scope: Scope, one: Found) -> int:
        said = () if one.metadata is None else tuple(map(one.metadata.get, self._keys))
        try:
            return hash((scope.user, one.text, said))
        except TypeError:  # a list, which no index reads
            return hash((scope.user, one.text, repr(said)))
