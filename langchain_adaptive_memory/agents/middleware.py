"""The middleware that gives an agent a memory: recalled once per question, shown as evidence, saved and judged
afterwards."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from langchain.agents.middleware.types import AgentMiddleware, ModelCallResult, ModelRequest, ModelResponse
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from adaptive_memory_core import AdaptiveMemory, InvalidInputError, Policy, UserMemory
from adaptive_memory_core import arguments as check
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.model_tools import OnError
from adaptive_memory_core.models.judges import as_judge
from langchain_adaptive_memory.agents.evidence import least_tokens
from langchain_adaptive_memory.agents.saving import Place, Save, checked_save, used_for
from langchain_adaptive_memory.agents.steps import CHANNEL, MemoryState, RecalledTurn, Steps, turn_in
from langchain_adaptive_memory.call import checked_policy
from langchain_adaptive_memory.source import in_threads
from langchain_adaptive_memory.turns import watch_runs
from langchain_adaptive_memory.user import (
    NOT_GIVEN,
    USER_KEY,
    Default,
    Over,
    checked_default,
    checked_memory,
    checked_over,
)

T = TypeVar("T")
NO_CONFIG: RunnableConfig = {}  # LangGraph gives the run's config to parameters of this type


class AdaptiveMemoryMiddleware(AgentMiddleware[MemoryState, Any]):
    """Gives an agent of `create_agent` its user's memory: recalled once per question, before the model is called.

    Setup:
        `pip install "adaptive-memory-retrieval[langchain]"`

    Key init args:
        memory: AdaptiveMemory | UserMemory
            The memory, or one user's part of it. It is never closed here.
        user_id: str | None
            The user if a call names nobody. Without it every call must name a user, in `context` or in
            `config["configurable"]`, under `user_key`; a call without a user raises, whatever `on_error` is.
        over: "everyone" | None
            Whether each user is also shown the records that belong to nobody, such as a team's documents. The state
            learned about them is that user's alone.
        k, filter, policy:
            As in `recall`. `max_tokens` limits the memories shown to the model. A policy with a shape also shows their
            context: their topics, the turns next to them, and facts.
        save: "user" | "turn" | callable | None
            The texts stored after a turn: the user's messages, or these and the answer, unless they are greetings or
            very long pasted texts; or the result of a function of both: a text, several, or None. None: nothing.
        judge: chat model | judges.Judge | None
            It judges which memories support each answer, instead of citations; whether GAM-RAG needs another round;
            and when a text is true. None is the memory's own.
        cite: bool
            Ask the model to cite memories as [m1], and count each one that its answer cites as helpful.
        place: "user" | "system"
            Where the memories are shown: before the question in the user's message, or after the system message.
        on_error: "warn" | "raise"
            The result of a failing memory: a RuntimeWarning and no memories, or the error.

    The memories are added to each model call of the turn and never to the state, so they do not pile up in the history.
    One recall serves all model calls of a turn, even those after an interrupt, and counts once even if the turn is
    replayed. It happens before the first model call, so a middleware that redacts the user's words must come before
    this middleware in the list; otherwise the log of recalls contains the original words.
    """

    state_schema = MemoryState

    def __init__(
        self,
        memory: AdaptiveMemory | UserMemory,
        *,
        user_id: Default = None,
        user_key: str | None = USER_KEY,
        over: Over = None,
        k: int = 5,
        filter: Mapping[str, Any] | None = None,  # noqa: A002 - the usual name
        policy: Policy | None = None,
        max_tokens: int | None = 1_000,
        save: Save | None = None,
        cite: bool = True,
        judge: Any = None,
        place: Place = "user",
        on_error: OnError = "warn",
        name: str = "AdaptiveMemoryMiddleware",
    ) -> None:
        super().__init__()
        self._steps = Steps(
            memory=checked_memory(memory),
            user_id=checked_default(user_id),
            user_key=user_key,
            over=checked_over(over),
            asked={"k": check.count(k, "k"), "filter": check.where(filter), "policy": checked_policy(policy)},
            judge=as_judge(judge),
            max_tokens=_budget(max_tokens, cite=cite),
            save=checked_save(save),
            cite=bool(cite),
            place=_one_of(place, ("user", "system"), "place"),
            on_error=_one_of(on_error, ("warn", "raise"), "on_error"),
        )
        self._name = name
        watch_runs()

    @property
    def name(self) -> str:
        """The name, which must be unique among the middlewares of an agent."""
        return self._name

    def before_model(
        self, state: MemoryState, runtime: Runtime[Any], config: RunnableConfig = NO_CONFIG
    ) -> dict[str, Any] | None:
        """Recall memories for the question, when the model is first called about it."""
        return self._changed(state, self._recalled(state, runtime, config))

    async def abefore_model(
        self, state: MemoryState, runtime: Runtime[Any], config: RunnableConfig = NO_CONFIG
    ) -> dict[str, Any] | None:
        """`before_model`, async."""
        return self._changed(state, await in_threads(self._steps.memory, self._recalled, state, runtime, config))

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelCallResult[Any]:
        """Show the recalled memories to the model."""
        return handler(self._steps.shown(request, turn_in(request.state, self.name)))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> ModelCallResult[Any]:
        """`wrap_model_call`, async."""
        return await handler(
            await in_threads(self._steps.memory, self._steps.shown, request, turn_in(request.state, self.name))
        )

    def after_agent(
        self, state: MemoryState, runtime: Runtime[Any], config: RunnableConfig = NO_CONFIG
    ) -> dict[str, Any] | None:
        """Judge the memories that the answer cites or is based on, save the turn, and discard the recall."""
        self._settled(state, runtime, config)
        return self._kept(None)

    async def aafter_agent(
        self, state: MemoryState, runtime: Runtime[Any], config: RunnableConfig = NO_CONFIG
    ) -> dict[str, Any] | None:
        """`after_agent`, async."""
        await in_threads(self._steps.memory, self._settled, state, runtime, config)
        return self._kept(None)

    def feedback(
        self,
        helpful: Any = (),
        unhelpful: Any = (),
        config: RunnableConfig | None = None,
        user_id: Any = NOT_GIVEN,
        turn: str | None = None,
        *,
        answer: str | None = None,
    ) -> int:
        """Record which memories were useful, now or later; return the number of new verdicts.

        Each item may be the agent's output, with the config of its thread, which means everything recalled for its last
        question; or anything that a retriever's `feedback` takes. With the text of the `answer`, the judge decides
        which memories support it.
        """
        return self._judged(helpful, unhelpful, config, user_id, turn, answer)

    async def afeedback(
        self,
        helpful: Any = (),
        unhelpful: Any = (),
        config: RunnableConfig | None = None,
        user_id: Any = NOT_GIVEN,
        turn: str | None = None,
        *,
        answer: str | None = None,
    ) -> int:
        """`feedback`, async."""
        return await in_threads(self._steps.memory, self._judged, helpful, unhelpful, config, user_id, turn, answer)

    def _judged(
        self,
        helpful: Any,
        unhelpful: Any,
        config: RunnableConfig | None,
        user_id: Any,
        turn: str | None,
        answer: str | None,
    ) -> int:
        scope, judge = self._steps.scope(config, None, user_id), self._steps.judge
        good, bad = used_for(helpful, config), used_for(unhelpful, config)
        return scope.feedback_on_answer(good, bad, turn, answer=answer, judge=judge)

    def _recalled(self, state: MemoryState, runtime: Runtime[Any], config: RunnableConfig) -> RecalledTurn | None:
        scope = self._steps.scope(config, getattr(runtime, "context", None))
        return self._steps.recall(scope, state["messages"], turn_in(state, self.name), config)

    def _settled(self, state: MemoryState, runtime: Runtime[Any], config: RunnableConfig) -> None:
        scope = self._steps.scope(config, getattr(runtime, "context", None))
        return self._steps.settle(scope, state, turn_in(state, self.name), config)

    def _changed(self, state: MemoryState, turn: RecalledTurn | None) -> dict[str, Any] | None:
        """The update of the state; None if the turn continues unchanged."""
        return None if turn is turn_in(state, self.name) else self._kept(turn)

    def _kept(self, turn: RecalledTurn | None) -> dict[str, Any]:
        return {CHANNEL: {self.name: turn}}


def _budget(max_tokens: int | None, *, cite: bool) -> int | None:
    """The token limit, checked to have room for the fixed words and for some of a memory."""
    if max_tokens is None:
        return None
    least, given = least_tokens(cite=cite), check.count(max_tokens, "max_tokens", most=1_000_000)
    if given < least:
        raise InvalidInputError(
            f"max_tokens is {given}. The words around the memories take nearly {least}: give at least that, or None."
        )
    return given


def _one_of(value: T, allowed: Sequence[Any], what: str) -> T:
    """The value. Raises InvalidInputError if it is not allowed."""
    if value in allowed:
        return value
    raise InvalidInputError(f"{what} is {shown(value)}. Give {' or '.join(map(repr, allowed))}.")
