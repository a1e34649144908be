"""How does a crew of CrewAI get this memory? By a storage over one user's: copy this file.

docs/guides/agents.md shows its use. Tested with crewai 1.15.30.
"""

import asyncio
import json
from datetime import datetime, timezone

from crewai.memory.types import MemoryRecord, ScopeInfo
from crewai.memory.utils import normalize_scope_path

from adaptive_memory_core import Cue, NotFoundError

KEPT = {"scope", "categories", "metadata", "source", "private"}  # what only CrewAI knows, as one metadata value


class AdaptiveStorage:
    """A `StorageBackend` over the memory of one user, which never leaves it."""

    def __init__(self, user, embedder):
        self.user, self.embedder, self.texts, self.found = user, embedder, {}, {}

    def embed(self, texts):  # CrewAI gives `search` a vector alone; the words are needed as well
        vectors = [[float(number) for number in vector] for vector in self.embedder(texts)]
        self.texts.update(zip(map(tuple, vectors), texts, strict=True))
        for old in list(self.texts)[:-1000]:
            self.texts.pop(old, None)
        return vectors

    def save(self, records):
        self.user.remember_many([self.stored(one) for one in records])

    def update(self, record):
        self.save([record])

    def search(self, query_embedding, limit=10, min_score=0.0, **where):
        if (text := self.texts.get(tuple(query_embedding))) is None:
            raise ValueError(
                "This vector is not of storage.embed. Give Memory(storage=storage, embedder=storage.embed)."
            )
        asked = {"k": limit, "min_score": min_score, "accept": lambda one: matches(self.record(one), **where)}
        recall = self.user.recall(Cue(text, query_embedding), reinforce=False, **asked)
        self.found |= {hit.id: (recall.cue, hit.similarity) for hit in recall}
        return [(self.record(hit.hit.record), hit.score) for hit in recall]

    def touch_records(self, record_ids):  # what a crew was given counts as read; the look-ups before a save do not
        for cue in {self.found[one][0] for one in record_ids}:
            hits = {one: self.found[one][1] for one in record_ids if self.found[one][0] == cue}
            self.user.rerank(cue, hits)

    def get_record(self, record_id):
        try:
            return self.record(self.user.get(record_id))
        except NotFoundError:
            return None

    def list_records(self, scope_prefix=None, limit=200, offset=0):
        return self.all(scope_prefix)[offset : offset + limit]

    def delete(self, record_ids=None, **where):
        ids = [one.id for one in self.all(**where) if record_ids is None or one.id in record_ids]
        return len(self.user.forget(ids)) if ids else 0

    def reset(self, scope_prefix=None):
        self.delete(scope_prefix=scope_prefix)

    def count(self, scope_prefix=None):
        return len(self.all(scope_prefix))

    def list_scopes(self, parent="/"):
        below = {inside(one.scope).removeprefix(inside(parent)).split("/")[0] for one in self.all(parent)}
        return [inside(parent) + child for child in sorted(below - {""})]

    def list_categories(self, scope_prefix=None):
        named = [name for one in self.all(scope_prefix) for name in one.categories]
        return {name: named.count(name) for name in named}

    def get_scope_info(self, scope):
        times = [one.created_at for one in self.all(scope)]
        dates = {"oldest_record": min(times), "newest_record": max(times)} if times else {}
        named = {"categories": sorted(self.list_categories(scope)), "child_scopes": self.list_scopes(scope)}
        return ScopeInfo(path=scope, record_count=len(times), **named, **dates)

    async def asave(self, records):
        await asyncio.to_thread(self.save, records)

    async def asearch(self, query_embedding, **asked):
        return await asyncio.to_thread(self.search, query_embedding, **asked)

    async def adelete(self, **asked):
        return await asyncio.to_thread(self.delete, **asked)

    def all(self, scope_prefix=None, **where):
        records = map(self.record, self.user.records(limit=1_000_000))
        return [one for one in records if matches(one, scope_prefix, **where)]

    @staticmethod
    def stored(one):
        at = one.created_at.replace(tzinfo=timezone.utc)  # CrewAI's times are UTC without a zone
        own = {"id": one.id, "text": one.content, "importance": one.importance, "created_at": at}
        return {**own, "metadata": {"crewai": one.model_dump_json(include=KEPT)}}

    @staticmethod
    def record(one):
        at = datetime.fromtimestamp(one.created_at or 0, timezone.utc).replace(tzinfo=None)
        importance = 0.5 if one.written_importance is None else one.written_importance
        own = {"id": one.id, "content": one.text, "importance": importance, "created_at": at}
        return MemoryRecord(**own, **json.loads(one.metadata.get("crewai", "{}")))


def inside(scope):  # the path with one slash at its end, so that /work is not the start of /workshop
    return normalize_scope_path(scope).rstrip("/") + "/"


def matches(record, scope_prefix=None, categories=None, metadata_filter=None, older_than=None):
    within = inside(record.scope).startswith(inside(scope_prefix or "/"))
    named = not categories or not set(categories).isdisjoint(record.categories)
    wanted = (metadata_filter or {}).items() <= record.metadata.items()
    return within and named and wanted and (older_than is None or record.created_at < older_than)
