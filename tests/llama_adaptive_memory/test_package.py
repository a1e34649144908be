"""Is the package light until it is used, and does it say what is missing?"""

from __future__ import annotations

import subprocess
import sys
from enum import Enum

import pytest

import llama_adaptive_memory
from tests.test_examples import environment

BLOCK = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "llama_index":
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Absent())
"""


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment())


def test_public_names_are_sorted_and_there() -> None:
    assert llama_adaptive_memory.__all__ == sorted(set(llama_adaptive_memory.__all__))
    for name in llama_adaptive_memory.__all__:
        thing = getattr(llama_adaptive_memory, name)
        assert (thing.name if isinstance(thing, Enum) else thing.__name__) == name
        assert name in dir(llama_adaptive_memory)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = llama_adaptive_memory.Nothing


def test_importing_it_imports_neither_framework() -> None:
    done = run(
        "import sys, llama_adaptive_memory\n"
        "assert not [one for one in sys.modules if one.split('.')[0] in ('llama_index', 'langchain_core', 'chromadb')]"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["AdaptiveMemoryRetriever", "AdaptiveMemoryPostprocessor", "AdaptiveMemoryBlock"])
def test_without_llama_index_it_says_what_to_install(name: str) -> None:
    done = run(f"{BLOCK}import llama_adaptive_memory\nllama_adaptive_memory.{name}")
    assert done.returncode == 1
    assert "MissingExtraError" in done.stderr
    assert 'pip install "adaptive-memory-retrieval[llama-index]"' in done.stderr
