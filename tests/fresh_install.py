"""Does the wheel alone do? Run in an environment that holds the wheel and what it depends on, without extras.

`make fresh` builds the wheel, makes the environment and runs this file in it.
"""

from __future__ import annotations

import importlib
import importlib.util
from importlib.metadata import version
from pathlib import Path


def main() -> None:
    for package in ("adaptive_memory_core", "langchain_adaptive_memory", "llama_adaptive_memory"):
        module = importlib.import_module(package)
        assert module.__file__ is not None
        home = Path(module.__file__).parent
        assert "site-packages" in str(home), f"{package} was not imported from the wheel"
        assert (home / "py.typed").exists(), f"{package} has no py.typed"
    for extra in ("wordllama", "openai", "langchain_core", "llama_index"):
        assert importlib.util.find_spec(extra) is None, f"{extra} came along without being asked for"
    recall_without_extras()
    refuse_with_the_name_of_the_extra()
    print(f"adaptive-memory-retrieval {version('adaptive-memory-retrieval')} works from its wheel, without extras")


def recall_without_extras() -> None:
    import chromadb

    from adaptive_memory_core import AdaptiveMemory

    collection = chromadb.EphemeralClient().create_collection("fresh", embedding_function=None)
    with AdaptiveMemory(collection, embedder=lambda texts: [[float(len(text)), 1.0] for text in texts]) as memory:
        alice = memory.for_user("alice")
        alice.remember("tea")
        assert [hit.text for hit in alice.recall("tea")] == ["tea"]


def refuse_with_the_name_of_the_extra() -> None:
    from adaptive_memory_core import AdaptiveMemory, OpenAIEmbedder
    from adaptive_memory_core.errors import MissingExtraError

    attempts = (
        (lambda: AdaptiveMemory.open("memory"), "[local]"),
        (OpenAIEmbedder, "[openai]"),
        (lambda: importlib.import_module("langchain_adaptive_memory").AdaptiveMemoryRetriever, "[langchain]"),
        (lambda: importlib.import_module("langchain_adaptive_memory").AdaptiveMemoryStore, "[langchain]"),
        (lambda: importlib.import_module("llama_adaptive_memory").AdaptiveMemoryRetriever, "[llama-index]"),
    )
    for attempt, extra in attempts:
        said = ""
        try:
            attempt()
        except MissingExtraError as error:
            said = str(error)
        assert extra in said, f"the extra {extra} was not asked for"


if __name__ == "__main__":
    main()
