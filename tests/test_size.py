"""The project does not grow unless somebody changes a number in tests/size_limits.txt on purpose."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.size import ROOT, limits


@pytest.fixture(scope="module")
def measured() -> dict[str, int]:
    """From a process of its own: this one has imported more than a memory needs."""
    done = subprocess.run([sys.executable, "-m", "tests.size"], cwd=ROOT, capture_output=True, text=True, check=True)
    found = re.findall(r"^(\S.*?) +([\d,]+) +limit", done.stdout, re.MULTILINE)
    return {name: int(number.replace(",", "")) for name, number in found}


def test_every_indicator_has_a_limit(measured: dict[str, int]) -> None:
    assert list(measured) == list(limits())


def test_the_project_has_not_grown(measured: dict[str, int]) -> None:
    grown = {name: (measured[name], limit) for name, limit in limits().items() if measured[name] > limit}
    assert grown == {}, "remove something else, or raise the number in tests/size_limits.txt and say why"
