"""Do systems answer the same questions, and is what comes of it counted, written and shown as it should be?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.compare import compare
from adaptive_memory_core.evaluate.comparison import (
    FORMAT,
    Comparison,
    DataAbout,
    Difference,
    MeasureAbout,
    Result,
    SystemAbout,
    comparison_text,
)
from adaptive_memory_core.evaluate.datasets import Item
from adaptive_memory_core.evaluate.plan import experiment_of
from adaptive_memory_core.evaluate.run_systems import embeds_texts_once
from adaptive_memory_core.evaluate.systems import POLICIES, Adaptive, SystemQuery, SystemResult, system_of
from adaptive_memory_core.models.embedder import embedder_named
from adaptive_memory_core.policy import Policy
from tests.conftest import word_vectors
from tests.evaluate.conftest import EMBEDDER, START
from tests.evaluate.published_files import LOCOMO, LONGMEMEVAL, written


class Oldest:
    """A system of a test's own: what was written first comes first."""

    def __init__(self, _: object, settings: Mapping[str, Any]) -> None:
        self._ids: dict[str, list[str]] = {}
        self._backwards = settings.get("backwards", False)

    def write(self, user: str, items: Sequence[Item], *, now: float) -> None:
        self._ids[user] = [item.id for item in items][:: -1 if self._backwards else 1]

    def prepare(self, asked: SystemQuery) -> None:
        assert asked.user in self._ids

    def ask(self, asked: SystemQuery) -> SystemResult:
        return SystemResult(self._ids[asked.user][: asked.k])

    def figures(self) -> Sequence[Mapping[str, float]]:
        return ()

    def close(self) -> None:
        self._ids.clear()


class Lost(Oldest):
    """One that names what nobody has given it."""

    def ask(self, asked: SystemQuery) -> SystemResult:
        return SystemResult(["nowhere"])


OWN = f"{__name__}:Oldest"


def run(folder: Path, *systems: dict[str, Any], **more: Any) -> Comparison:
    own = [{"embedder": EMBEDDER, **one} for one in systems]
    told = {"data": [{"folder": str(folder)}], "systems": own, "k": 3, "depth": 9, **more}
    return compare(experiment_of(told, folder.parent))


def test_a_name_brings_its_policy_without_a_plan_that_is_read_from_a_file() -> None:
    embedder = embeds_texts_once(embedder_named(EMBEDDER))
    with closing(system_of("static", embedder, {})) as static, closing(system_of("adaptive", embedder, {})) as default:
        assert isinstance(static, Adaptive)
        assert isinstance(default, Adaptive)
        assert static.memory.policy == POLICIES["static"] != default.memory.policy
    with closing(system_of("static", embedder, {"policy": Policy(recall_k=7)})) as own:
        assert isinstance(own, Adaptive)
        assert own.memory.policy == Policy(recall_k=7)


def test_all_kinds_of_systems_find_the_answers_of_their_own_users(folder: Path) -> None:
    uses = ("chroma", "bm25", "static", "dynamic", "graph", "hierarchy")
    found = run(folder, *({"use": one} for one in uses))
    assert (found.data[0].items, found.data[0].users, found.data[0].questions) == (18, 2, 6)
    for one in uses:
        assert found.of(one, "recall@3").mean == 1.0, one
        assert found.of(one, "session R@5").mean == 1.0
        assert found.of(one, "recall ms").mean > 0.0
    assert found.of("static", "NDCG@3").mean == found.of("dynamic", "NDCG@3").mean  # nothing is read, so nothing fades
    assert found.of("dynamic", "remembered").questions == 2


def test_only_where_no_channel_reads_the_speaker_does_it_stand_in_the_text(folder: Path) -> None:
    """By vectors alone this memory and plain Chroma are the same search; the default has the speaker as metadata."""
    system = system_of("adaptive", embeds_texts_once(word_vectors), {"policy": Policy()})
    with closing(system):
        system.write("ana", [Item("tea", "green tea", speaker="Ana", session="s")], now=START)
        assert system.memory.for_user("ana").get("tea").text == "green tea"  # type: ignore[attr-defined] # of ours
    found = run(folder, {"use": "chroma"}, {"use": "static"})
    assert found.of("chroma", "MRR@3").mean == found.of("static", "MRR@3").mean


def test_measures_and_differences_are_those_of_the_rankings(folder: Path) -> None:
    found = run(folder, {"use": OWN, "name": "first"}, {"use": OWN, "name": "last", "settings": {"backwards": True}})
    assert [one.mean for one in found.results if one.measure == "recall@3"] == [pytest.approx(3 / 6), 0.0]
    assert found.of("first", "hit@1").mean == pytest.approx(1 / 6)
    assert found.of("first", "session hit@1").mean == pytest.approx(3 / 6)
    difference = next(one for one in found.differences if one.measure == "recall@3")
    assert (found.baseline, difference.system, difference.questions) == ("first", "last", 6)
    assert difference.mean == pytest.approx(-3 / 6)
    assert not [one for one in found.differences if one.system == "first"]
    assert Comparison.from_json(found.to_json()) == found


