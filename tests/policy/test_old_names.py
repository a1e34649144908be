"""Do the names that a policy's fields had before still work, say where they are now, and stay readable in old logs?"""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from dataclasses import fields
from typing import Any

import pytest

from adaptive_memory_core.policy import Decay, Policy, Remembrance, Usefulness
from adaptive_memory_core.policy.old_names import PLACES

VALUES: dict[str, Any] = {  # one besides the default, of every field that moved
    "half_life_growth": 0.5,
    "half_life_days_max": 90.0,
    "reads_before_refresh": 2,
    "read_window_days": 3.0,
    "count_weight": 0.1,
    "count_boost_max": 0.3,
    "count_decay_per_day": 0.9,
    "verdict_step": 0.01,
    "boost_max": 0.4,
    "temporal": False,
    "time_weight": 0.5,
    "lean_weight": 0.2,
    "time_spread": 0.1,
    "past_recency": 0.5,
    "present_recency": 3.0,
    "strict_time": True,
    "remembrance_threshold": 7,
    "decay_grace": 2.0,
    "decay_rate": 0.9,
    "strength_floor": 0.2,
    "restore_on_read": 0.5,
    "unit": "days",
    "strength_weight": 0.5,
    "by_kind": (("fact", Remembrance(rate=0.5)),),
    "duplicates": "drop",
    "same_share": 0.8,
    "diversity": 0.1,
    "intact": True,
    "merge": 0.5,
    "recency_spread": 0.1,
    "importance_spread": 0.1,
    "similarity_spread": 0.1,
    "rerank_weight": 0.7,
    "rerank_candidates": 9,
    "rerank_timeout_seconds": 2.0,
}


def at(policy: Policy, name: str) -> Any:
    group, field = PLACES[name]
    return getattr(getattr(policy, group), field)


def test_every_old_name_is_tried_here() -> None:
    assert VALUES.keys() == PLACES.keys()
    assert not PLACES.keys() & {field.name for field in fields(Policy)}


@pytest.mark.parametrize(("name", "value"), VALUES.items())
def test_an_old_name_works_everywhere_and_says_where_it_is_now(name: str, value: Any) -> None:
    place = r"Policy\." + r"\.".join(PLACES[name])
    with pytest.warns(DeprecationWarning, match=rf"Policy\.{name} is {place} now") as seen:
        policy = Policy(**{name: value})
    assert [one.filename for one in seen] == [__file__]
    with pytest.warns(DeprecationWarning, match=place) as seen:
        changed = Policy().replace(**{name: value})
    assert [one.filename for one in seen] == [__file__]
    with pytest.warns(DeprecationWarning, match=place) as seen:
        assert getattr(policy, name) == value
    assert [one.filename for one in seen] == [__file__]
    assert at(policy, name) == value != at(Policy(), name)
    assert changed == policy
    assert changed.hash == policy.hash


def test_old_names_change_their_group_and_leave_the_rest_of_it() -> None:
    with pytest.warns(DeprecationWarning) as seen:  # noqa: PT030 - each is looked at below
        policy = Policy.preset("aggressive").replace(decay_rate=0.5, unit="days", recall_k=7)
    assert [str(one.message).split(" ")[3] for one in seen] == ["Policy.decay.rate", "Policy.decay.unit"]
    assert policy.decay == Decay(remembrance_threshold=2, grace=10, rate=0.5, unit="days")
    assert policy.recall_k == 7
    old: Any = {"verdict_step": 0.01}
    with pytest.warns(DeprecationWarning, match=r"useful\.importance_step"):
        assert Policy(useful=Usefulness(weight=1), **old).useful == Usefulness(weight=1, importance_step=0.01)


def test_the_numbers_of_a_kind_take_their_old_names() -> None:
    with pytest.warns(DeprecationWarning, match=r"Remembrance\.decay_rate is Remembrance\.rate now"):
        kind = Remembrance(decay_rate=0.9, remembrance_threshold=1)  # type: ignore[call-arg] # unseen by type checkers
    assert kind == Remembrance(rate=0.9, remembrance_threshold=1)
    with pytest.warns(DeprecationWarning, match=r"Remembrance\.decay_grace is Remembrance\.grace now"):
        assert kind.decay_grace == 5.0  # type: ignore[attr-defined]


def test_what_never_was_a_field_is_no_attribute() -> None:
    assert not hasattr(Policy(), "halflife")
    with pytest.raises(AttributeError, match="'Policy' object has no attribute 'halflife'"):
        _ = Policy().halflife  # type: ignore[attr-defined]


def test_a_log_of_the_version_before_is_read_without_a_word() -> None:
    before = {**VALUES, "by_kind": [["fact", {"decay_rate": 0.5, "decay_grace": 5.0, "strength_floor": 0.0}]]}
    older = {"recall_k": 7, "channels": ["dense"], "useful": {"weight": 2.0}, "weights": {"recency": 1.0}, **before}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        policy = Policy.from_json(json.dumps(older))
    for name, value in VALUES.items():
        assert at(policy, name) == value, name
    assert (policy.recall_k, policy.channels, policy.useful.weight, policy.weights.recency) == (7, ("dense",), 2.0, 1.0)
    assert Policy.from_json(policy.to_json()) == policy


@pytest.mark.parametrize(
    ("name", "flat"),
    [
        ("equal", '{"blend": "sum", "channels": ["dense"], "duplicates": "keep", "importance_spread": 0.01, '
         '"recency_spread": 0.01, "similarity_spread": 0.01, '
         '"weights": {"importance": 1.0, "recency": 1.0, "similarity": 1.0, "strength": 0.0}}'),
        ("composite", '{"blend": "absolute", "count_weight": 0.0, "half_life_days": 7.0, "recall_k": 30, '
         '"refresh_floor_seconds": 0.0, "score_floor": 0.35, "temporal": false, '
         '"weights": {"importance": 0.15, "recency": 0.25, "similarity": 0.6, "strength": 0.0}}'),
        ("aggressive", '{"channels": ["dense"], "decay_grace": 10.0, "decay_rate": 0.8, "duplicates": "keep", '
         '"refresh_floor_seconds": 0.0, "remembrance_threshold": 2, "temporal": false, '
         '"weights": {"importance": 0.0, "recency": 0.0, "similarity": 1.0, "strength": 0.0}}'),
    ],
)  # fmt: skip
def test_a_preset_means_what_it_meant(name: str, flat: str) -> None:
    """What the version before wrote of it, without the fields at their defaults."""
    assert Policy.from_json(flat) == Policy.preset(name)


def test_an_old_name_in_a_test_of_ours_is_an_error() -> None:
    """The setting of pytest by which nothing of ours goes on using one."""
    with pytest.raises(DeprecationWarning, match=r"Policy\.decay\.rate"):
        Policy().replace(decay_rate=0.9)


def test_a_policy_is_the_same_after_pickling_and_copying() -> None:
    policy = Policy(decay=Decay(rate=0.9, by_kind={"fact": Remembrance(rate=0.5)}))
    for again in (pickle.loads(pickle.dumps(policy)), copy.deepcopy(policy)):
        assert (again, hash(again), again.hash) == (policy, hash(policy), policy.hash)
