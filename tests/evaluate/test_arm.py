"""Can the experiments of the ARM paper be run whole, against a server that speaks the protocol?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from adaptive_memory_core.errors import InvalidInputError, JudgeError
from adaptive_memory_core.evaluate.compare import compare, estimate_of
from adaptive_memory_core.evaluate.plan import Experiment, arm_systems, experiment_of
from tests.evaluate.conftest import EMBEDDER
from tests.models.chat_server import FakeChat

MEMORIES = ("static", "dynamic conservative", "dynamic selective")


def plan(folder: Path, **more: Any) -> Experiment:
    return experiment_of({"data": [{"folder": str(folder)}], **more}, folder.parent)


def two_models(server: FakeChat, folder: Path) -> Experiment:
    common = {"base_url": server.url, "requests_per_minute": 60_000, "retries": 0}
    return plan(folder, arm="3 x 2", models=[{"model": one, **common} for one in ("llama-3.1", "gpt-4o")])


def test_a_judge_says_which_replies_are_correct(server: FakeChat, folder: Path) -> None:
    def replies(request: dict[str, Any]) -> tuple[str, list[list[float]]]:
        told = json.loads(request["messages"][1]["content"])
        if request["model"] == "judge":
            verdict = {True: "yes", False: "no"}[told["reply"] in told["right_answers"]]
            return "?" if "cat" in told["question"] else f'{{"correct": "{verdict}"}}', []
        return "green tea" if "tea" in told["question"] else "soup", []

    server.replies = replies
    models = [{"model": "m", "base_url": server.url, "requests_per_minute": 60_000}]
    asked = plan(folder, systems=[{"use": "bm25"}], models=models, judge={**models[0], "model": "judge"})
    found = compare(asked).of("bm25 + m", "judged accuracy")
    assert (found.mean, found.questions) == (1 / 5, 5)  # what cannot be read is not counted
    (answers, judged) = estimate_of(asked).lines
    assert (answers.requests, judged.model, judged.requests) == (6, "judge (judge)", 6)
    for wrong, said in ({"judge": "m"}, "must be a table"), ({"models": [], "judge": {"model": "m"}}, "no models"):
        with pytest.raises(InvalidInputError, match=said):
            plan(folder, systems=[{"use": "bm25"}], **wrong)


def first_line(request: dict[str, Any]) -> str:
    """A reply in the words of the best evidence, longer from one model than from the other."""
    evidence = json.loads(request["messages"][1]["content"])["evidence"]
    said = " ".join(evidence)
    return f"I think that it is so: {said}" if request["model"] == "gpt-4o" else said


def test_the_comparison_of_memories_and_models_is_run_whole_and_a_second_run_asks_nobody(
    server: FakeChat, folder: Path
) -> None:
    server.replies = lambda request: (first_line(request), [])
    found = compare(two_models(server, folder))
    for memory in MEMORIES:
        for model in ("llama-3.1", "gpt-4o"):
            combination = f"{memory} + {model}"
            assert found.of(combination, "key-term coverage").mean == 1.0
            assert found.of(combination, "response s").mean > 0.0
            assert found.of(combination, "response s").deviation >= 0.0
            assert found.of(combination, "exact match").mean == 0.0
            assert found.of(combination, "contain-accuracy").mean == 1.0
        longer = found.of(f"{memory} + gpt-4o", "response words").mean
        assert longer == found.of(f"{memory} + llama-3.1", "response words").mean + 6
    about = {one.name: one.model for one in found.systems}
    assert (about["static"], about["static + gpt-4o"]) == (None, "gpt-4o")
    against = [one for one in found.differences if one.measure == "response words"]
    assert {one.system for one in against} == {f"{one} + {m}" for one in MEMORIES[1:] for m in ("llama-3.1", "gpt-4o")}
    asked = len(server.requests)
    again = compare(two_models(server, folder))
    assert len(server.requests) == asked <= 6 * 6
    assert again.of("static + gpt-4o", "response s") == found.of("static + gpt-4o", "response s")


def test_a_run_that_broke_off_goes_on_where_it_was(server: FakeChat, folder: Path) -> None:
    def give_out(request: dict[str, Any]) -> tuple[str, list[list[float]]]:
        server.status = 200 if len(server.requests) <= 5 else 400
        return first_line(request), []

    server.replies = give_out
    with pytest.raises(JudgeError, match="5 replies are stored"):
        compare(two_models(server, folder))
    server.replies, server.status = lambda request: (first_line(request), []), 200
    compare(two_models(server, folder))
    bodies = [json.dumps(one, sort_keys=True) for one in server.requests]
    assert len(bodies) == len(set(bodies)) + 1  # only the one that failed was sent twice


def test_table_2_has_plain_search_and_arm_for_each_embedder_with_its_size(folder: Path) -> None:
    embedders = [{"name": "words", "use": EMBEDDER, "parameters_millions": 2}, {"name": "local", "use": "local"}]
    found = compare(plan(folder, arm="table 2", embedders=embedders))
    assert [one.name for one in found.systems] == ["words", "ARM, words", "local", "ARM, local"]
    for one in ("words", "ARM, words"):
        assert found.of(one, "NDCG per million parameters").mean == pytest.approx(found.of(one, "NDCG@5").mean / 2)
    assert found.of("ARM, local", "recall@5").mean > 0.5
    with pytest.raises(InvalidInputError, match="There is no 'parameters"):
        found.of("local", "parameters (millions)")


@pytest.mark.parametrize(("axis", "field"), [("theta", "remembrance_threshold"), ("gamma", "grace"), ("alpha", "rate")])
def test_one_number_is_varied_and_the_others_stay_as_the_paper_recommends(axis: str, field: str) -> None:
    first, *varied = arm_systems(axis)
    assert (first.name, first.axis) == ("static", None)
    for one in varied:
        decay = one.settings["policy"].decay
        told = {"remembrance_threshold": decay.remembrance_threshold, "grace": decay.grace, "rate": decay.rate}
        assert (one.axis, one.value) == (axis, told.pop(field))
        expected = {"remembrance_threshold": 3, "grace": 5.0, "rate": 0.95}
        assert told == {name: value for name, value in expected.items() if name != field}


def test_an_ablation_runs_with_its_reads_and_tells_its_axis(folder: Path) -> None:
    found = compare(plan(folder, arm=["alpha"], systems=[]))
    assert [one.value for one in found.systems] == [None, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0]
    assert found.of("alpha 1", "NDCG@5").mean == found.of("static", "NDCG@5").mean
    assert found.of("alpha 0.8", "update ms").mean > 0.0
    assert found.of("alpha 0.8", "reads per recall").mean <= 5.0


def test_an_unknown_experiment_and_a_wrong_embedder_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="table 2, 3 x 2"):
        arm_systems("table 3")
    with pytest.raises(InvalidInputError, match="needs name and use"):
        arm_systems("table 2", [{"name": "local"}])
