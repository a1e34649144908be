"""How does a Google ADK agent get this memory? By a memory service over it: copy this file.

docs/guides/agents.md shows its use. Tested with google-adk 2.13.0.
"""

import json
from datetime import datetime, timezone

from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
from google.adk.memory.memory_entry import MemoryEntry
from google.genai import types


class AdaptiveMemoryService(BaseMemoryService):
    def __init__(self, memory, k=5):
        self.memory, self.k = memory, k

    def of(self, app_name, user_id):  # no pair of app and user can be taken for another
        if not (app_name and user_id):
            raise ValueError(
                f"app_name is {app_name!r} and user_id {user_id!r}. Give both: they say whose memory it is."
            )
        return self.memory.for_user(json.dumps([app_name, user_id]))

    async def add_session_to_memory(self, session):
        who = {"app_name": session.app_name, "user_id": session.user_id}
        await self.add_events_to_memory(**who, events=session.events, session_id=session.id)

    async def add_events_to_memory(self, *, app_name, user_id, events, session_id=None, custom_metadata=None):
        given = {"session": session_id, "metadata": custom_metadata or {}}
        said = [(one, text_of(one.content)) for one in events]
        messages = [{"id": e.id, "text": t, "speaker": e.author, "at": e.timestamp, **given} for e, t in said if t]
        await self.of(app_name, user_id).aobserve(messages)

    async def add_memory(self, *, app_name, user_id, memories, custom_metadata=None):
        more = custom_metadata or {}
        facts = [{"id": m.id, "text": text_of(m.content), "metadata": {**m.custom_metadata, **more}} for m in memories]
        await self.of(app_name, user_id).aremember_many(facts)

    async def search_memory(self, *, app_name, user_id, query):
        user = self.of(app_name, user_id)
        found = await user.arecall(query, k=self.k) if query.strip() else []
        return SearchMemoryResponse(memories=[entry_of(hit) for hit in found])

    async def delete_memory(self, *, app_name, user_id, memory_id=None):
        await self.of(app_name, user_id).aforget(memory_id)


def text_of(content):
    parts = content.parts or [] if content else []
    return " ".join(part.text for part in parts if part.text and not part.thought).strip()


def entry_of(hit):
    at = datetime.fromtimestamp(hit.created_at, timezone.utc).isoformat()
    content = types.Content(role="user", parts=[types.Part(text=hit.text)])
    return MemoryEntry(id=hit.id, author=hit.metadata.get("speaker"), timestamp=at, content=content)
