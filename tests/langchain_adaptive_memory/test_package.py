"""Is the package light, are its names complete, and does a missing extra say what to install?"""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import langchain_adaptive_memory
from adaptive_memory_core.errors import MissingExtraError

ROOT = Path(langchain_adaptive_memory.__file__).parents[1]
PATH = {"PYTHONPATH": f"{ROOT / 'shared'}:{ROOT}"}


def test_public_names_are_sorted_given_once_and_each_has_a_home() -> None:
    assert langchain_adaptive_memory.__all__ == sorted(set(langchain_adaptive_memory.__all__))
    assert set(langchain_adaptive_memory.__all__) == set(langchain_adaptive_memory._HOMES)
    assert set(langchain_adaptive_memory.__all__) <= set(dir(langchain_adaptive_memory))


@pytest.mark.parametrize("name", langchain_adaptive_memory.__all__)
def test_a_public_name_is_there(name: str) -> None:
    file, _ = langchain_adaptive_memory._HOMES[name]
    home = importlib.import_module(f"langchain_adaptive_memory.{file}")
    assert getattr(langchain_adaptive_memory, name) is getattr(home, name)
    assert getattr(langchain_adaptive_memory, name).__doc__


def test_a_name_that_there_is_not_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="AdaptiveMemoryRetriever"):
        langchain_adaptive_memory.AdaptiveMemoryRetreiver  # noqa: B018


def test_importing_the_package_loads_nothing_of_langchain() -> None:
    heavy = ["chromadb", "langchain", "langchain_core", "langgraph", "pydantic"]
    program = f"import sys, langchain_adaptive_memory; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=PATH)
    assert done.stdout.strip() == "[]"


def test_the_retriever_needs_langchain_core_only() -> None:
    others = ["langchain", "langchain_chroma", "langchain_classic", "langgraph"]
    program = (
        "import sys; from langchain_adaptive_memory import AdaptiveMemoryRetriever, create_recall_tool; "
        f"print([name for name in {others!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, env=PATH)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", langchain_adaptive_memory.__all__)
def test_a_missing_extra_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(vars(langchain_adaptive_memory), name, raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda package: None)
    with pytest.raises(MissingExtraError, match=r'pip install "adaptive-memory-retrieval\[langchain\]"'):
        getattr(langchain_adaptive_memory, name)
