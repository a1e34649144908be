"""The package has a home for each name, and a retriever needs langchain-core alone; the rest: tests/adapters."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import langchain_adaptive_memory

ROOT = Path(langchain_adaptive_memory.__file__).parents[1]
PATH = {"PYTHONPATH": f"{ROOT / 'shared'}:{ROOT}"}


@pytest.mark.parametrize("name", langchain_adaptive_memory.__all__)
def test_a_public_name_has_a_home(name: str) -> None:
    assert set(langchain_adaptive_memory.__all__) == set(langchain_adaptive_memory._HOMES)
    file, _ = langchain_adaptive_memory._HOMES[name]
    home = importlib.import_module(f"langchain_adaptive_memory.{file}")
    assert getattr(langchain_adaptive_memory, name) is getattr(home, name)


def test_a_name_that_is_meant_is_named() -> None:
    with pytest.raises(AttributeError, match="AdaptiveMemoryRetriever"):
        langchain_adaptive_memory.AdaptiveMemoryRetreiver  # noqa: B018


def test_the_retriever_needs_langchain_core_only() -> None:
    others = ["langchain", "langchain_chroma", "langchain_classic", "langgraph"]
    program = (
        "import sys; from langchain_adaptive_memory import AdaptiveMemoryRetriever, create_recall_tool; "
        f"print([name for name in {others!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=PATH)
    assert done.stdout.strip() == "[]"
