"""Does the log hold anything of a user's? Not at the default level, whatever is called and whatever fails."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from adaptive_memory_core import AdaptiveMemory, AdaptiveMemoryError, Policy, UserMemory, error_messages
from langchain_adaptive_memory.agents import evidence
from langchain_adaptive_memory.agents.middleware import AdaptiveMemoryMiddleware
from tests.behaviour.conftest import eventually
from tests.conftest import word_vectors
from tests.langchain_adaptive_memory.scripted_agent import Context, agent_of, ask, says

CANARY = "canary"
TEXT = f"My {CANARY} sings at night."
OTHER = f"The {CANARY} slept at noon."
ID, USER = f"{CANARY}-id", f"{CANARY}-user"
Act = Callable[[UserMemory], Any]


def tuned(user: UserMemory) -> Any:
    """It refuses so few questions, and says why."""
    try:
        return user.tune([(TEXT, [ID]), (OTHER, [ID])])
    except AdaptiveMemoryError as error:
        return error


VERBS: dict[str, Act] = {
    "remember": lambda user: user.remember(TEXT, id=ID, metadata={CANARY: CANARY}),
    "remember_many": lambda user: user.remember_many([{"text": OTHER, "id": f"{ID}-2"}, f"{TEXT} twice"]),
    "observe": lambda user: user.observe([{"text": TEXT, "speaker": CANARY, "session": CANARY, "at": 1.0}]),
    "themes": lambda user: user.themes().html(),
    "hierarchy": lambda user: user.hierarchy().episodes,
    "recall": lambda user: user.recall(TEXT).explain(),
    "rerank": lambda user: user.rerank(TEXT, {ID: 0.5}),
    "get": lambda user: user.get(ID),
    "feedback": lambda user: user.feedback(user.recall(TEXT), helpful=[ID]),
    "feedback_on_answer": lambda user: user.feedback_on_answer(helpful=[ID]),
    "pin": lambda user: user.pin(ID, by=CANARY),
    "unpin": lambda user: user.unpin(ID, by=CANARY),
    "demote": lambda user: user.demote(ID, by=CANARY),
    "reset_balance": lambda user: user.reset_balance(),
    "reset_policy": lambda user: user.reset_policy(),
    "export_state": lambda user: user.restore_state(user.export_state()),
    "restore_state": lambda user: user.restore_state(user.export_state()),
    "recalls": lambda user: user.recalls(containing=ID),
    "remembered": lambda user: user.remembered(),
    "pinned": lambda user: user.pinned(),
    "changes": lambda user: user.changes(ID),
    "history": lambda user: user.history(),
    "stats": lambda user: user.stats(),
    "replay": lambda user: user.replay(Policy(half_life_days=1.0)),
    "report": lambda user: user.report(),
    "tune": tuned,
    "evaluate": lambda user: user.evaluate([(TEXT, [ID])]),
    "why": lambda user: user.why(user.recall(TEXT), ID),
    "records": lambda user: user.records(current=True),
    "update": lambda user: user.update(ID, importance=0.6, metadata={CANARY: 1}),
    "calibrate": lambda user: user.calibrate(),
    "prune": lambda user: user.prune(below=0.9, dry_run=True),
    "forget_learned": lambda user: user.over("everyone").forget_learned(),
    "forget": lambda user: user.forget(ID),
}


class Moody:
    """An embedder whose errors quote what it was asked to embed."""

    def __init__(self) -> None:
        self.fails = False

    def __call__(self, texts: Sequence[str]) -> Any:
        if self.fails:
            raise ValueError(f"cannot embed {list(texts)}")
        return word_vectors(texts)


def quoting(cue: Any, *given: Any) -> Any:
    raise ValueError(f"what is {cue!r}, and what {given!r}?")


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """All that stands in the log, as it is read and with every argument, and what was printed."""

    def read() -> str:
        fields = [f"{record.getMessage()} {record.args} {record.exc_info}" for record in caplog.records]
        return "\n".join([caplog.text, *fields, *capfd.readouterr()]).lower()

    return read


def test_every_verb_is_run_below() -> None:
    verbs = {name for name in vars(UserMemory) if f"a{name}" in vars(UserMemory)} - {"run"}
    assert verbs == VERBS.keys()


def test_no_verb_logs_anything_of_a_users(tmp_path: Path, logged: Callable[[], str]) -> None:
    with closing(AdaptiveMemory.open(tmp_path / "memory", embedder=word_vectors)) as memory:
        user = memory.for_user(USER)
        for act in VERBS.values():
            act(user)
        memory.check(repair=True)
        memory.sync()
        memory.flush()
    assert CANARY not in logged()


def test_nor_does_one_that_fails(tmp_path: Path, logged: Callable[[], str]) -> None:
    policy = Policy(channels=("dense", "lexical", "own"))
    embedder = Moody()
    given: Any = {"policy": policy, "channels": {"own": quoting}, "reranker": quoting}
    with closing(AdaptiveMemory.open(tmp_path / "memory", embedder=embedder, **given)) as memory:
        user = memory.for_user(USER)
        user.remember(TEXT, id=ID)
        assert any(CANARY in note for note in user.recall(TEXT).trace)
        embedder.fails = True
        for act in VERBS.values():
            try:
                act(user)
            except (AdaptiveMemoryError, ValueError, LookupError):
                continue
    assert CANARY not in logged()


def test_what_fails_in_the_background_is_named_without_its_words(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, logged: Callable[[], str]
) -> None:
    given: Any = {"policy": Policy(channels=("dense", "graph")), "entities": quoting}
    with closing(AdaptiveMemory.open(tmp_path / "memory", embedder=word_vectors, **given)) as memory:
        memory.for_user(USER).remember_many([TEXT, OTHER])
        assert eventually(lambda: "failed and will be tried again" in caplog.text)
    found = logged()
    assert "error" in found
    assert CANARY not in found


def test_at_debug_the_words_of_an_error_are_there(caplog: pytest.LogCaptureFixture) -> None:
    log = logging.getLogger("adaptive_memory_core.store.background")
    with caplog.at_level(logging.DEBUG, logger="adaptive_memory_core"):
        error_messages.log_warning(log, "The graph failed", ValueError(TEXT), stack=True)
    warned, told = caplog.records
    assert (warned.levelno, told.levelno) == (logging.WARNING, logging.DEBUG)
    assert CANARY not in warned.getMessage()
    assert TEXT in told.getMessage()
    assert told.exc_info is not None


def test_an_agent_that_goes_on_without_logs_no_text(
    memory: AdaptiveMemory, monkeypatch: pytest.MonkeyPatch, logged: Callable[[], str]
) -> None:
    memory.for_user("ana").remember(TEXT)
    monkeypatch.setattr(evidence, "line", quoting)
    agent = agent_of(says("Indeed."), AdaptiveMemoryMiddleware(memory))
    with pytest.warns(RuntimeWarning, match="turn goes on without"):
        agent.invoke(ask(TEXT), context=Context("ana"))
    assert "goes on without: valueerror" in (found := logged())
    assert CANARY not in found
