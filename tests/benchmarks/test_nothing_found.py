"""Does a floor let through what is claimed, on questions that a benchmark asks, and is what it counts right?"""

from __future__ import annotations

import pytest

from adaptive_memory_core import LocalEmbedder, as_embedder
from benchmarks.nothing_found import CHANNELS, Answer, Asked, measured, rows_of, separation

PEOPLE = ("Ana", "Ben", "Cleo", "Dan")
THINGS = {
    "drinks": "jasmine tea in the morning",
    "rides": "a green bicycle to work",
    "rents": "a flat near the harbour",
    "studies": "Portuguese at the evening school",
    "fears": "spiders in the cellar",
    "collects": "old postage stamps from Peru",
}
RECORDS = [{"id": f"{who}-{does}", "text": f"{who} {does} {what}"} for who in PEOPLE for does, what in THINGS.items()]
OWN = [
    Asked("user", f"who {does} {what}?", frozenset(f"{who}-{does}" for who in PEOPLE)) for does, what in THINGS.items()
]
OTHERS = [
    Asked("user", question)
    for question in (
        "what is the exchange rate of the yen",
        "set a timer for ten minutes",
        "how many calories are in an avocado",
        "translate cheese into German",
        "why is my printer offline",
        "who won the election in Canada",
    )
]


def test_what_was_stored_is_kept_and_what_was_not_is_not_answered() -> None:
    rows = list(rows_of("people", {"user": RECORDS}, [*OWN, *OTHERS], as_embedder(LocalEmbedder()), tuple(CHANNELS)))
    assert [(row["channels"], row["target"]) for row in rows] == [
        (channels, target) for channels in ("dense", "dense + words") for target in (0.02, 0.05, 0.1)
    ]
    for row in rows:
        assert row["AUC"] > 0.95
        assert row["answered"] <= 1 / 6
        assert row["kept"] >= 5 / 6


def test_what_the_floor_takes_counts_as_not_found() -> None:
    kept = Answer(0.01, ["a", "b"], frozenset({"a"}), False)
    taken = Answer(0.2, ["a"], frozenset({"a"}), False)
    unknown = Answer(0.04, ["c"], frozenset(), False)
    row = measured([kept, taken, unknown], 0.05)
    assert (row["answered"], row["kept"]) == (1.0, 0.5)
    assert row["recall@10"] == row["hit@1"] == "0.500 (1.000)"
    assert row["AUC"] == 0.5


@pytest.mark.parametrize(("low", "high", "share"), [([0.1], [0.2], 1.0), ([0.2], [0.1], 0.0), ([0.1], [0.1], 0.5)])
def test_separation_is_one_where_all_are_on_their_side(low: list[float], high: list[float], share: float) -> None:
    assert separation(low, high) == share
