"""Are the values of a recall frozen? And is a hash that is computed once the hash of the fields?"""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import pytest

from adaptive_memory_core import Fields, Policy, ReadState, Record, Scored
from adaptive_memory_core.reports import Dropped, Hit

MADE: list[Any] = [
    ReadState(last_read=1.0, pinned=True),
    Record("a", "tea", metadata={"topic": "tea"}, stored={"topic": "tea"}),
    Hit(Record("a"), 0.5, "a"),
    Scored(Hit(Record("a"), 0.5, "a"), 0.5, {"similarity": 0.5}, {}),
    Dropped("a", "beyond k"),
]


@pytest.mark.parametrize("made", MADE, ids=lambda made: type(made).__name__)
def test_they_stay_frozen_and_can_be_copied_pickled_and_replaced(made: Any) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(made, fields(made)[0].name, None)
    assert made == copy.copy(made) == copy.deepcopy(made) == pickle.loads(pickle.dumps(made)) == replace(made)
    assert not hasattr(made, "__dict__")


def test_equal_policies_have_one_hash_and_changed_ones_another() -> None:
    policy = Policy()
    assert hash(policy) == hash(Policy()) == hash(pickle.loads(pickle.dumps(policy))) == hash(copy.deepcopy(policy))
    assert hash(policy.replace(recall_k=7)) != hash(policy)
    assert len({policy, Policy(), policy.replace(recall_k=7), Fields(), Fields(kind="sort")}) == 4
