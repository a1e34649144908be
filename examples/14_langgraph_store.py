"""What changes when LangGraph's store learns? One line: AdaptiveMemoryStore where InMemoryStore was."""

from __future__ import annotations

import asyncio
import tempfile
from typing import Any

from langgraph.store.base import BaseStore

from adaptive_memory_core import LocalEmbedder
from langchain_adaptive_memory import AdaptiveMemoryStore

INDEX: Any = {"dims": 256, "embed": LocalEmbedder(), "fields": ["text"]}  # any Embeddings, function or "provider:model"
ANA = ("users", "ana", "facts")


def fill(store: BaseStore) -> None:
    store.put(ANA, "diet", {"text": "Ana eats no meat.", "source": "chat", "stars": 5})
    store.put(ANA, "home", {"text": "Ana lives in Brno.", "source": "form", "stars": 3})
    store.put(ANA, "guest", {"text": "Ana's guest eats fish on Friday.", "source": "chat", "stars": 4}, ttl=60)
    store.put(("users", "ben", "facts"), "diet", {"text": "Ben eats meat every day.", "source": "chat", "stars": 5})


def look(store: BaseStore) -> None:
    """Searching under a prefix never leaves it, and each item that comes back is read."""
    for item in store.search(ANA, query="what does Ana eat?", filter={"stars": {"$gte": 4}}):
        print(f"  {item.score:.2f}  {item.key}: {item.value['text']}")


async def main() -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as path:
        with AdaptiveMemoryStore(INDEX, path=path) as store:
            fill(store)
            print("first")
            look(store)

        print("after a restart")
        async with AdaptiveMemoryStore(INDEX, path=path) as store:
            look(store)
            found = await store.asearch(("users",), query="who eats meat?", limit=1)
            print(f"  across users: {found[0].namespace}")
            print(f"  namespaces: {await store.alist_namespaces(max_depth=2)}")
            assert store.scope is not None
            recall = store.scope.recalls(limit=1)[0]
            print(f"  the log knows what was asked last: {recall.cue!r}")


if __name__ == "__main__":
    asyncio.run(main())
