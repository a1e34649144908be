"""The user of a call: from the call, its config, LangGraph's context or the constructor. Without a user, it raises.

A given but empty name (None, "") raises and is never skipped, since the next place might name another user.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig, ensure_config
from langchain_core.runnables.config import var_child_runnable_config

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, Scope, ScopeError, UserMemory
from adaptive_memory_core.arguments import over as check_over
from adaptive_memory_core.arguments import user_scope
from adaptive_memory_core.error_messages import shown

USER_KEY = "user_id"
RUNTIME = "__pregel_runtime"  # LangGraph's key for the run's Runtime


class Unnamed(Enum):
    """The two ways of naming nobody. An Enum, so that copies stay identical."""

    EVERYONE = "everyone"
    NOT_GIVEN = "not given"

    def __repr__(self) -> str:
        return self.name

    __str__ = __repr__


EVERYONE: Literal[Unnamed.EVERYONE] = Unnamed.EVERYONE
"""As `user_id` of a retriever: the records that belong to no user, if a call names no user."""
NOT_GIVEN: Literal[Unnamed.NOT_GIVEN] = Unnamed.NOT_GIVEN

SOMEBODY = "somebody without a name"
Default = str | int | Literal[Unnamed.EVERYONE] | None
Over = Literal["everyone"] | None
AUTO = "auto"  # as `over` of a retriever: "everyone" while no record of the collection names a user


def scope_of(
    memory: AdaptiveMemory | UserMemory,
    config: RunnableConfig | None = None,
    *,
    given: Any = NOT_GIVEN,
    default: Default = None,
    key: str | None = USER_KEY,
    context: Any = None,
    over: Over = None,
) -> UserMemory:
    """The memory to read and write: the named user's, or else the default's. Raises ScopeError without a user.

    `given` is the user of the call itself (EVERYONE is a name here), `default` the user of the constructor (None: every
    call must name a user), `key` the name to look for in config["configurable"] and in LangGraph's context (None: use
    neither). With `over` a user also reads everyone's records.
    A `UserMemory` already belongs to one user; any other name raises ScopeError.
    """
    named: Default = EVERYONE if given is EVERYONE else find_user(config, given=given, key=key, context=context)
    if isinstance(memory, UserMemory):
        same = _the_same(memory, default if named is None else named)
        return same if over is None else same.over(over)
    user = default if named is None else named
    if user is EVERYONE:
        return memory.for_everyone()
    if user is None:
        raise nobody(key)
    return memory.for_user(user, over=over)


def checked_over(over: object, fallback: object = None) -> Over:
    """The others whose records are read in addition to the user's own: "everyone" or None. Raises if there is also a
    fallback."""
    return check_over(Scope(SOMEBODY), over, fallback).over  # type: ignore[return-value] # it is checked there


def with_fallback(memory: AdaptiveMemory | UserMemory, fallback: Any) -> UserMemory:
    """A user's memory with a shared scope to fall back to; the memory of nobody's records needs no fallback.

    Given the whole memory, it only checks that such a scope exists, as for a user with an unused name.
    """
    whole = memory.memory if isinstance(memory, UserMemory) else memory
    if not isinstance(whole, AdaptiveMemory):
        raise InvalidInputError(f"fallback needs an AdaptiveMemory, and this is {type(whole).__name__}.")
    user = memory.user if isinstance(memory, UserMemory) else SOMEBODY
    if user is None or user == fallback:
        return whole.for_everyone() if user is None else whole.for_user(user)
    return whole.for_user(user, fallback=whole.for_everyone() if fallback is EVERYONE else fallback)


def find_user(
    config: RunnableConfig | None = None, *, given: Any = NOT_GIVEN, key: str | None = USER_KEY, context: Any = None
) -> str | int | None:
    """The user named for this call; None if none is.

    The call's own argument has priority, then config["configurable"] of the call, then that of the surrounding run. If
    LangGraph's context names a user as well, it must be the same user: two different users raise ScopeError.

    >>> find_user({"configurable": {"user_id": "ana"}}), find_user({"configurable": {"user_id": "ana"}}, given="ben")
    ('ana', 'ben')
    >>> find_user() is None
    True
    """
    if given is not NOT_GIVEN:
        return user_scope(given).name
    if key is None:
        return None
    settings = list(_settings(config))
    configured = _named_in(settings, key)
    running = _named_in([context, *(getattr(one.get(RUNTIME), "context", None) for one in settings)], key)
    if configured is not None and running is not None and configured != running:
        raise ScopeError(
            f"Two users are named: {shown(configured)} in config['configurable'] and {shown(running)} in LangGraph's "
            f"context. Give {shown(key)} in one place, or the same user in both; user_id= in the call overrides both."
        )
    return running if configured is None else configured


def _named_in(places: Iterable[Any], key: str) -> str | int | None:
    """The user named by the first place that has one. An empty name raises ScopeError."""
    for place in places:
        found = place.get(key, NOT_GIVEN) if isinstance(place, Mapping) else getattr(place, key, NOT_GIVEN)
        if found is not NOT_GIVEN:
            return user_scope(found).name
    return None


def checked_default(user: object) -> Default:
    """The constructor's `user_id`: a name, EVERYONE, or None."""
    return user if user is None or user is EVERYONE else user_scope(user).name


def checked_memory(memory: object) -> AdaptiveMemory | UserMemory:
    """A memory or one user's part of it."""
    if isinstance(memory, AdaptiveMemory | UserMemory):
        return memory
    raise InvalidInputError(
        f"memory is {type(memory).__name__}. Give an AdaptiveMemory, e.g. AdaptiveMemory.open('./memory'), or one "
        "user's part of it: memory.for_user('alice')."
    )


def nobody(key: str | None) -> ScopeError:
    """The error if a user is required and none is named."""
    ways = "user_id= in the call or in the constructor"
    if key is not None:
        ways += (
            f', config={{"configurable": {{"{key}": ...}}}}, or a field {key!r} of the LangGraph context. Some '
            "wrappers (MultiQueryRetriever, ContextualCompressionRetriever) keep a call's config to themselves: call "
            "them inside a chain, or give them retriever.model_copy(update={'user_id': ...})"
        )
    return ScopeError(f"No user was named, and this memory may have many. Give {ways}. For nobody's records: EVERYONE.")


def _settings(config: RunnableConfig | None) -> Iterator[Mapping[str, Any]]:
    """The "configurable" settings of the call, then of the surrounding run; the call's own come first."""
    yield ensure_config(config).get("configurable", {})
    around = var_child_runnable_config.get()
    if around is not None:
        yield around.get("configurable", {})


def _the_same(memory: UserMemory, user: Default) -> UserMemory:
    if user is None or user == memory.user or (user is EVERYONE and memory.user is None):
        return memory
    hint = " If the surrounding user does not matter here, give user_key=None." if memory.user is None else ""
    raise ScopeError(
        f"This is the memory of {memory.scope}, but {shown(user)} was named. Give the AdaptiveMemory itself to serve "
        f"more than one user.{hint}"
    )
