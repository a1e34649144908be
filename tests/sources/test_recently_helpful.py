"""Is a record that was helpful named as long as that was within the last recalls, and not longer?"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from adaptive_memory_core.flow.ports.source import Answer, Found
from adaptive_memory_core.sources.times_and_feedback import REACH, RecentlyHelpful


def test_what_was_helpful_is_named_within_the_last_recalls_only() -> None:
    asked: Any = SimpleNamespace(nearest=Answer("dense", found=[Found("wine", "red wine", {}, 0.9)]))

    def named(step: int) -> list[str]:
        request: Any = SimpleNamespace(candidates=1, version=SimpleNamespace(learned=(step, [("tea", 10)], False)))
        ports: Any = None
        return list(RecentlyHelpful().ask(ports, request, asked).named)

    assert named(10 + REACH - 1) == ["tea"]
    assert named(10 + REACH) == []
