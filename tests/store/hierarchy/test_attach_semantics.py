"""Do others go on while semantics are attached, and is what they change meanwhile kept?"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from adaptive_memory_core import Policy, UserMemory
from adaptive_memory_core.hierarchy import episodes, grow
from adaptive_memory_core.store.hierarchy import growth_steps
from tests.conftest import START, Open

PATIENCE_SECONDS = 60.0  # that nobody waits unless it is for good
SMALL = Policy().replace(advanced={"hierarchy": {"theme_semantics": 3, "episode_messages": 4}})
WORDS = "tea rain milk snow wine boat bike train garden puppy server music".split()  # noqa: SIM905 - shorter so
IDS = [f"m{number}" for number in range(len(WORDS))]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that few messages do what many do."""
    monkeypatch.setattr(grow, "PATIENCE", 2)
    monkeypatch.setattr(episodes, "SHORTEST", 1)


@pytest.fixture
def ana(over: Open) -> UserMemory:
    """Somebody whose messages wait, as nothing grows by itself."""
    memory = over(policy=SMALL)
    background: Any = memory.ports().background
    background.change([])
    user = memory.for_user("ana")
    user.observe([{"id": one, "text": f"I own a {word}.", "at": START} for one, word in zip(IDS, WORDS, strict=True)])
    return user


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[int], object]], list[int]]:
    """Has another thread do something each time that attaching is worked out, and gives how many there were."""

    def doing(something: Callable[[int], object]) -> list[int]:
        worked_out, times = growth_steps._grown, list[int]()

        def disturbed(*given: Any, **named: Any) -> Any:
            times.append(len(times))
            found = worked_out(*given, **named)
            other = threading.Thread(target=something, args=(times[-1],), daemon=True)
            other.start()
            other.join(PATIENCE_SECONDS)
            assert not other.is_alive(), "it has to wait until all is attached"
            return found

        monkeypatch.setattr(growth_steps, "_grown", disturbed)
        return times

    return doing


def fits(user: UserMemory, ids: list[str]) -> bool:
    ports: Any = user.memory.ports()
    view = ports.hierarchy.view(user.scope)
    said = sorted(message for one in view.episodes.values() for message in one.messages)
    members = [key for one in view.themes.values() for key in one.semantics]
    return ports.ledger.hierarchy.faults() == [] and said == sorted(ids) and sorted(members) == sorted(view.semantics)


def test_a_recall_that_counts_waits_for_no_page_of_semantics(ana: UserMemory, meanwhile: Any) -> None:
    found = []
    times = meanwhile(lambda _: found.append(ana.recall("tea", k=1).ids))
    ana.themes()
    assert found == [("m0",)] * len(times) != []
    assert fits(ana, IDS)


def test_what_is_forgotten_while_semantics_are_attached_is_in_no_theme(ana: UserMemory, meanwhile: Any) -> None:
    times = meanwhile(lambda time: ana.forget("m3") if time == 0 else None)
    named = {one for theme in ana.themes() for one in theme.ids}
    assert len(times) > 1
    assert "m3" not in named
    assert fits(ana, [one for one in IDS if one != "m3"])


def test_a_page_before_which_others_always_come_is_attached_with_the_ledger_in_hand(
    ana: UserMemory, meanwhile: Any
) -> None:
    tries = growth_steps.TRIES
    times = meanwhile(lambda time: ana.forget(IDS[time]) if time < tries else None)
    ana.themes()
    assert len(times) > tries
    assert fits(ana, IDS[tries:])
