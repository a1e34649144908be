"""Ids of records and of their texts.

Also the user's name for a memory that is not a user's but, say, a chat session's.

Reads, verdicts and pins belong to what was said. Two texts say the same if they have the same characters in Unicode's
composed form (NFC), whatever white space stands between their words; capitals and punctuation count. The source is the
first of `SOURCES` that a record's metadata name, as frameworks write them; where there is none, it is the user's own.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from adaptive_memory_core.records import Metadata, Record, Scope

MARK = "#u-"
NAMESPACE_MARK = "#n-"
ASIDE_MARK = "#was-"  # in the names under which the ledger sets aside what a record said before
_RESERVED = re.compile(rf"(?:{MARK}|{ASIDE_MARK})[0-9a-f]{{24}}#?\Z")


def scoped_id(scope: Scope, record_id: str) -> str:
    """The id a record gets where its own one belongs to somebody else: the same every time, and nobody else's.

    >>> scoped_id(Scope("bob"), "note") == scoped_id(Scope("bob"), "note") != scoped_id(Scope("eve"), "note")
    True
    """
    owner = "" if scope.user is None else scope.user
    digest = hashlib.blake2b(f"{len(owner)}:{owner}:{record_id}".encode(), digest_size=12).hexdigest()
    return f"{record_id}{MARK}{digest}"


def record_id(scope: Scope, stored_id: str) -> str:
    """The id as the user knows it.

    >>> record_id(Scope("bob"), scoped_id(Scope("bob"), "note"))
    'note'
    >>> record_id(Scope("bob"), "note#u-1"), record_id(Scope("bob"), "note")
    ('note#u-1', 'note')
    """
    if MARK not in stored_id:
        return stored_id
    own = stored_id.rpartition(MARK)[0]
    return own if any(scoped_id(one, own) == stored_id for one in scope.parts) else stored_id


def stored_ids_of(scope: Scope, record_id: str) -> list[str]:
    """The places in the collection that may hold a record with this id, of all that the scope reads: the user's own
    place first, so that an own record hides everyone's with the same id.

    >>> places = stored_ids_of(Scope("bob"), "note")
    >>> places == ["note", scoped_id(Scope("bob"), "note")]
    True
    """
    return [record_id, *(scoped_id(one, record_id) for one in scope.parts)]


def own_places(scope: Scope, stored_id: str) -> list[str]:
    """Where a user's own record may stand that has the same id as this one of everyone's.

    >>> reader, everyones = Scope("bob", over="everyone"), scoped_id(Scope(None), "note")
    >>> own_places(reader, "note") == [scoped_id(reader, "note")]
    True
    >>> own_places(reader, everyones) == ["note", scoped_id(reader, "note")]
    True
    """
    known = record_id(scope, stored_id)
    return [one for one in (known, scoped_id(scope, known)) if one != stored_id]


def is_reserved(record: str) -> bool:
    """Whether an id has the form of a scoped one, or of what the ledger sets aside: a user who chose it would take
    another one's place.

    >>> is_reserved(scoped_id(Scope("bob"), "note")), is_reserved("note#u-1"), is_reserved(f"note#was-{'0' * 24}")
    (True, False, True)
    """
    return _RESERVED.search(record) is not None


def namespaced(namespace: str, name: str) -> str:
    """The name of a memory without a user: no user can have this name, so it cannot be confused with a user's memory.

    >>> namespaced("session", "alice"), is_namespaced(namespaced("session", "alice")), is_namespaced("alice")
    ('session#n-alice', True, False)
    """
    return f"{namespace}{NAMESPACE_MARK}{name}"


def is_namespaced(user: str) -> bool:
    return NAMESPACE_MARK in user


SOURCES = ("file_path", "document_id", "doc_id", "ref_doc_id", "source")
NO_SOURCE = ("", "None")  # what LlamaIndex writes where there is none
LOOK_AGAIN = b""  # of a record that was written over: whose words it took is seen when somebody comes upon it
MOST_KNOWN = 50_000  # digests kept, of some 150 bytes each
_known: dict[tuple[int, int], bytes] = {}  # by the text's hash and length, so that no text is held


def text_digest(text: str | None) -> bytes | None:
    """A digest of the words; None where there is no text.

    >>> text_digest("green  tea\\n") == text_digest("green tea"), text_digest("green tea") == text_digest("Green tea")
    (True, False)
    >>> text_digest("caf\\u00e9") == text_digest("cafe\\u0301"), text_digest(None)
    (True, None)
    """
    if text is None:
        return None
    key = (hash(text), len(text))
    found = _known.get(key)
    if found is None:
        words = " ".join(unicodedata.normalize("NFC", text).split())
        found = hashlib.blake2b(words.encode(errors="replace"), digest_size=16).digest()
        if len(_known) >= MOST_KNOWN:
            _known.clear()
        _known[key] = found
    return found


def text_digests(texts: Sequence[str | None]) -> list[bytes | None]:
    """The digest of each, in a third of the time where they are known.

    >>> text_digests(["green tea", None]) == [text_digest("green tea"), None]
    True
    """
    known = _known.get
    return [None if one is None else known((hash(one), len(one))) or text_digest(one) for one in texts]


def each_text_once(now: float) -> Callable[[Record], bool]:
    """Whether a record is to be returned: of those that say the same and hold now, the first that is asked for.

    >>> once = each_text_once(now=5.0)
    >>> [once(Record(*given)) for given in (("a", "tea"), ("b", " tea"), ("a", "tea"), ("c", "Tea"))]
    [True, False, True, True]
    """
    first: dict[bytes | None, str] = {}

    def once(record: Record) -> bool:
        over = record.superseded_by is not None or (record.valid_until is not None and record.valid_until <= now)
        return over or first.setdefault(text_digest(record.text), record.id) == record.id

    return once


def source_of(metadata: Metadata | None) -> str:
    """What a record was taken from, "" where nothing says so.

    >>> source_of({"source": "a.md"}), source_of({"document_id": "None"}), source_of({"source": "a.md", "doc_id": 7})
    ('a.md', '', '7')
    """
    if metadata is None or metadata.keys().isdisjoint(SOURCES):  # nearly always
        return ""
    for name in SOURCES:
        found = metadata.get(name)
        if (isinstance(found, str) and found not in NO_SOURCE) or type(found) is int:
            return str(found)
    return ""


def origin(text: str | None, metadata: Metadata | None) -> bytes | None:
    """What was said and in which source, as one digest: equal in any record; None if nothing was said.

    >>> origin("tea", {"source": "d"}) == origin(" tea ", {"source": "d", "more": 1})
    True
    >>> origin("tea", {"source": "d"}) == origin("tea", {"source": "e"}), origin("", {"source": "d"})
    (False, None)
    """
    return words_and_origins([text], [metadata or {}])[0][1]


def words_and_origins(
    texts: Iterable[str | None], metadata: Iterable[Metadata]
) -> list[tuple[bytes | None, bytes | None]]:
    """Of each text the digest of its words, and the one of what was said in which source.

    >>> words_and_origins(["tea"], [{"source": "d"}]) == [(text_digest("tea"), origin("tea", {"source": "d"}))]
    True
    """
    found: list[tuple[bytes | None, bytes | None]] = []
    for text, own in zip(texts, metadata, strict=True):
        words = None if text is None else _known.get((hash(text), len(text))) or text_digest(text)
        if words is None or not text or text.isspace():
            found.append((words, None))
        else:
            found.append((words, _origin_of(words, "" if own.keys().isdisjoint(SOURCES) else source_of(own))))
    return found


@lru_cache(maxsize=5_000)  # of some 300 bytes each, where the source's name is short
def _origin_of(words: bytes, source: str) -> bytes:
    return hashlib.blake2b(f"{len(source)}:{source}:".encode(errors="replace") + words, digest_size=16).digest()


def exported_mark(text: str | None, metadata: Metadata | None) -> bytes:
    """The digest by which an exported state names a record: its origin, also where nothing was said.

    >>> exported_mark("tea", {"source": "d"}) == origin("tea", {"source": "d"})
    True
    >>> exported_mark("", {"source": "d"}) == exported_mark("", {"source": "e"})
    False
    """
    return origin(text, metadata) or _origin_of(b"", source_of(metadata))
