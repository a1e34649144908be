"""Does every error descend from one root, and from the built-in it resembles where nobody else catches that one?"""

from __future__ import annotations

import pytest

from adaptive_memory_core import errors
from adaptive_memory_core.errors import AdaptiveMemoryError, MissingExtraError, PartialWriteError

TREE = {
    "InvalidInputError": ValueError,
    "PolicyError": ValueError,
    "ScopeError": ValueError,
    "FilterError": ValueError,
    "NotFoundError": LookupError,
    "ClosedError": Exception,
    "EmbedderError": Exception,
    "EmbedderMismatchError": Exception,
    "MissingExtraError": ImportError,
    "RerankerError": Exception,
    "JudgeError": Exception,
    "StoreError": Exception,
    "PartialWriteError": Exception,
    "StoreInUseError": Exception,
    "LedgerError": Exception,
    "LedgerVersionError": Exception,
    "DamagedLedgerError": Exception,
    "DamagedStoreError": Exception,
}
DEFINED = {name for name, thing in vars(errors).items() if isinstance(thing, type) and issubclass(thing, Exception)}


@pytest.mark.parametrize(("name", "builtin"), TREE.items())
def test_an_error_is_ours_and_the_builtin_it_resembles(name: str, builtin: type[Exception]) -> None:
    error = getattr(errors, name)
    assert issubclass(error, AdaptiveMemoryError)
    assert issubclass(error, builtin)
    assert error.__doc__


@pytest.mark.parametrize("name", TREE)
def test_no_error_is_one_that_frameworks_take_for_their_own(name: str) -> None:
    """LlamaIndex's `asyncio_run` catches RuntimeError, Starlette's streamed responses catch OSError."""
    assert not issubclass(getattr(errors, name), RuntimeError | OSError)


def test_the_tree_at_the_head_of_the_file_is_complete() -> None:
    assert set(TREE) | {"AdaptiveMemoryError"} == DEFINED
    assert all(name in (errors.__doc__ or "") for name in DEFINED)


def test_a_partial_write_says_what_was_written() -> None:
    assert PartialWriteError("two of five", ["a", "b"]).written_ids == ("a", "b")


def test_a_missing_extra_says_what_to_install() -> None:
    assert 'pip install "adaptive-memory-retrieval[local]"' in str(MissingExtraError.of("wordllama", "local"))
