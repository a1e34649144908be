"""Is it said beforehand what an experiment may cost, and is that never too little?"""

from __future__ import annotations

from pathlib import Path

import pytest

from adaptive_memory_core.evaluate.compare import estimate_of
from adaptive_memory_core.evaluate.plan import experiment_of

MODEL = {"model": "m", "input_price": 2.0, "output_price": 10.0, "max_tokens": 100}


def test_requests_tokens_and_cost_are_the_most_that_can_be(folder: Path) -> None:
    systems = [{"use": "chroma"}, {"use": "bm25"}, {"use": "static", "answers": False}]
    told = {"data": [{"folder": str(folder)}], "systems": systems, "models": [MODEL], "page_tokens": 1_000}
    line = estimate_of(experiment_of(told, folder.parent)).lines[0]
    assert line.requests == 12
    assert 12 * 1_000 < line.input_tokens < 12 * 1_400
    assert line.output_tokens == 1_200
    assert line.cost == pytest.approx((line.input_tokens * 2.0 + 1_200 * 10.0) / 1e6)


def test_an_embedder_of_a_server_is_told_and_no_price_is_made_up(folder: Path) -> None:
    told = {"data": [{"folder": str(folder)}], "systems": [{"use": "chroma", "embedder": "openai:small"}]}
    found = estimate_of(experiment_of(told, folder.parent))
    assert (found.lines[0].model, found.cost) == ("openai:small", None)
    assert "unknown: give input_price" in str(found)


def test_what_asks_nobody_costs_nothing(folder: Path) -> None:
    told = {"data": [{"folder": str(folder)}], "systems": [{"use": "chroma"}]}
    assert estimate_of(experiment_of(told, folder.parent)).lines == ()
