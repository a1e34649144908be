"""On what was it measured? The machine, how busy it was, and the versions of what decides a result."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sqlite3
from pathlib import Path
from typing import Any

PACKAGES = ("adaptive-memory-retrieval", "chromadb", "numpy")


def machine() -> dict[str, Any]:
    """What it ran on, and how busy that was; None where the platform does not tell."""
    return {
        "cpu": _cpu_model(),
        "cpus": os.cpu_count(),
        "memory_gib": _memory_gib(),
        "platform": platform.platform(),
        "load_average": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
    }


def versions() -> dict[str, str | None]:
    """Of Python, SQLite and the packages that decide; None for one that is not installed."""
    return {
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        **{package: _version(package) for package in PACKAGES},
    }


def _cpu_model() -> str | None:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or None


def _memory_gib() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (AttributeError, ValueError, OSError):
        return None


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
