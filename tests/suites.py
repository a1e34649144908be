"""The two suites: which test runs in `make test`, which in `make test-hard`, and how many examples a property gets.

`make test` is what a person waits for, at most six minutes on two cores; `make test-hard` has the rest. A test that
belongs to the rest is marked with its kind, `@pytest.mark.hard("kill")`. One test of every kind is also marked
`@pytest.mark.sample` and runs in both. Properties run in both as well: with few examples, and with all of them.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

KINDS = {
    "PostgreSQL": "needs a PostgreSQL server",
    "browser": "looks at a page in a browser",
    "example": "runs an example or a page's code as a user does, in another process",
    "full disk": "writes until a disk is full",
    "install": "builds the wheel, or installs it in an environment of its own",
    "interrupt": "breaks a call off at every step",
    "kill": "kills processes",
    "large": "needs much data, or more than a few seconds",
    "network": "loses connections",
    "pooler": "needs PgBouncer",
    "processes": "starts several processes",
    "random run": "takes many random steps",
    "server": "needs a Chroma server",
    "site": "builds the site of the documentation",
}
FEW, ALL = 20, 100


def load_profile(name: str | None) -> None:
    """How many examples a property gets: few, unless hypothesis was started with `--hypothesis-profile thorough`."""
    slow_data = [HealthCheck.too_slow, HealthCheck.data_too_large]
    for profile, examples in (("quick", FEW), ("thorough", ALL)):
        settings.register_profile(
            profile, deadline=None, derandomize=True, suppress_health_check=slow_data, max_examples=examples
        )
    settings.load_profile(name or "quick")


def at_most(examples: int) -> settings:
    """For a property whose examples take long: never more than this many, and in `make test` the usual few."""
    return settings(max_examples=min(examples, settings().max_examples))


def kinds(item: pytest.Item) -> Iterator[str]:
    """The kinds of a test that is marked `hard`."""
    for mark in item.iter_markers("hard"):
        if len(mark.args) != 1 or mark.args[0] not in KINDS:
            raise pytest.UsageError(f"{item.nodeid}: give mark.hard one of {sorted(KINDS)}, not {mark.args}")
        yield mark.args[0]
