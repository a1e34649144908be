"""What does the middleware do at each step of a turn? Recall, show, judge, save - and what a failing memory costs."""

from __future__ import annotations

import logging
import uuid
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from langchain.agents.middleware.types import ModelRequest
from langchain_core.messages import AnyMessage
from langchain_core.runnables import RunnableConfig

from adaptive_memory_core import AdaptiveMemory, NotFoundError, Policy, Recall, ScopeError, UserMemory
from langchain_adaptive_memory.agents.evidence import cited, evidence, marked, unmarked, with_evidence
from langchain_adaptive_memory.agents.state import Turn, last_answer, last_question, turns_of, words
from langchain_adaptive_memory.tools import SET_UP_WRONGLY
from langchain_adaptive_memory.turns import current_turn
from langchain_adaptive_memory.user import EVERYONE, Default, find_user, scope_of

T = TypeVar("T")
Save = Literal["user", "turn"]
OnError = Literal["warn", "raise"]
NO_FLOORS = Policy()  # what was recalled has passed those of its own policy
logger = logging.getLogger("langchain_adaptive_memory.middleware")


@dataclass(frozen=True)
class Steps:
    """The steps of any turn, of any user: nothing of a turn is kept here."""

    memory: AdaptiveMemory | UserMemory
    user_id: Default
    user_key: str | None
    asked: Mapping[str, Any]  # of every recall
    max_tokens: int | None
    save: Save | None
    cite: bool
    on_error: OnError

    def scope(self, config: RunnableConfig | None, context: Any) -> UserMemory:
        """The memory of the turn's user. That there is one is asked for where no failure is excused."""
        return scope_of(self.memory, config, default=self.user_id, key=self.user_key, context=context)

    def recall(self, scope: UserMemory, messages: Sequence[AnyMessage], config: RunnableConfig) -> Turn | None:
        """What matters to the question; None where nothing was asked, or the memory failed."""
        question = last_question(messages)
        if question is None:
            return None
        cue, turn = words(question), current_turn(config)
        seen = [_saved_id(text) for said in turns_of(messages) for text in _texts(*said)]
        return self._excused(
            "Nothing was recalled", lambda: self._turn(scope.recall(cue, turn=turn, in_context=seen, **self.asked))
        )

    def shown(self, request: ModelRequest[Any], turn: Turn | None) -> ModelRequest[Any]:
        """The request with the evidence, as the memory holds it now: what was forgotten meanwhile is not shown."""
        if turn is None or not turn["marks"]:
            return request
        scope = self._scope_again(turn, getattr(request.runtime, "context", None))
        block = self._excused("Nothing was shown", lambda: self._evidence(scope, turn))
        return request.override(system_message=with_evidence(request.system_message, block)) if block else request

    def _evidence(self, scope: UserMemory, turn: Turn) -> str:
        """The block of what was recalled, as the memory holds it now."""
        ids = dict.fromkeys(turn["marks"].values())
        hits = scope.rerank(turn["cue"], ids, reinforce=False, policy=NO_FLOORS)
        return evidence(turn["marks"], hits, cite=self.cite, max_tokens=self.max_tokens)

    def settle(self, scope: UserMemory, messages: Sequence[AnyMessage], turn: Turn | None) -> None:
        """After the answer: verdicts on what it cites, and the turn saved."""
        self._excused("No verdict was given", lambda: self._judge(scope, messages, turn))
        self._excused("The turn was not saved", lambda: self._remember(scope, messages))

    def _turn(self, recall: Recall) -> Turn:
        marks = marked(recall, max_tokens=self.max_tokens, cite=self.cite)
        return Turn(user=recall.scope.user, recall=recall.id, cue=recall.cue.text, marks=marks)

    def _scope_again(self, turn: Turn, context: Any) -> UserMemory:
        """The memory of the turn's user. Whoever goes on with a turn must be the one who began it."""
        now = find_user(key=self.user_key, context=context)
        if now is not None and now != turn["user"]:
            raise ScopeError(
                f"This turn was begun by user {turn['user']!r} and is gone on with by {now!r}, who must not see the "
                "other's memories. Resume it as the user who began it."
            )
        began = EVERYONE if turn["user"] is None else turn["user"]
        return scope_of(self.memory, default=began, key=self.user_key, context=context)

    def _judge(self, scope: UserMemory, messages: Sequence[AnyMessage], turn: Turn | None) -> None:
        """Cited is helpful. Not cited says nothing: the model may have used it all the same."""
        helpful = cited(last_answer(messages), turn["marks"]) if turn is not None and self.cite else []
        left = [one for one in helpful if _is_there(scope, one)]
        if turn is not None and left:
            with suppress(NotFoundError):  # the log is off: there is nothing to judge
                scope.feedback(turn["recall"], helpful=left)

    def _remember(self, scope: UserMemory, messages: Sequence[AnyMessage]) -> None:
        """Save the turn once, however often this step is done again; the same words are kept once."""
        question = None if self.save is None else last_question(messages)
        if question is None:
            return
        said, *both = _texts(words(question), last_answer(messages))
        text = both[0] if self.save == "turn" and both else said
        scope.remember(text, id=_saved_id(text), kind="message")

    def _excused(self, what: str, step: Callable[[], T]) -> T | None:
        """What the step gives; None, with a warning, where the memory failed and may."""
        try:
            return step()
        except SET_UP_WRONGLY:  # the program's mistake, which no turn mends
            raise
        except Exception as error:
            if self.on_error == "raise":
                raise
            message = f"{what}, and the agent's turn goes on without: {type(error).__name__}: {error}"
            logger.warning(message)
            warnings.warn(message, RuntimeWarning, stacklevel=3)
            return None


def _is_there(scope: UserMemory, record_id: str) -> bool:
    """Whether it can still be judged: it may have been forgotten since it was recalled."""
    try:
        scope.get(record_id)
    except NotFoundError:
        return False
    return True


def _texts(said: str, answer: str) -> list[str]:
    """As what a turn can be saved: the user's words, and these with the answer."""
    answer = unmarked(answer)
    return [said, f"User: {said}\nAssistant: {answer}"] if answer else [said]


def _saved_id(text: str) -> str:
    """The same words are one record, so what stands in the conversation can be told from the rest by its id."""
    return f"turn-{uuid.uuid5(uuid.NAMESPACE_OID, text)}"
