"""What of memories that another system has exported? A JSON file in the style of mem0 becomes each user's memory."""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from datetime import datetime
from pathlib import Path
from typing import Any

from adaptive_memory_core import AdaptiveMemory

EXPORT = """
{"results": [
  {"id": "m-1", "memory": "Is allergic to peanuts", "user_id": "ana", "hash": "1c5d", "categories": ["health"],
   "metadata": {"source": "chat"}, "created_at": "2026-03-01T09:00:00.000000-08:00", "updated_at": null},
  {"id": "m-2", "memory": "Lives in Brno", "user_id": "ana", "hash": "77ab", "categories": null,
   "metadata": null, "created_at": "2026-01-07T10:30:00Z", "updated_at": "2026-05-20T08:00:00Z"},
  {"id": "m-1", "memory": "Drinks black coffee", "user_id": "ben", "hash": "90fe",
   "metadata": {"source": "mail"}, "created_at": "2026-04-02T12:00:00+00:00"},
  {"id": "m-9", "memory": "Answers in one sentence", "agent_id": "helper", "created_at": "2026-04-02T12:00:00+00:00"}
]}
"""


def read(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The arguments of `remember` for each user's memories; what is no user's is left out, and counted."""
    exported = json.loads(path.read_text(encoding="utf-8"))
    rows = exported["results"] if isinstance(exported, dict) else exported
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        if row.get("user_id"):
            found[row["user_id"]].append(arguments_of(row))
    kept = sum(map(len, found.values()))
    print(f"{kept} of {len(rows)} memories belong to a user")
    return found


def arguments_of(row: dict[str, Any]) -> dict[str, Any]:
    """One memory: its text and id, when it was last said, and whatever else was known of it."""
    said = row.get("updated_at") or row["created_at"]
    metadata = {**(row.get("metadata") or {}), "categories": row.get("categories")}
    return {
        "text": row["memory"],
        "id": row["id"],
        "kind": "fact",
        "created_at": datetime.fromisoformat(said.replace("Z", "+00:00")),
        "metadata": {name: value for name, value in metadata.items() if value},
    }


def main() -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        path = Path(directory, "export.json")
        path.write_text(EXPORT, encoding="utf-8")
        with AdaptiveMemory.open(Path(directory, "memory")) as memory:
            for _ in range(2):  # again changes nothing: ids are kept
                for user, memories in read(path).items():
                    memory.for_user(user).remember_many(memories)
            for user in ("ana", "ben"):
                one = memory.for_user(user).recall("what must the kitchen know? peanuts, coffee?", k=1)[0]
                known = dict(sorted(one.record.metadata.items()))
                print(f"{user}: {one.text} ({memory.for_user(user).stats().records} records, {known})")


if __name__ == "__main__":
    main()
