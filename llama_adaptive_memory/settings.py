"""Are the settings of a reader valid? Checked where they are given: made, assigned or called."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal

from typing_extensions import TypedDict

from adaptive_memory_core import InvalidInputError, Policy, PolicyError
from adaptive_memory_core import arguments as check
from adaptive_memory_core.error_messages import meant, shown
from adaptive_memory_core.models.judges import as_judge
from adaptive_memory_core.verbs.blocking_and_async import Moment
from llama_adaptive_memory.filters import where_of

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
    min_score: float | None
    min_similarity: float | None
    now: Moment | None
    turn: str | None
    judge: Any


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


def checked_judge(judge: Any) -> Any:
    as_judge(judge)
    return judge


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


def unknown_argument(name: str, allowed: Collection[str]) -> UnknownArgumentError:
    """The error for an argument that there is not, with the one that is meant."""
    words = " or ".join(map(shown, meant(name, allowed)))
    hint = f" Did you mean {words}?" if words else ""
    return UnknownArgumentError(f"There is no argument {shown(name)}.{hint} Allowed: {', '.join(allowed)}.")


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
            raise unknown_argument(name, allowed)
        if name != "user_id":
            setattr(retriever, name, value)
