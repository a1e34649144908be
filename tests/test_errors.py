"""Does every error descend from one root and from the built-in it resembles?"""

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
    "ClosedError": RuntimeError,
    "EmbedderError": RuntimeError,
    "EmbedderMismatchError": RuntimeError,
    "MissingExtraError": ImportError,
    "RerankerError": RuntimeError,
    "StoreError": RuntimeError,
    "PartialWriteError": RuntimeError,
    "StoreInUseError": RuntimeError,
    "LedgerError": RuntimeError,
    "LedgerVersionError": RuntimeError,
}
DEFINED = {name for name, thing in vars(errors).items() if isinstance(thing, type) and issubclass(thing, Exception)}


@pytest.mark.parametrize(("name", "builtin"), TREE.items())
def test_an_error_is_ours_and_the_builtin_it_resembles(name: str, builtin: type[Exception]) -> None:
    error = getattr(errors, name)
    assert issubclass(error, AdaptiveMemoryError)
    assert issubclass(error, builtin)
    assert error.__doc__


def test_the_tree_at_the_head_of_the_file_is_complete() -> None:
    assert set(TREE) | {"AdaptiveMemoryError"} == DEFINED
    assert all(name in (errors.__doc__ or "") for name in DEFINED)


def test_a_partial_write_says_what_was_written() -> None:
    assert PartialWriteError("two of five", ["a", "b"]).written_ids == ("a", "b")


def test_a_missing_extra_says_what_to_install() -> None:
    assert 'pip install "adaptive-memory-retrieval[local]"' in str(MissingExtraError.of("wordllama", "local"))
