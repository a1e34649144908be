"""Which arguments may one call of a retriever have? Checked, and put over the fields of the retriever."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from functools import lru_cache
from typing import Any

from adaptive_memory_core import InvalidInputError, Policy, PolicyError
from adaptive_memory_core import arguments as check
from adaptive_memory_core.shown_in_errors import shown

FIELDS = (  # of the retriever
    "k",
    "filter",
    "policy",
    "score",
    "score_threshold",
    "similarity_threshold",
    "fetch_k",
    "lambda_mult",
    "annotate",
    "reinforce",
)
SCORES = ("blend", "similarity")
ARGUMENTS = (*FIELDS, "user_id", "now", "turn")
LANGCHAINS_OWN = ("verbose",)  # LangChain's `invoke` reads it and hands it on


class UnknownArgumentError(InvalidInputError, TypeError):
    """A call was given an argument that there is not."""


def checked_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call, without LangChain's own; a name that there is not is refused.

    >>> checked_arguments({"k": 2, "verbose": True})
    {'k': 2}
    >>> checked_arguments({"filters": {}})
    Traceback (most recent call last):
    ...
    langchain_adaptive_memory.call.UnknownArgumentError: There is no argument 'filters'. Did you mean 'filter'? ...
    """
    for name in given:
        if name not in ARGUMENTS and name not in LANGCHAINS_OWN:
            near = get_close_matches(name, ARGUMENTS, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise UnknownArgumentError(f"There is no argument {shown(name)}.{hint} Allowed: {', '.join(ARGUMENTS)}.")
    known = {name: value for name, value in given.items() if name in ARGUMENTS}
    return {name: checked(name, value) if name in CHECKS else value for name, value in known.items()}


def checked(name: str, value: Any) -> Any:
    """The value, if an argument of this name may have it.

    >>> checked("k", 3), checked("score_threshold", None)
    (3, None)
    >>> checked("score_threshold", 80)
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.InvalidInputError: score_threshold is 80. Give a number in [0, 1].
    """
    return CHECKS[name](value)


def checked_policy(policy: object) -> Policy | None:
    """A policy, or None for the memory's."""
    if policy is None or isinstance(policy, Policy):
        return policy
    raise PolicyError(
        f"policy is {shown(policy)}. Give a Policy, e.g. Policy.preset('support'), or None for the memory's."
    )


def checked_flag(value: object) -> bool:
    """True or False and nothing that only looks like one: "no" must not count reads."""
    if isinstance(value, bool):
        return value
    raise InvalidInputError(f"reinforce is {shown(value)}. Give True, or False to look without touching.")


def checked_score(value: object) -> str:
    """What `metadata["score"]` is: what the ranking made of a document, or the plain similarity."""
    if value in SCORES:
        return str(value)
    raise InvalidInputError(
        f"score is {shown(value)}. Give 'blend' for what the ranking made of a document, or 'similarity' for its "
        "likeness to the query, as plain retrievers know it."
    )


def policy_of(policy: Policy, asked: Mapping[str, Any]) -> Policy:
    """The policy, with what a call or a retriever asks for besides.

    >>> policy_of(Policy(), {"similarity_threshold": 0.3, "fetch_k": None}).similarity_floor
    0.3
    """
    names = ("score_threshold", "similarity_threshold", "fetch_k", "lambda_mult")
    return _changed(policy, *(asked.get(name) for name in names))


def of_recall(asked: Mapping[str, Any], policy: Policy) -> dict[str, Any]:
    """The arguments of `recall`; `policy` is the memory's own, where none is asked for."""
    chosen = policy if asked["policy"] is None else asked["policy"]
    plain = {name: asked.get(name) for name in ("k", "filter", "reinforce", "now", "turn")}
    return {**plain, "policy": policy_of(chosen, asked)}


def is_blank(query: object) -> bool:
    """Whether nothing is asked: then nothing is found."""
    return isinstance(query, str) and not query.strip()


@lru_cache(maxsize=64)
def _changed(
    policy: Policy, score: float | None, similarity: float | None, fetch_k: int | None, lambda_mult: float | None
) -> Policy:
    given = {"score_floor": score, "similarity_floor": similarity, "recall_k": fetch_k}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if lambda_mult is not None:
        changes["copies"] = replace(policy.copies, diversity=round(1.0 - lambda_mult, 9))
    return policy.replace(**changes) if changes else policy


def _share(name: str) -> Callable[[object], float | None]:
    return lambda value: None if value is None else check.share(value, name)


CHECKS: dict[str, Callable[[Any], Any]] = {
    "k": lambda value: check.count(value, "k"),
    "filter": check.where,
    "policy": checked_policy,
    "score": checked_score,
    "score_threshold": _share("score_threshold"),
    "similarity_threshold": _share("similarity_threshold"),
    "fetch_k": lambda value: None if value is None else check.count(value, "fetch_k"),
    "lambda_mult": _share("lambda_mult"),
    "annotate": lambda value: check.flag(value, "annotate"),
    "reinforce": checked_flag,
}
