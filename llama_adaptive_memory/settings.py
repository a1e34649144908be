"""The settings of the retriever, checked, and its scope."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy
from enum import Enum
from typing import Any, Literal, NamedTuple

from typing_extensions import TypedDict

from adaptive_memory_core import (
    AdaptiveMemory,
    Fields,
    InvalidInputError,
    Policy,
    PolicyError,
    Scope,
    ScopeError,
    UserMemory,
)
from adaptive_memory_core import arguments as check
from adaptive_memory_core.arguments import over as check_over
from adaptive_memory_core.arguments import shared as shared_users
from adaptive_memory_core.arguments import user_scope
from adaptive_memory_core.arguments.values import Moment
from adaptive_memory_core.error_messages import meant, shown
from adaptive_memory_core.flow.fallback import fallback_of
from adaptive_memory_core.identity import namespaced
from adaptive_memory_core.models.judges import as_judge
from llama_adaptive_memory.convert import where_of

ScoreMeaning = Literal["blend", "similarity"]
Check = Callable[[Any], Any]


class UnknownArgumentError(InvalidInputError, TypeError):
    """A constructor or a call was given an argument that does not exist."""


class CallArguments(TypedDict, total=False):
    """The arguments of one call of a retriever, which replace those of its constructor."""

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
    """An attribute that raises for an invalid value immediately, and not at the next retrieval."""

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
        f"score is {shown(meaning)}. Give 'blend' for the ranking's score, or 'similarity' for the number that "
        "LlamaIndex's own retriever gives."
    )


def floor(name: str) -> Check:
    """The check of a threshold of that name."""
    return lambda value: None if value is None else check.fraction(value, name)


def unknown_argument(name: str, allowed: Collection[str]) -> UnknownArgumentError:
    """The error for an unknown argument, with the name that was probably meant."""
    words = " or ".join(map(shown, meant(name, allowed)))
    hint = f" Did you mean {words}?" if words else ""
    return UnknownArgumentError(f"There is no argument {shown(name)}.{hint} Allowed: {', '.join(allowed)}.")


def apply_call(retriever: Any, call: Mapping[str, Any]) -> None:
    """Apply the arguments of a call to a retriever. An unknown name raises UnknownArgumentError.

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


SOMEBODY = "somebody without a name"
SESSIONS = "llama_index session"


class Unnamed(Enum):
    """A way of naming nobody. An Enum, so that copies stay identical."""

    EVERYONE = "everyone"

    def __repr__(self) -> str:
        return self.name


EVERYONE: Literal[Unnamed.EVERYONE] = Unnamed.EVERYONE
"""As `fallback`: the records that belong to no user."""
Fallback = str | Literal[Unnamed.EVERYONE] | None
Over = Literal["everyone"] | None
AUTO: Literal["auto"] = "auto"  # as `over` of a retriever: "everyone" while no record of the collection names a user


class AskedScope(NamedTuple):
    """The scope that a reader was given, unchecked."""

    user_id: Any = None
    fallback: Any = None
    over: Any = None


ANY_SCOPE = AskedScope()


def check_scope(asked: AskedScope, shared: Iterable[str]) -> None:
    """Raise for a scope that is not valid with these shared users, before a memory is opened."""
    own = Scope(SOMEBODY) if asked.user_id is None else user_scope(asked.user_id)
    check_over(own, asked.over, asked.fallback)
    if asked.fallback is not None and asked.fallback is not EVERYONE:
        fallback_of(Scope(SOMEBODY), user_scope(asked.fallback), shared_users(shared), below=1)


def scope_of(
    memory: AdaptiveMemory | UserMemory, user_id: str | int | None, fallback: Fallback = None, over: Over = None
) -> UserMemory:
    """One user's memory; without a user, the memory of the records that belong to nobody."""
    return with_others(_scope_of(memory, user_id), fallback, over)


def with_others(scope: UserMemory, fallback: Fallback, over: Over) -> UserMemory:
    """A user's memory that also reads everyone's records (`over`), or a shared scope while the user has none."""
    check_over(Scope(SOMEBODY), over, fallback)
    return with_fallback(scope, fallback) if over is None else scope.over(over)


def with_fallback(scope: UserMemory, fallback: Fallback) -> UserMemory:
    """A user's memory that reads a shared scope if it has no records itself; the records of nobody need no fallback."""
    if fallback is None:
        return scope
    whole: Any = scope.memory
    behind = Scope(None) if fallback is EVERYONE else user_scope(fallback)
    somebody = Scope(SOMEBODY) if scope.user is None or scope.scope == behind else scope.scope
    found = fallback_of(somebody, behind, whole.shared, below=1)  # raises for a fallback that is not shared
    if somebody is not scope.scope:
        return scope
    other = copy(scope)
    other.fallback = found
    return other


def _scope_of(memory: AdaptiveMemory | UserMemory, user_id: str | int | None) -> UserMemory:
    if isinstance(memory, AdaptiveMemory):
        return memory.for_everyone() if user_id is None else memory.for_user(user_id)
    if user_id is not None and user_id != memory.user:
        raise ScopeError(
            f"user_id is {shown(user_id)}, but the given memory is that of {memory.scope}. Give an AdaptiveMemory to "
            "reach other users, or leave user_id out."
        )
    return memory


def session_memory(memory: AdaptiveMemory | UserMemory, session_id: str | None) -> UserMemory:
    """The memory of a chat session without a user; a user with the same name as the session has a different one."""
    if isinstance(memory, UserMemory):
        return memory
    if session_id is None:
        raise ScopeError(
            "The block was asked without a session, and it has no user_id. Use it in Memory.from_defaults("
            "session_id=..., memory_blocks=[block]), or give it user_id='alice'."
        )
    return UserMemory(memory, Scope(namespaced(SESSIONS, str(user_scope(session_id).user))))


def embedder_behind(scope: UserMemory) -> Any:
    """The memory's own embedder."""
    return scope.memory.ports().embedder


def fields_of(scope: UserMemory) -> Fields:
    return scope.memory.fields


def space_of(scope: UserMemory) -> str:
    """The distance space of the collection."""
    return scope.memory.ports().records.space
