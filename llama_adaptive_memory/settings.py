"""Are the settings of a reader valid? Checked where they are given: made, assigned or called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Literal

from typing_extensions import TypedDict

from adaptive_memory_core import InvalidInputError, Policy, PolicyError, UserMemory
from adaptive_memory_core import arguments as check
from adaptive_memory_core.shown_in_errors import shown
from adaptive_memory_core.verbs.blocking_and_async import Moment
from llama_adaptive_memory.filters import where_of
from llama_adaptive_memory.scopes import policy_of

ScoreMeaning = Literal["blend", "similarity"]
Check = Callable[[Any], Any]


class UnknownArgumentError(InvalidInputError, TypeError):
    """A constructor or a call was given an argument that there is not."""


class CallArguments(TypedDict, total=False):
    """What one call of a retriever may say, instead of what the retriever was made with."""

    user_id: str | int | None
    similarity_top_k: int
    filters: Any
    policy: Policy | None
    reinforce: bool
    score: ScoreMeaning
    score_threshold: float | None
    similarity_threshold: float | None
    now: Moment | None
    turn: str | None


class Setting:
    """An attribute that refuses what it cannot be, at once and not at the next retrieval."""

    def __init__(self, checked: Check, doc: str) -> None:
        self._checked, self.__doc__ = checked, doc

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        return self if owner is None else owner.__dict__[self._name]

    def __set__(self, owner: Any, value: Any) -> None:
        owner.__dict__[self._name] = self._checked(value)


def checked_filters(filters: Any) -> Any:
    where_of(filters)
    return filters


def checked_policy(policy: Any) -> Policy | None:
    if policy is None or isinstance(policy, Policy):
        return policy
    raise PolicyError(
        f"policy is {shown(policy)}. Give a Policy, e.g. Policy.preset('support'), or None for the memory's."
    )


def checked_score(meaning: Any) -> str:
    if meaning in ("blend", "similarity"):
        return str(meaning)
    raise InvalidInputError(
        f"score is {shown(meaning)}. Give 'blend' for what the ranking made of a node, or 'similarity' for the "
        "number that LlamaIndex's own retriever gives."
    )


def floor(name: str) -> Check:
    """The check of a threshold of that name."""
    return lambda value: None if value is None else check.share(value, name)


def apply_call(retriever: Any, call: Mapping[str, Any]) -> None:
    """Give a retriever what a call says; a name that there is not is refused.

    >>> apply_call(None, {"filter": None})
    Traceback (most recent call last):
    ...
    llama_adaptive_memory.settings.UnknownArgumentError: There is no argument 'filter'. Did you mean 'filters'? ...
    """
    allowed = tuple(CallArguments.__annotations__)
    for name, value in call.items():
        if name not in allowed:
            near = get_close_matches(name, allowed, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise UnknownArgumentError(f"There is no argument {shown(name)}.{hint} Allowed: {', '.join(allowed)}.")
        if name != "user_id":
            setattr(retriever, name, value)


def with_floors(
    policy: Policy | None, scope: UserMemory, score: float | None, similarity: float | None
) -> Policy | None:
    """The policy that is meant, with these thresholds where they are given; None for the memory's as it is."""
    if score is None and similarity is None:
        return policy
    return _with_floors(policy_of(scope) if policy is None else policy, score, similarity)


@lru_cache(maxsize=64)
def _with_floors(policy: Policy, score: float | None, similarity: float | None) -> Policy:
    """
    >>> _with_floors(Policy(), None, 0.3).similarity_floor
    0.3
    """
    floors = {"score_floor": score, "similarity_floor": similarity}
    return policy.replace(**{name: least for name, least in floors.items() if least is not None})
