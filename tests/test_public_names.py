"""Is what we call public there, documented, and cheap to import?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import adaptive_memory_core

SHARED = Path(adaptive_memory_core.__file__).parents[1]
HEAVY = ["chromadb", "langchain", "langchain_core", "llama_index", "openai", "onnxruntime", "tokenizers", "wordllama"]


def test_public_names_are_sorted_and_given_once() -> None:
    assert adaptive_memory_core.__all__ == sorted(set(adaptive_memory_core.__all__))


def test_public_names_are_complete() -> None:
    """Whatever class or function the package brings in under a public spelling is public."""
    present = {
        name
        for name, thing in vars(adaptive_memory_core).items()
        if not name.startswith("_") and getattr(thing, "__module__", "").startswith("adaptive_memory_core.")
    }
    assert present == set(adaptive_memory_core.__all__)


@pytest.mark.parametrize("name", adaptive_memory_core.__all__)
def test_a_public_name_exists_and_says_what_it_is(name: str) -> None:
    documentation = getattr(adaptive_memory_core, name).__doc__
    assert documentation
    assert not documentation.startswith(f"{name}(")  # what a dataclass writes where its author wrote nothing


def test_the_package_says_what_it_is() -> None:
    assert adaptive_memory_core.__doc__


@pytest.mark.parametrize(
    "verb", ["remember", "recall", "rerank", "get", "feedback", "pin", "unpin", "demote", "forget", "recalls"]
)
def test_every_verb_has_an_async_twin_with_the_same_arguments(verb: str) -> None:
    import inspect

    user_memory = adaptive_memory_core.UserMemory
    blocking, twin = getattr(user_memory, verb), getattr(user_memory, f"a{verb}")
    assert inspect.iscoroutinefunction(twin)
    assert inspect.signature(blocking).parameters == inspect.signature(twin).parameters
    assert blocking.__doc__
    assert twin.__doc__


def test_importing_the_core_loads_nothing_heavy() -> None:
    program = f"import sys, adaptive_memory_core; print([name for name in {HEAVY!r} if name in sys.modules])"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(SHARED)})
    assert done.stdout.strip() == "[]"
