"""Ids of records, digests of their texts, and names for memories without a user, such as a chat session's.

Reads, feedback and pins belong to a text and its source. Two texts are equal if they have the same characters in
Unicode's composed form (NFC), apart from white space between words; capitals and punctuation count. The source is the
first of `SOURCES` in a record's metadata, as frameworks write them; without a source, the text is the user's own.
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
ASIDE_MARK = "#was-"  # in the ids under which the ledger stores the state of a record's earlier text
_RESERVED = re.compile(rf"(?:{MARK}|{ASIDE_MARK})[0-9a-f]{{24}}#?\Z")


def scoped_id(scope: Scope, record_id: str) -> str:
    """The id for a record if its own id belongs to another user: always the same, and unique to this user.

    >>> scoped_id(Scope("bob"), "note") == scoped_id(Scope("bob"), "note") != scoped_id(Scope("eve"), "note")
    True
    """
    owner = "" if scope.user is None else scope.user
    digest = hashlib.blake2b(f"{len(owner)}:{owner}:{record_id}".encode(), digest_size=12).hexdigest()
    return f"{record_id}{MARK}{digest}"


def record_id(scope: Scope, stored_id: str) -> str:
    """The id as the user gave it.

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
    """The stored ids that a record with this id may have in the scopes that are read. The user's own come first, so
    that the user's record hides everyone's record with the same id.

    >>> places = stored_ids_of(Scope("bob"), "note")
    >>> places == ["note", scoped_id(Scope("bob"), "note")]
    True
    """
    return [record_id, *(scoped_id(one, record_id) for one in scope.parts)]


def own_places(scope: Scope, stored_id: str) -> list[str]:
    """The stored ids that a user's own record may have if it has the same id as this record of everyone's.

    >>> reader, everyones = Scope("bob", over="everyone"), scoped_id(Scope(None), "note")
    >>> own_places(reader, "note") == [scoped_id(reader, "note")]
    True
    >>> own_places(reader, everyones) == ["note", scoped_id(reader, "note")]
    True
    """
    known = record_id(scope, stored_id)
    return [one for one in (known, scoped_id(scope, known)) if one != stored_id]


def is_reserved(record: str) -> bool:
    """Whether an id has the form of a scoped id or of an id in the ledger for an earlier text. If a user chose such an
    id, it could collide with another user's record.

    >>> is_reserved(scoped_id(Scope("bob"), "note")), is_reserved("note#u-1"), is_reserved(f"note#was-{'0' * 24}")
    (True, False, True)
    """
    return _RESERVED.search(record) is not None


def namespaced(namespace: str, name: str) -> str:
    """The name of a memory without a user, which cannot collide with a user's name.

    >>> namespaced("session", "alice"), is_namespaced(namespaced("session", "alice")), is_namespaced("alice")
    ('session#n-alice', True, False)
    """
    return f"{namespace}{NAMESPACE_MARK}{name}"


def is_namespaced(user: str) -> bool:
    return NAMESPACE_MARK in user


SOURCES = ("file_path", "document_id", "doc_id", "ref_doc_id", "source")
NO_SOURCE = ("", "None")  # written by LlamaIndex if there is no source
LOOK_AGAIN = b""  # marks an overwritten record, whose new text is compared when it is next found
MOST_KNOWN = 50_000  # cached digests, of some 150 bytes each
_known: dict[tuple[int, int], bytes] = {}  # by the text's hash and length, so that no text stays in memory


def text_digest(text: str | None) -> bytes | None:
    """A digest of a text's words; None without a text.

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
    """The digest of each text; cached digests take a third of the time.

    >>> text_digests(["green tea", None]) == [text_digest("green tea"), None]
    True
    """
    known = _known.get
    return [None if one is None else known((hash(one), len(one))) or text_digest(one) for one in texts]


def each_text_once(now: float) -> Callable[[Record], bool]:
    """A test that is False for a record if another record with the same text came before. Superseded and expired
    records always pass.

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
    """The source of a record; "" if its metadata name none.

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
    """A digest of a text and its source, equal in any record; None without a text.

    >>> origin("tea", {"source": "d"}) == origin(" tea ", {"source": "d", "more": 1})
    True
    >>> origin("tea", {"source": "d"}) == origin("tea", {"source": "e"}), origin("", {"source": "d"})
    (False, None)
    """
    return words_and_origins([text], [metadata or {}])[0][1]


def words_and_origins(
    texts: Iterable[str | None], metadata: Iterable[Metadata]
) -> list[tuple[bytes | None, bytes | None]]:
    """Two digests for each text: of its words, and of its words with the source.

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


@lru_cache(maxsize=5_000)  # of some 300 bytes each if the source's name is short
def _origin_of(words: bytes, source: str) -> bytes:
    return hashlib.blake2b(f"{len(source)}:{source}:".encode(errors="replace") + words, digest_size=16).digest()


def exported_mark(text: str | None, metadata: Metadata | None) -> bytes:
    """The digest that identifies a record in an exported state: its origin, even without a text.

    >>> exported_mark("tea", {"source": "d"}) == origin("tea", {"source": "d"})
    True
    >>> exported_mark("", {"source": "d"}) == exported_mark("", {"source": "e"})
    False
    """
    return origin(text, metadata) or _origin_of(b"", source_of(metadata))
