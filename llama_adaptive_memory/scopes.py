"""Whose records are read, and what do we need to know of the memory around them?"""

from __future__ import annotations

from typing import Any

from adaptive_memory_core import AdaptiveMemory, Fields, Policy, Scope, ScopeError, UserMemory
from adaptive_memory_core.arguments import user_scope
from adaptive_memory_core.identity import namespaced

SESSIONS = "llama_index session"


def scope_of(memory: AdaptiveMemory | UserMemory, user_id: str | None) -> UserMemory:
    """One user's memory; without a user that of the records which belong to nobody."""
    if isinstance(memory, AdaptiveMemory):
        return memory.for_everyone() if user_id is None else memory.for_user(user_id)
    if user_id is not None and user_id != memory.user:
        raise ScopeError(
            f"user_id is {user_id!r}, but the memory given is that of {memory.scope}. Give an AdaptiveMemory to "
            "reach other users, or leave user_id out."
        )
    return memory


def session_memory(memory: AdaptiveMemory | UserMemory, session_id: str | None) -> UserMemory:
    """The memory of a chat session that is nobody's; a user who is called as the session is has another one."""
    if isinstance(memory, UserMemory):
        return memory
    if session_id is None:
        raise ScopeError(
            "The block was asked without a session, and it has no user_id. Use it in Memory.from_defaults("
            "session_id=..., memory_blocks=[block]), or give it user_id='alice'."
        )
    return UserMemory(memory, Scope(namespaced(SESSIONS, str(user_scope(session_id).user))))


def embedder_behind(scope: UserMemory) -> Any:
    """How the memory itself makes vectors."""
    return scope._memory.ports().embedder


def fields_of(scope: UserMemory) -> Fields:
    return scope._memory.fields


def policy_of(scope: UserMemory) -> Policy:
    return scope._memory.policy


def space_of(scope: UserMemory) -> str:
    """How the collection measures distance."""
    store: Any = scope._memory.ports().store
    return str(store.space)
