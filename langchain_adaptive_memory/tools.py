"""How does an agent remember and recall? Two tools; the model sees the words to look for or to keep, never the user."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any, Literal

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import StructuredTool, ToolException
from pydantic import BaseModel, Field

from adaptive_memory_core import (
    AdaptiveMemory,
    AdaptiveMemoryError,
    FilterError,
    InvalidInputError,
    Policy,
    PolicyError,
    Recall,
    ScopeError,
    UserMemory,
)
from adaptive_memory_core.context.render import render
from langchain_adaptive_memory.call import checked
from langchain_adaptive_memory.convert import documents_of
from langchain_adaptive_memory.turns import current_turn, watch_runs
from langchain_adaptive_memory.user import USER_KEY, Default, checked_default, checked_memory, scope_of

OnError = Literal["warn", "raise"]
RECALL = "Look up what is remembered about the user. Use it when the answer may depend on what they said or did before."
REMEMBER = "Remember something about the user for later conversations: one fact, in words that stand on their own."
NOTHING = "Nothing that is remembered matches."
OUT_OF_ORDER = "The memory cannot be used at the moment. Go on without it."
SET_UP_WRONGLY = (ScopeError, FilterError, PolicyError)  # the program's mistake, which no model can mend


class RecallInput(BaseModel):
    """What the model says to recall."""

    query: str = Field(description="what to look for, in a few words")


class RememberInput(BaseModel):
    """What the model says to remember."""

    text: str = Field(description="the fact, in words that can be understood without this conversation")
    importance: float = Field(default=0.5, description="from 0, trivial, to 1, vital")
    replaces: str | None = Field(
        default=None, description="the id of a memory that is no longer true, if this corrects it"
    )


def create_recall_tool(
    memory: AdaptiveMemory | UserMemory,
    *,
    name: str = "recall_memory",
    description: str = RECALL,
    k: int = 4,
    filter: Mapping[str, Any] | None = None,  # noqa: A002 - LangChain's name
    policy: Policy | None = None,
    user_id: Default = None,
    user_key: str | None = USER_KEY,
    max_tokens: int | None = None,
    show_ids: bool = False,
    response_format: Literal["content", "content_and_artifact"] = "content",
    on_error: OnError = "warn",
) -> StructuredTool:
    """A tool that recalls, as evidence and not as instructions, what the memory of the run's user holds.

    The user is found as the retriever finds it: config["configurable"], LangGraph's context, `user_id`. All recalls
    of one run of the agent are one read. `show_ids` lets the model say which memory a new one replaces; an artifact
    is the list of documents. A memory that fails costs the answer, with a warning, unless `on_error="raise"`.
    """
    find = _finder(memory, user_id, user_key, on_error)
    fixed = {"k": checked("k", k), "filter": checked("filter", filter), "policy": checked("policy", policy)}

    def answer(recall: Recall, scope: UserMemory) -> Any:
        content = render(recall, max_tokens=max_tokens, ids=show_ids) or NOTHING
        return (content, documents_of(recall, scope.memory.fields)) if with_artifact else content

    def recall(query: str, config: RunnableConfig) -> Any:
        scope = find(config)
        try:
            return answer(scope.recall(query, turn=current_turn(config), **fixed), scope)
        except AdaptiveMemoryError as error:
            return failed(error)

    async def arecall(query: str, config: RunnableConfig) -> Any:
        scope = find(config)
        try:
            return answer(await scope.arecall(query, turn=current_turn(config), **fixed), scope)
        except AdaptiveMemoryError as error:
            return failed(error)

    def failed(error: AdaptiveMemoryError) -> Any:
        said = _excused(error, on_error)
        return (said, []) if with_artifact else said

    with_artifact = response_format == "content_and_artifact"
    return _tool(recall, arecall, name, description, RecallInput, response_format)


def create_remember_tool(
    memory: AdaptiveMemory | UserMemory,
    *,
    name: str = "remember",
    description: str = REMEMBER,
    kind: str = "fact",
    metadata: Mapping[str, Any] | None = None,
    user_id: Default = None,
    user_key: str | None = USER_KEY,
    on_error: OnError = "warn",
) -> StructuredTool:
    """A tool that keeps a fact in the memory of the run's user, found as `create_recall_tool` finds it.

    `kind` and `metadata` are those of each record that it writes.
    """
    find = _finder(memory, user_id, user_key, on_error)

    def remember(text: str, config: RunnableConfig, importance: float = 0.5, replaces: str | None = None) -> str:
        scope = find(config)
        try:
            return _kept(scope.remember(text, None, importance, kind, supersedes=replaces or None, metadata=metadata))
        except AdaptiveMemoryError as error:
            return _excused(error, on_error)

    async def aremember(text: str, config: RunnableConfig, importance: float = 0.5, replaces: str | None = None) -> str:
        scope = find(config)
        try:
            return _kept(
                await scope.aremember(text, None, importance, kind, supersedes=replaces or None, metadata=metadata)
            )
        except AdaptiveMemoryError as error:
            return _excused(error, on_error)

    return _tool(remember, aremember, name, description, RememberInput, "content")


def _finder(
    memory: AdaptiveMemory | UserMemory, user_id: Default, user_key: str | None, on_error: OnError
) -> Callable[[RunnableConfig], UserMemory]:
    """Whose memory a run means; a user who is required and missing is an error, which no setting excuses."""
    if on_error not in ("warn", "raise"):
        raise InvalidInputError(f"on_error is {on_error!r}. It must be 'warn' or 'raise'.")
    whole, default = checked_memory(memory), checked_default(user_id)
    if isinstance(whole, UserMemory):
        scope_of(whole, default=default, key=None)
    return lambda config: scope_of(whole, config, default=default, key=user_key)


def _tool(
    function: Callable[..., Any],
    coroutine: Callable[..., Any],
    name: str,
    description: str,
    schema: type[BaseModel],
    response_format: Literal["content", "content_and_artifact"],
) -> StructuredTool:
    watch_runs()
    return StructuredTool.from_function(
        function,
        coroutine=coroutine,
        name=name,
        description=description,
        args_schema=schema,
        response_format=response_format,
        handle_tool_error=True,
    )


def _kept(record_id: str) -> str:
    return f"Remembered, as {record_id}."


def _excused(error: AdaptiveMemoryError, on_error: OnError) -> str:
    """What the model is told: of its own mistake what is wrong, of ours to go on without."""
    if on_error == "raise" or isinstance(error, SET_UP_WRONGLY):
        raise error
    if isinstance(error, InvalidInputError | LookupError):
        raise ToolException(str(error)) from error
    warnings.warn(f"A tool's memory failed, and the agent went on without: {error}", RuntimeWarning, stacklevel=3)
    return OUT_OF_ORDER
