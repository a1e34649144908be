"""Whose records are read, and what do we need to know of the memory around them?"""

from __future__ import annotations

from typing import Any

from adaptive_memory_core import AdaptiveMemory, Fields, Policy, ScopeError, UserMemory


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


def embedder_behind(scope: UserMemory) -> Any:
    """How the memory itself makes vectors."""
    return scope._memory.ports().embedder


def fields_of(scope: UserMemory) -> Fields:
    return scope._memory.fields


def policy_of(scope: UserMemory) -> Policy:
    return scope._memory.policy


def space_of(scope: UserMemory) -> str:
    """How the collection measures distance."""
    return scope._memory.ports().records.space
