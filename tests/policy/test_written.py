"""Is it the same policy everywhere it is written down, and does each preset carry the numbers of its source?"""

from __future__ import annotations

import copy
import json
import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core.errors import PolicyError
from adaptive_memory_core.policy import Advanced, Decay, Fusion, Hierarchies, Learning, Policy, Remembrance, Weights
from adaptive_memory_core.policy.presets import PRESETS
from adaptive_memory_core.score.signals import decay

numbers = st.fixed_dictionaries(
    {},
    optional={
        "half_life_days": st.floats(0.1, 1e6) | st.integers(1, 10_000),
        "recall_k": st.integers(1, 10_000),
        "min_similarity": st.floats(0, 1),
        "refresh_floor_seconds": st.floats(0, 1e6) | st.integers(0, 1000),
        "decay": st.builds(
            Decay,
            unit=st.sampled_from(["recalls", "days"]),
            by_kind=st.sampled_from([(), {"fact": Remembrance(rate=0.9)}]),
        ),
        "learning": st.builds(Learning, importance_step=st.floats(0, 0.05), half_life_growth=st.floats(0, 10)),
        "time_words": st.sampled_from(["rank", "filter", "off"]),
        "shape": st.sampled_from(["flat", "episodes", "top_down"]),
        "channels": st.sampled_from(["auto", ("dense",), ("dense", "lexical"), ("lexical", "dense")]),
        "advanced": st.builds(
            Advanced,
            blend=st.sampled_from(["sum", "minmax", "product"]),
            duplicates=st.sampled_from(["keep", "drop"]),
            rerank_candidates=st.integers(1, 99),
            neighbours=st.booleans(),
            fusion=st.sampled_from([Fusion(), Fusion(words=0.5), "rrf"]),
            hierarchy=st.builds(Hierarchies, gap_minutes=st.floats(0, 1e6)),
            kind_weights=st.sampled_from([(), {"fact": Weights(1, 0, 1), "reflection": Weights(importance=0.8)}]),
            channel_weights=st.sampled_from([(), {"sql": 0.5}]),
        ),
        "weights": st.builds(Weights, st.floats(0, 9), st.integers(0, 9), st.floats(0.1, 9)),
    },
)


@given(numbers)
def test_json_gives_the_same_policy_back(changes: dict[str, Any]) -> None:
    policy = Policy(**changes)
    again = Policy.from_json(policy.to_json())
    assert again == policy
    assert again.hash == policy.hash


@given(numbers, numbers)
def test_equal_policies_have_one_hash_and_others_another(one: dict[str, Any], other: dict[str, Any]) -> None:
    first, second = Policy(**one), Policy(**other)
    assert (first.hash == second.hash) == (first == second)


def test_every_preset_survives_json() -> None:
    for name in PRESETS:
        assert Policy.from_json(Policy.preset(name).to_json()) == Policy.preset(name)


def test_a_whole_number_and_its_float_are_one_policy() -> None:
    assert Policy(half_life_days=14) == Policy(half_life_days=14.0)
    assert Policy(half_life_days=14).hash == Policy(half_life_days=14.0).hash
    assert Policy(weights=Weights(1, 1, 1)).hash == Policy(weights=Weights(1.0, 1.0, 1.0)).hash


def test_a_hash_is_short_and_the_same_in_every_process() -> None:
    assert Policy().hash == Policy().hash
    assert len(Policy().hash) == 16
    assert int(Policy().hash, 16) >= 0


def test_json_of_a_newer_version_is_read_without_what_it_added() -> None:
    newer = Policy(recall_k=7).to_json().replace("{", '{"added_later": 1, ', 1)
    assert Policy.from_json(newer) == Policy(recall_k=7)


def test_a_policy_is_the_same_after_pickling_and_copying() -> None:
    policy = Policy(decay=Decay(rate=0.9, by_kind={"fact": Remembrance(rate=0.5)}))
    for again in (pickle.loads(pickle.dumps(policy)), copy.deepcopy(policy)):
        assert (again, hash(again), again.hash) == (policy, hash(policy), policy.hash)


WRONG: tuple[Any, ...] = (None, 5, "x", [], {}, [1], {"a": 1}, float("nan"), True, -1, 10**400)


def test_whatever_stands_in_a_field_it_is_a_policy_or_a_clear_error() -> None:
    written = json.loads(Policy().to_json())
    places = [*((written, name) for name in written), *((written["advanced"], name) for name in written["advanced"])]
    for owner, name in places:
        before = owner[name]
        for value in WRONG:
            owner[name] = value
            with suppress(PolicyError):
                Policy.from_json(json.dumps(written))
        owner[name] = before


@pytest.mark.parametrize("text", ["", "[1", "[1]", "5", "null", "[" * 100_000])
def test_what_is_no_object_is_no_policy(text: str) -> None:
    with pytest.raises(PolicyError, match=r"Give what Policy.to_json\(\) wrote"):
        Policy.from_json(text)


def test_what_was_saved_is_loaded(tmp_path: Path) -> None:
    policy = Policy.preset("support").replace(decay={"rate": 0.95})
    policy.save(tmp_path / "policy.json")
    policy.save(tmp_path / "policy.json")
    assert Policy.load(str(tmp_path / "policy.json")) == policy
    assert [one.name for one in tmp_path.iterdir()] == ["policy.json"]


def test_what_is_no_policy_is_refused_with_what_to_give(tmp_path: Path) -> None:
    (tmp_path / "torn.json").write_bytes(b'{"half_life_days": \xff')
    for path in (tmp_path / "none.json", tmp_path, tmp_path / "torn.json"):
        with pytest.raises(PolicyError, match=r"Policy\.save"):
            Policy.load(path)
    with pytest.raises(PolicyError, match="cannot be written"):
        Policy().save(tmp_path / "no directory" / "policy.json")


SOURCES: dict[str, tuple[tuple[float, float, float], float | None]] = {  # weights and half-life, where it names one
    "equal": ((1, 1, 1), None),
    "assistant": ((1.5, 1, 1), 7),
    "support": ((1, 1.5, 1), 30),
    "coding": ((0.5, 1, 1.5), None),
    "generative_agents": ((1, 1, 1), None),
    "planning": ((1, 1, 1), None),
}


def test_every_preset_carries_the_numbers_of_its_source() -> None:
    for name, (weights, days) in SOURCES.items():
        policy = Policy.preset(name)
        assert policy.weights == Weights(*weights)
        assert days in (None, policy.half_life_days)
    default = Policy.preset("default").weights
    assert default.similarity / default.total >= 0.9  # ranks nearly as similarity does
    hourly = Policy.preset("generative_agents").half_life_days
    assert decay(3600, half_life_days=hourly) == pytest.approx(0.995, abs=1e-12)
    assert decay(240 * 3600, half_life_days=hourly) == pytest.approx(0.995**240, abs=1e-12)


@pytest.mark.parametrize("name", ["", "Equal", "chat", None, 3, ["equal"]])
def test_an_unknown_preset_is_refused_with_those_there_are(name: Any) -> None:
    with pytest.raises(PolicyError, match=r"aggressive, assistant, balanced, .*, support, ultra_efficient"):
        Policy.preset(name)
