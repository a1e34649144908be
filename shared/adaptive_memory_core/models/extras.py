"""Imports that may fail: optional packages, their files of weights, and objects given as `MODULE:NAME`."""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adaptive_memory_core.error_messages import reason
from adaptive_memory_core.errors import AdaptiveMemoryError, EmbedderError, MissingExtraError


def require(packages: Sequence[str], *, extra: str, otherwise: str = "") -> None:
    """Raise an error that names the extra unless all packages can be imported. Nothing is imported.

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
    """The imported package, deliberately untyped, since it may be missing when types are checked."""
    return importlib.import_module(package)


PACKAGE = "adaptive-memory-retrieval"


def installed_version(package: str) -> str | None:
    """The version of a package; None if it is not installed.

    >>> installed_version("no-such-package") is None
    True
    """
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def folder_of(package: str) -> Path | None:
    """The folder in which the package is installed, without importing it.

    >>> folder_of("no_such_package") is None
    True
    """
    spec = importlib.util.find_spec(package)
    places = [] if spec is None else list(spec.submodule_search_locations or [])
    return Path(places[0]) if places else None


def tensors(file: Path, *, sha256: str) -> dict[str, Any]:
    """The arrays of a safetensors file. Raises EmbedderError if its hash differs: other weights give other vectors."""
    content = file.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise EmbedderError(
            f"{file.name} has the sha256 {found}. Only {sha256} is allowed: vectors from other weights "
            "cannot be compared with stored vectors. Install the version of its package that this package requires."
        )
    return load("safetensors.numpy").load(content)  # type: ignore[no-any-return]


def silence_onnxruntime() -> None:
    """Switch off the telemetry of onnxruntime's Linux wheels, which works only before the import."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


def named_object(place: str) -> Any:
    """The object at `MODULE:NAME`. Raises ImportError with the reason if there is none, whatever the module raises.

    >>> named_object("json:loads")("[1]")
    [1]
    >>> named_object("..x:y")
    Traceback (most recent call last):
    ImportError: TypeError: the 'package' argument is required to perform a relative import for '..x'
    """
    module, _, name = place.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AdaptiveMemoryError):
        raise
    except Exception as error:  # the user's module may raise anything
        raise ImportError(f"{type(error).__name__}: {error}") from error
