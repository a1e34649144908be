"""Is an optional package installed, and is its weight file the known one?"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adaptive_memory_core.errors import EmbedderError, MissingExtraError
from adaptive_memory_core.shown_in_errors import reason


def require(packages: Sequence[str], *, extra: str, otherwise: str = "") -> None:
    """Nothing if all of them can be imported (none of them is), else an error that names the extra.

    >>> require(["json"], extra="local")
    >>> require(["json", "no_such_package"], extra="local", otherwise="Or pass any callable.")
    Traceback (most recent call last):
    adaptive_memory_core.errors.MissingExtraError: no_such_package is not installed. Install it with: \
pip install "adaptive-memory-retrieval[local]". Or pass any callable.
    """
    for package in packages:
        if importlib.util.find_spec(package) is None:
            error = MissingExtraError.of(package, extra)
            raise MissingExtraError(f"{reason(error)}. {otherwise}") if otherwise else error


def load(package: str) -> Any:
    """The imported package: untyped on purpose, for it may be absent where types are checked."""
    return importlib.import_module(package)


def folder_of(package: str) -> Path | None:
    """Where the package is installed, without importing it.

    >>> folder_of("no_such_package") is None
    True
    """
    spec = importlib.util.find_spec(package)
    places = [] if spec is None else list(spec.submodule_search_locations or [])
    return Path(places[0]) if places else None


def tensors(file: Path, *, sha256: str) -> dict[str, Any]:
    """The arrays of a safetensors file, if it is byte for byte the one we know: other weights make other vectors."""
    content = file.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise EmbedderError(
            f"{file.name} has the sha256 {found}. Allowed is only {sha256}: vectors from other weights "
            "cannot be compared with those already stored. Install the version of its package that this one names."
        )
    return load("safetensors.numpy").load(content)  # type: ignore[no-any-return]


def silence_onnxruntime() -> None:
    """Its Linux wheels report usage to their maker unless told not to before the import. Memories are private."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
