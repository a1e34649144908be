"""Every test runs in `make test` or in `make test-hard`, and `make test` has one of every kind."""

from __future__ import annotations

import itertools
import re

import pytest

from tests.longest_first import ROOT
from tests.suites import KINDS, kinds

MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
SELECTED = re.findall(r'^\t\$\(PYTEST\) -m "([^"]+)"(.*)$', MAKEFILE, re.MULTILINE)
(QUICK, QUICK_OPTIONS), (THOROUGH, THOROUGH_OPTIONS) = SELECTED


def runs(expression: str, marks: dict[str, bool]) -> bool:
    return bool(eval(expression, {}, marks))


@pytest.mark.parametrize(("hard", "sample", "hypothesis"), itertools.product([False, True], repeat=3))
def test_no_test_is_left_out(hard: bool, sample: bool, hypothesis: bool) -> None:
    """In exactly one of the two suites, but for samples and properties, which are in both."""
    marks = {"hard": hard, "sample": sample, "hypothesis": hypothesis}
    assert runs(QUICK, marks) is (not hard or sample)
    assert runs(THOROUGH, marks) is (hard or hypothesis)
    assert runs(QUICK, marks) or runs(THOROUGH, marks)


def test_the_suites_leave_nothing_out_by_another_way() -> None:
    """Both start with the same command, which names no paths, and CI runs both."""
    assert QUICK_OPTIONS == ""
    assert THOROUGH_OPTIONS == " --hypothesis-profile thorough"
    assert re.findall(r"^PYTEST = (.*)$", MAKEFILE, re.MULTILINE) == [
        "$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder"
    ]
    depends = dict(re.findall(r"^([\w-]+): (.*)$", MAKEFILE, re.MULTILINE))
    assert depends["test"].split() == ["lint", "types", "unit"]
    assert depends["test-hard"].split() == ["fresh", "frameworks", "hard"]
    commands = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert [one for one in commands if one.startswith("make ")] == ["make test", "make test-hard"]


def test_there_is_a_sample_of_every_kind(request: pytest.FixtureRequest) -> None:
    config = request.config
    if config.option.keyword or [ROOT / one for one in config.args] != [
        ROOT / one for one in config.getini("testpaths")
    ]:
        pytest.skip("only some of the tests were collected")
    samples = [one for one in request.session.items if one.get_closest_marker("sample")]
    assert {kind for one in samples for kind in kinds(one)} == set(KINDS)
    assert all(one.get_closest_marker("hard") for one in samples)
