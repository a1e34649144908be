"""What of the collection's records do their copies say otherwise? And in which portions is that written down?

Where only metadata differ, the copy's vector and text stay as they are: nobody has to read them again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from adaptive_memory_core.fields import Fields
from adaptive_memory_core.flow.ports import MirrorRow
from adaptive_memory_core.records import Metadata, Scope
from adaptive_memory_core.store.words.compared import says_the_same
from adaptive_memory_core.stored_owner import owner_of

ALIKE = 1e-4  # difference of two unit vectors up to which they are the same: Chroma keeps single precision
PORTION = 50  # records that are written in one transaction, for whose end recalls of this process wait
Row = tuple[str, str | None, Metadata | None, Any]
Copy = tuple[str, str | None, Metadata | None]


class Portion(NamedTuple):
    """What is written at a time: rows of each owner, records that are gone, and metadata of copies that else stay."""

    rows: Mapping[Scope | None, Sequence[MirrorRow]]
    gone: Sequence[str]
    revised: Mapping[str, Metadata | None]


class Differing(NamedTuple):
    """Records that the copies lack or have otherwise; those with other metadata alone; and of both those that had a
    copy, and say something else that is found by words."""

    whole: Sequence[Row]
    revised: Mapping[str, Metadata | None]
    reworded: Sequence[str]

    def portions(self, gone: Sequence[str], fields: Fields) -> Iterator[Portion]:
        """All of it, and what is gone, a bit at a time."""
        for rows in _parts(self.whole):
            owners: dict[Scope | None, list[MirrorRow]] = {}
            for stored_id, text, metadata, vector in rows:
                copy = MirrorRow(stored_id, text, metadata, np.asarray(vector, dtype="<f4").tobytes())
                owners.setdefault(owner_of(metadata, fields), []).append(copy)
            yield Portion(owners, (), {})
        for some in _parts(list(self.revised.items())):
            yield Portion({}, (), dict(some))
        for ids in _parts(gone):
            yield Portion({}, ids, {})


def differing(
    found: Sequence[Row], copies: Mapping[str, Copy], vectors: Mapping[str, bytes], fields: Fields
) -> Differing:
    """How the collection's rows differ from the copies and their vectors, where there are any.

    >>> tea, hot = ("a", "tea", {"n": 1}, [1.0]), {"a": ("a", "tea", {"n": 2})}
    >>> one = np.array([1.0], dtype="<f4").tobytes()
    >>> differing([tea], hot, {"a": one}, Fields())
    Differing(whole=[], revised={'a': {'n': 1}}, reworded=[])
    >>> differing([tea], {"a": tea[:3]}, {"a": one}, Fields())
    Differing(whole=[], revised={}, reworded=[])
    >>> differing([tea], {}, {}, Fields()).whole == [tea]
    True
    """
    whole, revised, reworded = list[Row](), dict[str, Metadata | None](), list[str]()
    for row in found:
        stored_id, copy = row[0], copies.get(row[0])
        as_found = copy is not None and _is_alike(row[3], vectors.get(stored_id))
        if copy is not None and as_found and _same_but_metadata(row, copy, fields):
            if (copy[2] or None) == (row[2] or None):
                continue
            revised[stored_id] = row[2]
        else:
            whole.append(row)
        if copy is not None and not says_the_same(row[:3], copy, fields):
            reworded.append(stored_id)
    return Differing(whole, revised, reworded)


def _same_but_metadata(row: Row, copy: Copy, fields: Fields) -> bool:
    return copy[1] == row[1] and owner_of(copy[2], fields) == owner_of(row[2], fields)


def _is_alike(vector: Any, kept: bytes | None) -> bool:
    one = np.asarray(vector, dtype="<f4")
    if kept is None or one.nbytes != len(kept):
        return False
    other = np.frombuffer(kept, dtype="<f4")
    lengths = float(np.linalg.norm(one)) or 1.0
    return bool(np.abs(one - other).max(initial=0.0) <= ALIKE * lengths)


def _parts(ones: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(ones), PORTION):
        yield ones[start : start + PORTION]
