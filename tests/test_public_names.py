"""Is what we call public there, documented, and cheap to import?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import adaptive_memory_core
from adaptive_memory_core import errors, judges, languages, policy, reports

SHARED = Path(adaptive_memory_core.__file__).parents[1]
HEAVY = ["chromadb", "langchain", "langchain_core", "llama_index", "openai", "onnxruntime", "tokenizers", "wordllama"]
PUBLIC = [adaptive_memory_core, errors, judges, languages, policy, reports]
NAMES = [(module, name) for module in PUBLIC for name in module.__all__]


@pytest.mark.parametrize("module", PUBLIC, ids=lambda module: module.__name__)
def test_public_names_are_sorted_and_given_once(module: ModuleType) -> None:
    assert module.__all__ == sorted(set(module.__all__))


@pytest.mark.parametrize("module", PUBLIC, ids=lambda module: module.__name__)
def test_public_names_are_complete(module: ModuleType) -> None:
    """Whatever class or function a public module brings in under a public spelling is public."""
    for name in module.__all__:  # some are loaded when first used
        getattr(module, name)
    present = {
        name
        for name, thing in vars(module).items()
        if not name.startswith("_") and getattr(thing, "__module__", "").startswith("adaptive_memory_core.")
    }
    assert present == set(module.__all__)


@pytest.mark.parametrize(("module", "name"), NAMES)
def test_a_public_name_exists_and_says_what_it_is(module: ModuleType, name: str) -> None:
    documentation = getattr(module, name).__doc__
    assert documentation
    assert not documentation.startswith(f"{name}(")  # what a dataclass writes where its author wrote nothing


@pytest.mark.parametrize("module", PUBLIC, ids=lambda module: module.__name__)
def test_a_public_module_says_what_it_is(module: ModuleType) -> None:
    assert module.__doc__


def test_the_package_holds_what_users_type() -> None:
    """What few type is in the other public modules."""
    assert len(adaptive_memory_core.__all__) <= 36


def test_a_name_that_never_was_here_is_not_found() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'TimeWords'"):
        _ = adaptive_memory_core.TimeWords  # type: ignore[attr-defined]
    with pytest.raises(ImportError):
        exec("from adaptive_memory_core import Memories")


def test_names_are_listed_before_they_are_loaded() -> None:
    """What completion in a shell shows, and where each is found."""
    assert in_new_process("print([one for one in core.__all__ if one not in dir(core)])") == "[]"
    assert list(adaptive_memory_core._HOMES) == adaptive_memory_core.__all__


def test_the_public_modules_are_there_without_an_import_of_their_own() -> None:
    assert (
        in_new_process("print(core.errors.PolicyError.__name__, core.policy.Policy.__name__)") == "PolicyError Policy"
    )


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
    assert in_new_process(f"print([name for name in {HEAVY!r} if name in sys.modules])") == "[]"


def test_importing_the_core_loads_a_name_when_it_is_used() -> None:
    """At a tenth of a second each, numpy and our own 250 files are what an import of the package need not cost."""
    ours = "[name for name in sys.modules if name.startswith('adaptive_memory_core.')]"
    assert in_new_process(f"print('numpy' in sys.modules, {ours})") == "False []"
    assert in_new_process(f"core.errors; print({ours})") == "['adaptive_memory_core.errors']"


def test_the_front_door_loads_nothing_that_only_some_calls_need() -> None:
    late = ["asyncio", "numpy.typing", "ssl", "pydantic", "rich", "typer"]
    assert in_new_process(f"core.AdaptiveMemory; print([name for name in {late!r} if name in sys.modules])") == "[]"


def test_the_front_door_compiles_few_patterns() -> None:
    """All of those for words about time in five languages took a tenth of a second."""
    counting = (
        "import re; made, real = [], re.compile\n"
        "re.compile = lambda *given: made.append(sys._getframe(1).f_globals['__name__']) or real(*given)\n"
        "core.AdaptiveMemory; print(sum(one.startswith('adaptive_memory_core') for one in made))"
    )
    assert int(in_new_process(counting)) < 40


def in_new_process(program: str) -> str:
    """What a program that has imported the core prints, in a process of its own."""
    command = [sys.executable, "-c", f"import sys, adaptive_memory_core as core; {program}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"PYTHONPATH": str(SHARED)})
    return done.stdout.strip()
