"""How does a hook remember that is started for each event? It opens the directory that another process has open.

A coding agent's hooks are ready: `adaptive-memory hook` reads an event from stdin (docs/guides/mcp.md).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

EVENTS = ["build passed on main", "build failed on the branch ledger", "deployed to staging"]


def words(texts: Sequence[str]) -> list[list[float]]:
    """In place of your embedder: a short process has no time to load a large model."""
    return [[1.0 + text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]


def hook(directory: str, event: str) -> None:
    """What is started for each event. Beside a process that holds the directory it does not even import Chroma."""
    began = time.perf_counter()
    from adaptive_memory_core import AdaptiveMemory

    imported = time.perf_counter()
    with AdaptiveMemory.open(directory, embedder=words) as memory:
        opened = time.perf_counter()
        memory.for_user("ci").remember(event)
        remembered = time.perf_counter()
    closed = time.perf_counter()
    spans = (imported - began, opened - imported, remembered - opened, closed - remembered)
    names = ("import", "open", "remember", "close")
    told = ", ".join(f"{name} {1000 * span:.0f} ms" for name, span in zip(names, spans, strict=True))
    print(f"{told}; Chroma imported: {'chromadb' in sys.modules}")


def agent(directory: str, event: str, session: str, prompt: str) -> str:
    """What a coding agent does at an event, and what it is told for its context."""
    given = {"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": prompt}
    command = [sys.executable, "-m", "adaptive_memory_core.cli", "--path", directory, "--user", "ana"]
    done = subprocess.run(
        [*command, "hook", event, "--create"], input=json.dumps(given), capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"] if done.stdout else "(nothing)"


def main() -> None:
    from adaptive_memory_core import AdaptiveMemory

    with tempfile.TemporaryDirectory() as directory, AdaptiveMemory.open(directory, embedder=words) as memory:
        for event in EVENTS:
            subprocess.run([sys.executable, __file__, directory, event], check=True)
        found = memory.for_user("ci").recall("what failed?", k=3)
        print(f"{len(found)} events are found by the process that stays: {sorted(hit.text for hit in found)}")
    with tempfile.TemporaryDirectory() as directory:
        agent(directory, "prompt", "monday", "The integration tests need Docker. My key is AKIA" + "ABCD2345" * 2)
        print("tuesday:", agent(directory, "prompt", "tuesday", "Why do the integration tests fail?"))
        print("wednesday:", agent(directory, "prompt", "wednesday", "Write a haiku about autumn."))


if __name__ == "__main__":
    hook(*sys.argv[1:]) if sys.argv[1:] else main()
