"""Each adapter's package is light, its names are complete, and a missing extra is named with what to install."""

from __future__ import annotations

import subprocess
import sys
from enum import Enum

import pytest

import langchain_adaptive_memory
import llama_adaptive_memory
from tests.adapters.conftest import Adapter
from tests.test_examples import environment

NAMES = [(one, name) for one in (langchain_adaptive_memory, llama_adaptive_memory) for name in one.__all__]
WITHOUT = """
import sys, {package}
from adaptive_memory_core.errors import MissingExtraError
for name in ("llama_index", "langchain", "langchain_core", "langgraph", "langchain_chroma"):
    sys.modules[name] = None
for name in {package}.__all__:
    try:
        getattr({package}, name)
    except MissingExtraError as error:
        print(name, error)
"""


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment())
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_public_names_are_sorted_and_given_once(adapter: Adapter) -> None:
    names = adapter.package.__all__
    assert names == sorted(set(names))
    assert set(names) <= set(dir(adapter.package))


@pytest.mark.parametrize(("package", "name"), NAMES)
def test_a_public_name_is_there(package: object, name: str) -> None:
    thing = getattr(package, name)
    assert (thing.name if isinstance(thing, Enum) else getattr(thing, "__name__", name)) == name
    assert thing.__doc__


def test_a_name_that_there_is_not_is_an_attribute_error(adapter: Adapter) -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = adapter.package.Nothing


def test_importing_it_imports_no_framework(adapter: Adapter) -> None:
    heavy = f"[one for one in sys.modules if one.split('.')[0] in {adapter.heavy!r}]"
    assert run(f"import sys, {adapter.name}; print({heavy})") == "[]"


def test_without_the_framework_each_name_says_what_to_install(adapter: Adapter) -> None:
    said = run(WITHOUT.format(package=adapter.name)).splitlines()
    named = {line.split()[0] for line in said if f'pip install "adaptive-memory-retrieval[{adapter.extra}]"' in line}
    assert named == set(adapter.package.__all__)
