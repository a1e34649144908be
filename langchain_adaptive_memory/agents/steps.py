"""The steps of the middleware, and the state of an agent."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from langchain.agents.middleware.types import AgentState, ModelRequest, PrivateStateAttr
from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from typing_extensions import NotRequired, TypedDict

from adaptive_memory_core import AdaptiveMemory, NotFoundError, ScopeError, UserMemory, error_messages
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.flow.feedback_on_answer import Used
from adaptive_memory_core.model_tools import OnError
from langchain_adaptive_memory.agents.conversation import (
    key_of,
    last_answer,
    latest_of_user,
    newly_asked,
    question_turn,
    thread_of,
    words,
)
from langchain_adaptive_memory.agents.evidence import Belonging, belonging, cited, evidence, looked_up, marked
from langchain_adaptive_memory.agents.saving import Place, Save, after_system, before_question, in_sight, to_save
from langchain_adaptive_memory.tools import SET_UP_WRONGLY
from langchain_adaptive_memory.turns import current_turn, name_turn
from langchain_adaptive_memory.used import with_reason
from langchain_adaptive_memory.user import EVERYONE, NOT_GIVEN, Default, Over, find_user, scope_of

if TYPE_CHECKING:
    from adaptive_memory_core.models.judges import Judge

CHANNEL = "adaptive_memory_turns"


class RecalledTurn(TypedDict):
    """The recall for one question: its records with their marks.

    It contains no texts: states are streamed to clients and stored in checkpoints, where texts cannot be forgotten.
    `asked` are the user's own words, by message, since they may have been summed up when the turn ends. `around` is the
    context to show around the records, if the policy gives recalls a shape.
    """

    user: str | int | None
    turn: str
    question: str
    recall: str
    cue: str
    marks: dict[str, str]
    asked: list[tuple[str | None, str]]
    around: NotRequired[Belonging | None]


Turns = dict[str, RecalledTurn | None]  # by the name of the middleware


def merged(before: Turns | None, after: Turns) -> Turns:
    """Merge the turns of several middlewares.

    >>> merged(None, {"a": None}) | merged({"a": None}, {"b": None})
    {'a': None, 'b': None}
    """
    return {**(before or {}), **after}


class MemoryState(AgentState[Any]):
    """The agent's state, with a channel that is neither input nor output."""

    adaptive_memory_turns: NotRequired[Annotated[Turns, PrivateStateAttr, merged]]


def turn_in(state: Mapping[str, Any], name: str) -> RecalledTurn | None:
    """The current turn of this middleware.

    >>> turn_in({"messages": []}, "memory") is None
    True
    """
    turns: Turns = state.get(CHANNEL) or {}
    return turns.get(name)


T = TypeVar("T")
logger = logging.getLogger("langchain_adaptive_memory.middleware")


