"""How does an agent get a memory? Recalled once for each question, shown as evidence, saved and judged afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from langchain.agents.middleware.types import AgentMiddleware, ModelCallResult, ModelRequest, ModelResponse
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, Policy, UserMemory
from adaptive_memory_core import arguments as check
from langchain_adaptive_memory.agents.evidence import least_tokens
from langchain_adaptive_memory.agents.state import CHANNEL, MemoryState, one_of, turn_in
from langchain_adaptive_memory.agents.steps import OnError, Save, Steps
from langchain_adaptive_memory.call import checked_policy
from langchain_adaptive_memory.turns import watch_runs
from langchain_adaptive_memory.user import USER_KEY, Default, checked_default, checked_memory

NO_CONFIG: RunnableConfig = {}  # LangGraph gives the run's config to parameters of this type


class AdaptiveMemoryMiddleware(AgentMiddleware[MemoryState, Any]):
    """Memory for an agent of `create_agent`: what matters to the question is recalled before the model is called.

    Setup:
        `pip install "adaptive-memory-retrieval[langchain]"`

    Key init args:
        memory: AdaptiveMemory | UserMemory
            The memory, or one user's part of it. It is never closed here.
        user_id: str | None
            Whose memory, where a call names nobody. Without it every call must name one, in
            `context` or in `config["configurable"]`, under `user_key`; nobody is an error, whatever `on_error` says.
        k, filter, policy:
            As in `recall`. `max_tokens` bounds what the model is shown.
        save: "user" | "turn" | None
            What is remembered after a turn: the user's message, or that and the answer. None: nothing.
        cite: bool
            Ask the model to cite memories as [m1], and count each one that its answer cites as helpful.
        on_error: "warn" | "raise"
            What a failing memory does to the turn: a RuntimeWarning and no memories, or the error.

    The memories are added to the system message of each model call of the turn and never to the messages or the state,
    so they do not pile up in the history. One recall serves all model calls of a turn, also those after an interrupt.
    """

    state_schema = MemoryState

    def __init__(
        self,
        memory: AdaptiveMemory | UserMemory,
        *,
        user_id: Default = None,
        user_key: str | None = USER_KEY,
        k: int = 5,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - the name it has everywhere
        policy: Policy | None = None,
        max_tokens: int | None = 1_000,
        save: Save | None = None,
        cite: bool = True,
        on_error: OnError = "warn",
        name: str = "AdaptiveMemoryMiddleware",
    ) -> None:
        super().__init__()
        self._steps = Steps(
            memory=checked_memory(memory),
            user_id=checked_default(user_id),
            user_key=user_key,
            asked={"k": check.count(k, "k"), "filter": check.where(filter), "policy": checked_policy(policy)},
            max_tokens=_budget(max_tokens, cite=cite),
            save=one_of(save, (None, "user", "turn"), "save"),
            cite=bool(cite),
            on_error=one_of(on_error, ("warn", "raise"), "on_error"),
        )
        self._name = name
        watch_runs()

    @property
    def name(self) -> str:
        """Two of them in one agent need two names."""
        return self._name

    def before_agent(
        self, state: MemoryState, runtime: Runtime[Any], config: RunnableConfig = NO_CONFIG
    ) -> dict[str, Any] | None:
        """Recall what matters to the question."""
        scope = self._steps.scope(config, getattr(runtime, "context", None))
        return {CHANNEL: {self.name: self._steps.recall(scope, state["messages"], config)}}

    async def abefore_agent(
        self, state: MemoryState, runtime: Runtime[Any], config: RunnableConfig = NO_CONFIG
    ) -> dict[str, Any] | None:
        """`before_agent`, off the event loop."""
        return await asyncio.to_thread(self.before_agent, state, runtime, config)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelCallResult[Any]:
        """Show the model what was recalled."""
        return handler(self._shown(request))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelCallResult[Any]:
        """`wrap_model_call`, with its look into the memory off the event loop."""
        return await handler(await asyncio.to_thread(self._shown, request))

    def after_agent(
        self, state: MemoryState, runtime: Runtime[Any], config: RunnableConfig = NO_CONFIG
    ) -> dict[str, Any] | None:
        """Judge the memories that the answer cites, save the turn, and let go of what was recalled."""
        scope = self._steps.scope(config, getattr(runtime, "context", None))
        self._steps.settle(scope, state["messages"], turn_in(state, self.name))
        return {CHANNEL: {self.name: None}}

    async def aafter_agent(
        self, state: MemoryState, runtime: Runtime[Any], config: RunnableConfig = NO_CONFIG
    ) -> dict[str, Any] | None:
        """`after_agent`, off the event loop."""
        return await asyncio.to_thread(self.after_agent, state, runtime, config)

    def _shown(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        return self._steps.shown(request, turn_in(request.state, self.name))


def _budget(max_tokens: int | None, *, cite: bool) -> int | None:
    """Room for the words around the memories, and for some of theirs."""
    if max_tokens is None:
        return None
    least, given = least_tokens(cite=cite), check.count(max_tokens, "max_tokens", most=1_000_000)
    if given < least:
        raise InvalidInputError(
            f"max_tokens is {given}. The words around the memories take nearly {least}: give at least that, or None."
        )
    return given
