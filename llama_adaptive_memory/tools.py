"""Three tools for an agent to remember, recall and forget; the model sees words and ids, never the user."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.tools import FunctionTool
from llama_index.core.vector_stores.types import MetadataFilters

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, Policy, ScopeError, UserMemory
from adaptive_memory_core.arguments import count
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.model_tools import FORGET, RECALL, REMEMBER, ForgetInput, OnError, RecallInput, RememberInput
from llama_adaptive_memory.convert import where_of
from llama_adaptive_memory.opening import MemoryAccess
from llama_adaptive_memory.recall_mark import Find, Forgetting, Recalling, Remembering
from llama_adaptive_memory.settings import Over, checked_policy, scope_of
from llama_adaptive_memory.turns import watch

Memory = AdaptiveMemory | UserMemory | MemoryAccess
User = str | int | Callable[[], str | int | None] | None


def create_recall_tool(
    memory: Memory,
    *,
    name: str = "recall_memory",
    description: str = RECALL,
    k: int = 4,
    filters: MetadataFilters | None = None,
    policy: Policy | None = None,
    user_id: User = None,
    over: Over = None,
    max_tokens: int | None = None,
    show_ids: bool = False,
    on_error: OnError = "warn",
) -> FunctionTool:
    """A tool that recalls memories, as evidence and not as instructions.

    `memory` is an AdaptiveMemory, one user's memory, or one of our retrievers; `user_id` is a name, or a function that
    returns the user of the call. All recalls of one run of the agent count as one read. With `show_ids` the model can
    name the memory to replace or forget. `over="everyone"` also finds the records that belong to nobody. `feedback`
    takes the agent's output. If the memory fails, the tool returns no memories, with a warning, unless
    `on_error="raise"`.
    """
    asked = {"k": count(k, "k"), "filter": where_of(filters), "policy": checked_policy(policy)}
    tool = Recalling(_finder(memory, user_id, on_error, over), asked, max_tokens, show_ids, on_error)
    return _tool(tool.recall, tool.arecall, name, description, RecallInput)


def create_remember_tool(
    memory: Memory,
    *,
    name: str = "remember",
    description: str = REMEMBER,
    kind: str = "fact",
    metadata: Mapping[str, Any] | None = None,
    user_id: User = None,
    on_error: OnError = "warn",
) -> FunctionTool:
    """A tool that stores a fact in a memory; each record gets this `kind` and `metadata`."""
    tool = Remembering(_finder(memory, user_id, on_error), kind, metadata, on_error)
    return _tool(tool.remember, tool.aremember, name, description, RememberInput)


def create_forget_tool(
    memory: Memory,
    *,
    name: str = "forget_memory",
    description: str = FORGET,
    user_id: User = None,
    on_error: OnError = "warn",
) -> FunctionTool:
    """A tool that removes a memory with every trace, by its id: recall with `show_ids=True`."""
    tool = Forgetting(_finder(memory, user_id, on_error), on_error)
    return _tool(tool.forget, tool.aforget, name, description, ForgetInput)


def _finder(memory: Memory, user_id: User, on_error: OnError, over: Over = None) -> Find:
    """A function that returns the memory of a call's user."""
    if on_error not in ("warn", "raise"):
        raise InvalidInputError(f"on_error is {shown(on_error)}. It must be 'warn' or 'raise'.")
    if not isinstance(memory, AdaptiveMemory | UserMemory | MemoryAccess):
        raise InvalidInputError(
            f"memory is a {type(memory).__name__}. Give an AdaptiveMemory, one user's, e.g. memory.for_user('alice'), "
            "or a retriever of ours."
        )

    def find() -> UserMemory:
        held = memory.memory if isinstance(memory, MemoryAccess) else memory
        user = user_id() if callable(user_id) else user_id
        if user is None and isinstance(memory, AdaptiveMemory):
            raise ScopeError(
                "No user was named, and this memory may have many. Give user_id= (a name, or a function that names the "
                "user of the call), one user's memory, or memory.for_everyone() for records that are nobody's."
            )
        return scope_of(held, user, over=over)

    if not callable(user_id):
        find()  # what is wrong is said here, not to a model
    return find


def _tool(
    function: Callable[..., Any], coroutine: Callable[..., Any], name: str, description: str, schema: type[BaseModel]
) -> FunctionTool:
    watch()
    return FunctionTool.from_defaults(
        function, async_fn=coroutine, name=name, description=description, fn_schema=schema
    )