@dataclass(frozen=True)
class Steps:
    """The steps of a turn, for any user; no state of a turn is stored here."""

    memory: AdaptiveMemory | UserMemory
    user_id: Default
    user_key: str | None
    over: Over
    asked: Mapping[str, Any]  # arguments of every recall
    judge: Judge | None
    max_tokens: int | None
    save: Save | None
    cite: bool
    place: Place
    on_error: OnError

    def scope(self, config: RunnableConfig | None, context: Any, given: Any = NOT_GIVEN) -> UserMemory:
        """The memory of the turn's user. A missing user raises, whatever `on_error` is."""
        whose: dict[str, Any] = {"given": given, "default": self.user_id, "key": self.user_key}
        return scope_of(self.memory, config, **whose, context=context, over=self.over)

    def recall(
        self, scope: UserMemory, messages: Sequence[AnyMessage], turn: RecalledTurn | None, config: RunnableConfig
    ) -> RecalledTurn | None:
        """The memories for the question, recalled when it is first seen; None if nothing was asked in words."""
        question = latest_of_user(messages)
        same = turn is not None and (question is None or turn["question"] == key_of(question))
        if turn is not None and same:  # without a question: it has been summed up since
            name_turn(config, turn["turn"])
            return turn
        if question is None or not words(question):
            return None
        thread = thread_of(config)
        begun = _begun(scope, question, messages, turn, thread, config)
        name_turn(config, begun["turn"])
        recalling = partial(self._recalled, scope, begun, in_sight(messages, thread))
        recalled = self._excused("Nothing was recalled", recalling)
        return begun if recalled is None else recalled

    def _recalled(self, scope: UserMemory, begun: RecalledTurn, seen: Sequence[str]) -> RecalledTurn:
        recall = scope.recall(begun["cue"], turn=begun["turn"], in_context=seen, judge=self.judge, **self.asked)
        with_reason(scope, recall, self.asked["filter"])
        marks = marked(recall, max_tokens=self.max_tokens, cite=self.cite)
        return {**begun, "recall": recall.id, "marks": marks, "around": belonging(recall)}

    def shown(self, request: ModelRequest[Any], turn: RecalledTurn | None) -> ModelRequest[Any]:
        """The request with the evidence from the current memory, without memories forgotten in the meantime."""
        if turn is None or not (turn["marks"] or turn.get("around")):
            return request
        scope = self._scope_again(turn, getattr(request.runtime, "context", None))
        block = self._excused("Nothing was shown", partial(self._evidence, scope, turn))
        if not block:
            return request
        if self.place == "system":
            return request.override(system_message=after_system(request.system_message, block))
        return request.override(messages=before_question(request.messages, block, turn["question"]))

    def _evidence(self, scope: UserMemory, turn: RecalledTurn) -> str:
        """The recalled memories as a block, from the current memory."""
        ids = list(dict.fromkeys(turn["marks"].values()))
        hits, around = looked_up(scope, turn["cue"], ids, turn.get("around"))
        return evidence(turn["marks"], hits, cite=self.cite, max_tokens=self.max_tokens, around=around)

    def settle(
        self, scope: UserMemory, state: Mapping[str, Any], turn: RecalledTurn | None, config: RunnableConfig | None
    ) -> None:
        """Judge the memories that the answer cites, and save the turn."""
        answer = last_answer(state["messages"], state.get("structured_response"))
        self._excused("No verdict was given", partial(self._judge, scope, answer, turn))
        saving = partial(self._remember, scope, state["messages"], answer, turn, thread_of(config))
        self._excused("The turn was not saved", saving)

    def _scope_again(self, turn: RecalledTurn, context: Any) -> UserMemory:
        """The memory of the turn's user. A turn can only be continued by the user who began it."""
        now = find_user(key=self.user_key, context=context)
        if now is not None and now != turn["user"]:
            raise ScopeError(
                f"This turn was begun by user {shown(turn['user'])} and is continued by {shown(now)}, who must not "
                "see the other's memories. Resume it as the user who began it."
            )
        began = EVERYONE if turn["user"] is None else turn["user"]
        return scope_of(self.memory, default=began, key=self.user_key, context=context, over=self.over)

    def _judge(self, scope: UserMemory, answer: str, turn: RecalledTurn | None) -> None:
        """Give feedback on the memories shown: by the judge or, without one, helpful for each cited memory. A memory
        that is not cited gets no feedback, since the model may have used it anyway."""
        if turn is None or not answer.strip():
            return
        judge = scope.memory.opened.judge if self.judge is None else self.judge
        is_judged = judge is not None and judge.supports is not None
        helpful = turn["marks"].values() if is_judged else cited(answer, turn["marks"]) if self.cite else ()
        if used := [Used(one, turn["recall"]) for one in dict.fromkeys(helpful)]:
            with suppress(NotFoundError):  # nothing to judge: forgotten in the meantime, or the log is off
                scope.feedback_on_answer(used, answer=answer if is_judged else None, judge=judge)

    def _remember(
        self,
        scope: UserMemory,
        messages: Sequence[AnyMessage],
        answer: str,
        turn: RecalledTurn | None,
        thread: str | None,
    ) -> None:
        """Save the turn once, even if this step is repeated."""
        if self.save is None:
            return
        said = _said(messages, turn)
        known = {"session": thread, "role": "user" if self.save == "user" else None}
        saved = to_save(self.save, said, answer, messages, thread)
        scope.observe([{"id": name, "text": text, **known} for name, text in saved.items()])

    def _excused(self, what: str, step: Callable[[], T]) -> T | None:
        """The result of the step; None with a warning if the memory failed, unless `on_error` is "raise"."""
        try:
            return step()
        except SET_UP_WRONGLY:  # the program's mistake
            raise
        except Exception as error:
            if self.on_error == "raise":
                raise
            without = f"{what}, and the agent's turn goes on without"
            error_messages.log_warning(logger, without, error)
            warnings.warn(f"{without}: {type(error).__name__}: {error}", RuntimeWarning, stacklevel=3)
            return None


def _begun(
    scope: UserMemory,
    question: HumanMessage,
    messages: Sequence[BaseMessage],
    before: RecalledTurn | None,
    thread: str | None,
    config: RunnableConfig,
) -> RecalledTurn:
    """A turn that has just begun, including the same user's earlier questions without an answer."""
    user = scope.user
    name = question_turn(question, thread) if question.id is not None else current_turn(config)
    left = before["asked"] if before is not None and before["user"] == user else []
    asked = dict([*((one, text) for one, text in left), *((one.id, words(one)) for one in newly_asked(messages))])
    return RecalledTurn(
        user=user,
        turn=name or question_turn(question, thread),
        question=key_of(question),
        recall="",
        cue=words(question),
        marks={},
        asked=list(asked.items()),
    )


def _said(messages: Sequence[BaseMessage], turn: RecalledTurn | None) -> dict[str | None, str]:
    """The user's words in this turn: the current text, or the text before it was summed up."""
    if turn is None:
        return {one.id: words(one) for one in newly_asked(messages)}
    now = {one.id: words(one) for one in messages if one.id is not None}
    return {one: (text if one is None else now.get(one) or text) for one, text in turn["asked"]}
