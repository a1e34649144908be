"""Tests of numbered_scripts."""

from __future__ import annotations

import re
from importlib import resources

import pytest

from adaptive_memory_core.store.numbered_scripts import numbered_scripts


@pytest.mark.parametrize("package", ["ledger", "postgres"])
def test_numbers_follow_one_another_and_each_script_is_its_file(package: str) -> None:
    whole = f"adaptive_memory_core.store.{package}"
    files = sorted((resources.files(whole) / "migrations").iterdir(), key=lambda one: one.name)
    assert [int(one.name[:4]) for one in files] == list(range(1, len(files) + 1))
    assert all(re.fullmatch(r"\d{4}_[a-z_]+\.sql", one.name) for one in files)
    assert numbered_scripts(whole) == tuple(one.read_text(encoding="utf-8") for one in files)
