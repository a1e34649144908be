"""Are the quickly made values what any frozen dataclass is? And is a hash that is kept the hash of the fields?"""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, replace
from typing import Any

import pytest

from adaptive_memory_core import Fields, Policy, ReadState, Record, Scored
from adaptive_memory_core.frozen import quickly_made, quickly_replaced
from adaptive_memory_core.reports import Dropped, Hit

MADE: list[Any] = [
    ReadState(last_read=1.0, pinned=True),
    Record("a", "tea", metadata={"topic": "tea"}, stored={"topic": "tea"}),
    Hit(Record("a"), 0.5, "a"),
    Scored(Hit(Record("a"), 0.5, "a"), 0.5, {"similarity": 0.5}, {}),
    Dropped("a", "beyond k"),
]


@dataclass(frozen=True, slots=True)
class Plain:
    needed: int
    kind: str | None = None
    many: dict[str, int] = field(default_factory=dict)
    hidden: float = field(default=0.5, compare=False, repr=False)


@quickly_made
@dataclass(frozen=True, slots=True)
class Quick:
    needed: int
    kind: str | None = None
    many: dict[str, int] = field(default_factory=dict)
    hidden: float = field(default=0.5, compare=False, repr=False)


@pytest.mark.parametrize("made", MADE, ids=lambda made: type(made).__name__)
def test_they_stay_frozen_and_can_be_copied_pickled_and_replaced(made: Any) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(made, fields(made)[0].name, None)
    assert made == copy.copy(made) == copy.deepcopy(made) == pickle.loads(pickle.dumps(made)) == replace(made)
    assert not hasattr(made, "__dict__")


def test_they_take_what_the_plain_ones_take() -> None:
    assert inspect.signature(Quick).parameters.keys() == inspect.signature(Plain).parameters.keys()
    assert repr(Quick(1, many={"a": 1})) == "Quick(needed=1, kind=None, many={'a': 1})"
    assert (Quick(1).many, Quick(1).hidden, Quick(1, "x").kind) == ({}, 0.5, "x")
    assert Quick(1).many is not Quick(1).many
    assert Quick(1, hidden=0.1) == Quick(1, hidden=0.2)
    with pytest.raises(TypeError):
        Quick()  # type: ignore[call-arg] # that is the point
    with pytest.raises(TypeError):
        Quick(1, other=2)  # type: ignore[call-arg] # that is the point


def test_equal_policies_have_one_hash_and_changed_ones_another() -> None:
    policy = Policy()
    assert hash(policy) == hash(Policy()) == hash(pickle.loads(pickle.dumps(policy))) == hash(copy.deepcopy(policy))
    assert hash(policy.replace(recall_k=7)) != hash(policy)
    assert len({policy, Policy(), policy.replace(recall_k=7), Fields(), Fields(kind="sort")}) == 4


@pytest.mark.parametrize("one", MADE, ids=lambda one: type(one).__name__)
def test_a_changed_copy_is_what_replace_makes(one: Any) -> None:
    name = fields(one)[0].name
    assert quickly_replaced(one) == one
    assert quickly_replaced(one, **{name: None}) == replace(one, **{name: None})
    with pytest.raises(TypeError):
        quickly_replaced(one, nothing=1)
