"""And in an event loop? Every verb has an async twin; many users are served at once and every read is counted."""

from __future__ import annotations

import asyncio
import tempfile
import time

from adaptive_memory_core import AdaptiveMemory, Recall

USERS = ("ana", "ben", "cho", "dee")
CUES = ("what should I drink?", "where is the meeting?", "what is for lunch?")


async def fill(memory: AdaptiveMemory, user: str) -> None:
    await memory.for_user(user).aremember_many(
        [
            f"{user} drinks green tea.",
            f"{user}'s meeting is in room {len(user)}.",
            f"{user} has soup for lunch on Mondays.",
        ]
    )


async def ask(memory: AdaptiveMemory, user: str, cue: str) -> Recall:
    return await memory.for_user(user).arecall(cue, k=1)


async def main() -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory, AdaptiveMemory.open(directory) as memory:
        await asyncio.gather(*(fill(memory, user) for user in USERS))
        start = time.perf_counter()
        recalls = await asyncio.gather(*(ask(memory, user, cue) for user in USERS for cue in CUES))
        print(f"{len(recalls)} recalls at once in {1000 * (time.perf_counter() - start):.0f} ms")
        for recall in recalls:
            print(f"{recall.scope.user}: {recall.cue.text:<22} {recall[0].text}")
        for user in USERS:
            stats = await memory.for_user(user).astats()
            print(f"{user}: {stats.recalls} recalls, {stats.reads} reads counted")


if __name__ == "__main__":
    asyncio.run(main())
