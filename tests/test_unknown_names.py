"""Does a setting with a wrong name say which one is meant, or where it belongs?"""

from __future__ import annotations

from typing import Any

import pytest

from adaptive_memory_core import Fields, Keeping, Policy
from adaptive_memory_core.policy import Fusion, Weights


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        (Policy, "chanels", "Did you mean 'channels'?"),
        (Policy, "importance", "It belongs into Policy(weights=Weights(importance=...))."),
        (Policy, "dated", "It belongs into Policy(fusion=Fusion(dated=...))."),
        (Policy, "stands_out", "It belongs into Policy(updates=Updates(stands_out=...))."),
        (Policy, "lag_seconds", "It belongs into AdaptiveMemory(..., keeping=Keeping(lag_seconds=...))."),
        (Policy, "keeping", "It belongs into AdaptiveMemory(..., keeping=...)."),
        (Fusion, "word", "Did you mean 'words'?"),
        (Weights, "novelty", "Allowed are "),
        (Keeping, "lag", "Allowed are lag_seconds, "),
        (Fields, "speeker", "Did you mean 'speaker'?"),
    ],
)
def test_a_name_that_there_is_not_is_refused_with_the_one_that_is_meant(kind: Any, name: str, said: str) -> None:
    with pytest.raises(TypeError) as told:
        kind(**{name: 1})
    assert str(told.value).startswith(f"{kind.__name__}() got an unexpected keyword argument {name!r}. {said}")


def test_other_mistakes_are_told_as_they_were() -> None:
    too_many: Any = [1] * 99
    with pytest.raises(TypeError, match="positional"):
        Keeping(*too_many)
