"""Conversion of records to Documents and back, with the user's own metadata unchanged."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from langchain_core.documents import Document

from adaptive_memory_core import Fields, InvalidInputError, Recall, Scope, ScopeError, Scored
from adaptive_memory_core.context.themes import whole_episode
from adaptive_memory_core.error_messages import listed, shown
from adaptive_memory_core.fields import read_driven
from adaptive_memory_core.record_metadata import without_read_state

SCORE, DETAILS = "score", "adaptive_memory"
NOTE = "_adaptive_memory_recall"  # an attribute that is not part of the document's prompt, hash or dump
ARGUMENTS = ("kind", "importance", "created_at", "valid_from", "valid_until", "supersedes", "derived_from")
TIMES = ("created_at", "valid_from", "valid_until")


class Recalled(Document):
    """A document that equals other documents of the same record, whatever their scores.

    `MultiQueryRetriever` drops duplicates by equality, and would otherwise keep a record once per query. Otherwise it
    is a Document, also by name, so that a store returns a plain Document.
    """

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Document):
            return NotImplemented
        return (self.id, self.page_content, _told(self)) == (other.id, other.page_content, _told(other))

    __hash__ = None  # type: ignore[assignment] # as for a Document

    def __reduce__(self) -> tuple[Any, ...]:
        return _plain, (self.id, self.page_content, self.metadata, getattr(self, NOTE, None))


Recalled.__name__ = Recalled.__qualname__ = Document.__name__
Recalled.__module__ = Document.__module__


def _told(document: Document) -> dict[str, Any]:
    """The record's own metadata."""
    return {key: value for key, value in document.metadata.items() if key not in (SCORE, DETAILS)}


def _plain(name: str | None, text: str, metadata: dict[str, Any], note: tuple[str, str, bool] | None) -> Document:
    document = Document(id=name, page_content=text, metadata=metadata)
    if note is not None:
        object.__setattr__(document, NOTE, note)
    return document


def documents_of(recall: Recall, fields: Fields, *, score: str = "blend", annotate: bool = True) -> list[Document]:
    """The hits of a recall, best first, as new documents."""
    return [document_of(hit, recall, fields, score=score, annotate=annotate) for hit in recall]


def document_of(
    hit: Scored, recall: Recall, fields: Fields, *, score: str = "blend", annotate: bool = True
) -> Document:
    """A hit with its metadata from the collection, `score`, and all other additions under one key. In a top-down
    recall it is the whole episode that the hit represents.

    The read-driven keys appear only under that key, with their current values instead of those last written back.
    Without `annotate` nothing is added to the metadata. In both cases the document is linked to its recall.
    """
    metadata, episode = without_read_state(hit.record.stored, fields), whole_episode(hit, recall)
    if annotate:
        details = details_of(hit, recall) | ({} if episode is None else episode.metadata)
        if hidden := {key: metadata[key] for key in (SCORE, DETAILS) if key in metadata}:
            details["hidden"] = hidden
        number = hit.score if score == "blend" else hit.similarity
        metadata = {**metadata, SCORE: float(number), DETAILS: details}
    text = hit.text if episode is None else episode.text
    document = Recalled(id=hit.id, page_content=text, metadata=metadata)
    object.__setattr__(document, NOTE, (hit.id, recall.id, not hit.hit.learnable))
    return document


def details_of(hit: Scored, recall: Recall) -> dict[str, Any]:
    """How the score was calculated and the state of the record, in JSON types. `recall_id` is what feedback needs."""
    read = hit.record.read
    return {
        "id": hit.id,
        "recall_id": recall.id,
        "parts": {name: float(part) for name, part in hit.parts.items()},
        "similarity": float(hit.similarity),
        "importance": hit.record.importance,
        "last_read": read.last_read,
        "retrieval_count": read.retrieval_count,
        "remembered": read.remembered,
        "strength": float(read.strength),
        "pinned": read.pinned,
        **({} if hit.shared is None else {"shared": hit.shared, "learnable": hit.hit.learnable}),
        **({"embedder_failed": True} if recall.cue.vector is None else {}),
        **({} if hit.older_than is None else {"older_than": hit.older_than, "older_perhaps": hit.older_perhaps}),
    }


def items_of(
    documents: Iterable[Document], scope: Scope, fields: Fields, ids: Sequence[str | None] | None = None
) -> list[dict[str, Any]]:
    """The items of `remember_many` for these documents. Documents without text, such as empty pages, are skipped with
    a warning, since they could never be found."""
    items = [arguments_of(one, scope, fields) for one in documents]
    if ids is not None:
        items = [{**item, "id": name} for item, name in zip(items, ids, strict=True)]
    empty = [place for place, item in enumerate(items) if not item["text"].strip()]
    if empty:
        warnings.warn(
            f"{len(empty)} of {len(items)} documents have no text and were skipped, at the positions {listed(empty)}. "
            "The others were added.",
            UserWarning,
            stacklevel=4,
        )
    return [item for item in items if item["text"].strip()]


def arguments_of(document: Document, scope: Scope, fields: Fields) -> dict[str, Any]:
    """The arguments of `remember` for a document, without a recall's additions and without read state.

    >>> note = Document("likes tea", id="n", metadata={"source": "chat", "importance": 0.7, "score": 0.9})
    >>> arguments_of(note, Scope("ana"), Fields())
    {'text': 'likes tea', 'id': 'n', 'importance': 0.7, 'metadata': {'source': 'chat', 'score': 0.9}}
    """
    if not isinstance(document, Document):
        raise InvalidInputError(f"A document was given as {type(document).__name__}. Give a LangChain Document.")
    metadata = _without_ours(document.metadata, fields)
    owner = metadata.pop(fields.user_id, None)
    if owner is not None and Scope.of(owner) != scope:
        raise ScopeError(
            f"The document {shown(document.id)} has {fields.user_id}={shown(owner)}, but it was given to the memory "
            f"of {scope}. "
            "Add it for that user, or remove the key."
        )
    known = {name: metadata.pop(getattr(fields, name), None) for name in ARGUMENTS}
    known |= {name: _moment(known[name]) for name in TIMES}
    if isinstance(known["importance"], int | float) and not isinstance(known["importance"], bool):
        known["importance"] = known["importance"] / fields.importance_scale
    arguments = {"text": document.page_content, "id": document.id, **known}
    return {**{key: value for key, value in arguments.items() if value is not None}, "metadata": metadata}


def _without_ours(metadata: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    """The user's own metadata, without None values, which databases do not store."""
    details = metadata.get(DETAILS)
    added = {SCORE, DETAILS} if isinstance(details, Mapping) and "recall_id" in details else set()
    given = {key: value for key, value in metadata.items() if key not in added and value is not None}
    if added and isinstance(details, Mapping):
        given.update(details.get("hidden") or {})
    written = {getattr(fields, name) for name in ("superseded_by", "derived", "derived_stale")}
    dropped = read_driven(fields) | written
    return {key: value for key, value in given.items() if key not in dropped}


def _moment(value: Any) -> Any:
    """A datetime or an ISO text as a datetime, in UTC if it has no zone. The core checks all other values.

    >>> _moment("2026-05-01") == _moment(datetime(2026, 5, 1)) == datetime(2026, 5, 1, tzinfo=timezone.utc)
    True
    """
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.replace("Z", "+00:00"))
        except ValueError:
            return value
    naive = isinstance(value, datetime) and value.tzinfo is None
    return value.replace(tzinfo=timezone.utc) if naive else value
