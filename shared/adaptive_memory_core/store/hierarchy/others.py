"""What have other programs done to the messages? Compared with the whole collection, where somebody asks for it."""

from __future__ import annotations

from adaptive_memory_core.flow.message_entries import entry
from adaptive_memory_core.flow.ports.hierarchy_values import Entry
from adaptive_memory_core.records import MESSAGE_KIND, Scope
from adaptive_memory_core.store.hierarchy.growing import Growing
from adaptive_memory_core.stored_metadata import record_of


def written_by_others(growing: Growing, scope: Scope) -> tuple[list[Entry], list[str]]:
    """Messages that are new or say something else, and the ids of those that are gone or are none any more."""
    known, fields = growing.rows.said(scope), growing.fields
    new: list[Entry] = []
    for page in growing.records.pages(scope):
        for one in page:
            record = record_of(scope, one.stored_id, one.text, one.metadata, fields)
            if record.kind != MESSAGE_KIND:
                continue
            found = entry(one.stored_id, record.text, one.metadata, fields, at=record.created_at)
            if known.pop(one.stored_id, b"") != found.said:
                new.append(found)
    return new, list(known)
