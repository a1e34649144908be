"""The arguments of one call of a retriever: checked, and combined with the retriever's fields."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Any

from adaptive_memory_core import InvalidInputError, Policy, PolicyError
from adaptive_memory_core import arguments as check
from adaptive_memory_core.error_messages import meant, shown
from adaptive_memory_core.models.judges import as_judge

FIELDS = (  # of the retriever
    "k",
    "filter",
    "policy",
    "score",
    "min_score",
    "min_similarity",
    "fetch_k",
    "lambda_mult",
    "annotate",
    "reinforce",
    "on_embedder_error",
    "judge",
)
SCORES = ("blend", "similarity")
ARGUMENTS = (*FIELDS, "user_id", "now", "turn")
PLAIN = (
    "k",
    "filter",
    "reinforce",
    "now",
    "turn",
    "min_score",
    "min_similarity",
    "on_embedder_error",
    "judge",
)  # as in `recall`
LANGCHAINS_OWN = ("verbose",)  # LangChain's `invoke` reads it and passes it on


class UnknownArgumentError(InvalidInputError, TypeError):
    """A call was given an argument that does not exist."""


def checked_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call, without LangChain's own. An unknown name raises UnknownArgumentError.

    >>> checked_arguments({"k": 2, "verbose": True})
    {'k': 2}
    >>> checked_arguments({"filters": {}})
    Traceback (most recent call last):
    ...
    langchain_adaptive_memory.call.UnknownArgumentError: There is no argument 'filters'. Did you mean 'filter'? ...
    """
    for name in given:
        if name not in ARGUMENTS and name not in LANGCHAINS_OWN:
            raise unknown_argument(name, ARGUMENTS)
    known = {name: value for name, value in given.items() if name in ARGUMENTS}
    return {name: checked(name, value) if name in CHECKS else value for name, value in known.items()}


def unknown_argument(name: str, allowed: Collection[str]) -> UnknownArgumentError:
    """The error for an unknown argument or field, with the name that was probably meant."""
    words = " or ".join(map(shown, meant(name, allowed)))
    hint = f" Did you mean {words}?" if words else ""
    return UnknownArgumentError(f"There is no argument {shown(name)}.{hint} Allowed: {', '.join(allowed)}.")


def checked(name: str, value: Any) -> Any:
    """The value. Raises InvalidInputError if an argument of this name may not have it.

    >>> checked("k", 3), checked("min_score", None)
    (3, None)
    >>> checked("min_score", 80)
    Traceback (most recent call last):
    ...
    adaptive_memory_core.errors.InvalidInputError: min_score is 80. Give a number in [0, 1].
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
    """The flag. Raises InvalidInputError for other types, since "no" must not count reads."""
    if isinstance(value, bool):
        return value
    raise InvalidInputError(f"reinforce is {shown(value)}. Give True, or False for a recall that changes nothing.")


def checked_score(value: object) -> str:
    """What `metadata["score"]` is: the score of the ranking, or the plain similarity."""
    if value in SCORES:
        return str(value)
    raise InvalidInputError(
        f"score is {shown(value)}. Give 'blend' for the ranking's score, or 'similarity' for the similarity to the "
        "query, as in plain retrievers."
    )


def checked_judge(value: object) -> object:
    """A chat model, a Judge, or None for the memory's."""
    as_judge(value)
    return value


def policy_of(policy: Policy, asked: Mapping[str, Any]) -> Policy:
    """The policy, with the LangChain settings of a call or a retriever applied.

    >>> policy_of(Policy(), {"fetch_k": 50, "lambda_mult": None}).recall_k
    50
    """
    return _changed(policy, asked.get("fetch_k"), asked.get("lambda_mult"))


def of_recall(asked: Mapping[str, Any], policy: Policy) -> dict[str, Any]:
    """The arguments of `recall`; `policy` is the memory's own, if none is given."""
    chosen = policy if asked["policy"] is None else asked["policy"]
    plain = {name: asked.get(name) for name in PLAIN}
    return {**plain, "policy": policy_of(chosen, asked)}


def is_blank(query: object) -> bool:
    """Whether the query is blank, so that nothing is found."""
    return isinstance(query, str) and not query.strip()


@lru_cache(maxsize=64)
def _changed(policy: Policy, fetch_k: int | None, lambda_mult: float | None) -> Policy:
    changes: dict[str, Any] = {} if fetch_k is None else {"recall_k": fetch_k}
    if lambda_mult is not None:
        changes["diversity"] = round(1.0 - lambda_mult, 9)
    return policy.replace(**changes) if changes else policy


def _share(name: str) -> Callable[[object], float | None]:
    return lambda value: None if value is None else check.fraction(value, name)


CHECKS: dict[str, Callable[[Any], Any]] = {
    "k": lambda value: check.count(value, "k"),
    "filter": check.where,
    "policy": checked_policy,
    "score": checked_score,
    "min_score": _share("min_score"),
    "min_similarity": _share("min_similarity"),
    "fetch_k": lambda value: None if value is None else check.count(value, "fetch_k"),
    "lambda_mult": _share("lambda_mult"),
    "annotate": lambda value: check.flag(value, "annotate"),
    "reinforce": checked_flag,
    "on_embedder_error": check.on_embedder_error,
    "judge": checked_judge,
}