def test_what_is_read_counts_for_the_next_question_where_that_is_asked_for(folder: Path) -> None:
    fading = {"use": "dynamic", "policy": {"decay": {"grace": 0, "rate": 0.1, "remembrance_threshold": 9}}}
    found = run(folder, {"use": "static"}, fading, reading=True, k=1, depth=1)
    assert found.of("static", "stale norm").mean == 0.0 < found.of("dynamic", "stale norm").mean
    assert found.of("dynamic", "memory size").mean < 1.0
    assert found.of("static", "memory size").mean == 1.0


def test_longmemevals_own_file_gives_measures_of_sessions_in_the_published_form(tmp_path: Path) -> None:
    path = written(tmp_path, "longmemeval_s.json", LONGMEMEVAL)
    told = {"data": [{"longmemeval": str(path)}], "systems": [{"use": "chroma"}, {"use": "adaptive"}]}
    found = compare(experiment_of(told))
    assert (found.data[0].name, found.data[0].questions) == ("longmemeval", 2)  # one was never said
    for name in ("session R@5", "session R@10", "session NDCG@10", "session hit@1"):
        assert found.of("chroma", name).mean == 1.0
    assert "R@5 0.984" in found.notes[1]


def test_locomos_own_file_is_compared_on(tmp_path: Path) -> None:
    path = written(tmp_path, "locomo10.json", LOCOMO)
    told = {"data": [{"locomo": str(path), "adversarial": True}], "systems": [{"use": "bm25"}]}
    found = compare(experiment_of(told))
    assert found.data[0].questions == 3
    assert found.of("bm25", "session R@5").mean == 1.0


def test_questions_are_drawn_by_the_seed_and_only_their_users_are_stored(folder: Path) -> None:
    found = run(folder, {"use": "bm25"}, data=[{"folder": str(folder), "most": 1, "name": "few"}])
    assert (found.data[0].name, found.data[0].items, found.data[0].questions) == ("few", 9, 1)
    assert found.of("bm25", "recall@3").low is None  # one question has no interval
    first = run(folder, {"use": "bm25"}, data=[{"folder": str(folder), "users": 1}])
    assert (first.data[0].users, first.data[0].questions) == (1, 3)


def test_a_system_that_names_what_it_was_not_given_is_named_itself(folder: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"The system 'lost' returned \['nowhere'\] for question 'q0'"):
        run(folder, {"use": f"{__name__}:Lost", "name": "lost"})


def test_data_without_a_question_that_can_be_scored_are_refused(folder: Path) -> None:
    (folder / "queries.jsonl").write_text('{"id": "q", "query": "?", "gold_ids": []}\n')
    with pytest.raises(InvalidInputError, match="no question with a known answer"):
        run(folder, {"use": "bm25"})


MADE = Comparison(
    title="tea",
    baseline="Chroma",
    data=(DataAbout("notes", 3, 1, 2),),
    systems=(SystemAbout("Chroma"), SystemAbout("theta 3", axis="theta", value=3.0)),
    measures=(MeasureAbout("NDCG@10"), MeasureAbout("recall ms", "ms", "lower")),
    results=(
        Result("notes", "Chroma", "NDCG@10", 0.5, 0.25, 0.75, 0.5, 1.0, 0.5, 2, 2),
        Result("notes", "theta 3", "NDCG@10", 0.75, 0.5, 1.0, 0.75, 1.0, 0.25, 2, 2),
    ),
    differences=(Difference("notes", "theta 3", "NDCG@10", 0.25, 0.125, 0.375, 2, True),),
    notes=("Two questions are few.",),
)


def test_what_is_written_is_read_again_and_names_its_format() -> None:
    assert Comparison.from_json(MADE.to_json()) == MADE
    told = json.loads(MADE.to_json())
    assert told["format"] == FORMAT
    assert set(told) == {
        *("format", "title", "confidence", "command", "seconds", "machine", "versions", "notes", "data"),
        *("baseline", "systems", "measures", "results", "differences"),
    }


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "another"}', MADE.to_json().replace("p95", "p96")])
def test_what_is_no_comparison_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="This is not a comparison"):
        Comparison.from_json(text)


def test_one_result_is_found_by_its_names() -> None:
    assert MADE.of("theta 3", "NDCG@10").mean == 0.75
    with pytest.raises(InvalidInputError, match="There is no 'recall ms'"):
        MADE.of("theta 3", "recall ms")


def test_there_is_a_line_a_system_and_the_differences() -> None:
    shown = comparison_text(MADE).splitlines()
    assert "theta 3    0.750" in shown
    assert "theta 3  +0.250 [+0.125, +0.375]*" in shown
    assert shown[-1] == "Two questions are few."


def test_of_times_the_spread_is_told() -> None:
    times = Result("notes", "Chroma", "recall ms", 2.0, 1.0, 3.0, 1.5, 4.0, 0.5, 2, 2)
    shown = comparison_text(replace(MADE, results=(times,))).splitlines()
    assert "Chroma  2.000   1.500  4.000      0.500          2" in shown
