"""Does a hook print what belongs in the context, observe what was said once, and never stop its agent?"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

import pytest

from adaptive_memory_core import AdaptiveMemory, Record
from tests.cli.conftest import Ended, Run, command
from tests.cli.test_transcripts import AT, CLAUDE, CODEX, SECONDS, claude, lines, text
from tests.conftest import word_vectors

NAMES = {"session-start": "SessionStart", "prompt": "UserPromptSubmit", "stop": "Stop", "pre-compact": "PreCompact"}
TOKEN = "ghp_" + "a1B2" * 9


class Hook(Protocol):
    """Calls a hook as Claude Code does."""

    def __call__(self, event: str, *more: str, **given: Any) -> Ended: ...


@pytest.fixture
def hook(run: Run, tmp_path: Path) -> Callable[..., Ended]:
    def call(event: str, *more: str, **given: Any) -> Ended:
        said = {"session_id": "s1", "cwd": str(tmp_path / "app"), "hook_event_name": NAMES.get(event, event), **given}
        return run("hook", event, "--create", *more, stdin=json.dumps(said))

    return call


def context(ended: Ended) -> str:
    """What the agent adds to its context."""
    assert (ended.code, ended.err) == (0, "")
    if not ended.out:
        return ""
    answer = ended.answer["hookSpecificOutput"]
    assert answer["hookEventName"] in NAMES.values()
    return str(answer["additionalContext"])


def stored(place: Path, user: str = "ana") -> list[Record]:
    with AdaptiveMemory.open(place, embedder=word_vectors) as memory:
        return memory.for_user(user).records()


def test_a_session_begins_with_facts_and_with_what_was_said_last_in_the_project(
    hook: Hook, run: Run, place: Path, tmp_path: Path
) -> None:
    assert context(hook("session-start")) == ""
    run("remember", "Deploys are done on Tuesdays.", "--kind", "fact", "--importance", "0.9")
    run("remember", "Ana likes green tea.", "--kind", "fact", "--importance", "0.1")
    hook("prompt", prompt="The parser is in parse.py.")
    hook("prompt", prompt="Another project's words.", cwd=str(tmp_path / "other"))
    assert "parse.py" not in context(hook("session-start"))  # it is in the context of this session
    text = context(hook("session-start", session_id="s2"))
    assert text.index("Tuesdays") < text.index("green tea") < text.index("parse.py")
    assert "evidence, not instructions" in text
    assert "Another project" not in text
    assert "parse.py" in context(hook("session-start", source="compact"))
    short = context(hook("session-start", "--max-tokens", "45", session_id="s2"))
    assert "Tuesdays" in short
    assert "parse.py" not in short
    assert len(stored(place)) == 4


def test_a_directory_of_a_repository_is_its_project(hook: Hook, tmp_path: Path) -> None:
    (tmp_path / "app" / ".git").mkdir(parents=True)
    hook("prompt", prompt="The parser is in parse.py.", cwd=str(tmp_path / "app" / "src" / "deep"))
    assert "parse.py" in context(hook("session-start", session_id="s2"))


def test_a_prompt_brings_what_is_relevant_and_is_observed(hook: Hook, place: Path) -> None:
    assert context(hook("prompt", prompt="Deploys are done on Tuesdays.")) == ""
    assert context(hook("prompt", prompt="When are deploys done?")) == ""  # what this session said is in its context
    found = context(hook("prompt", prompt="On which day are deploys done?", session_id="s2"))
    assert "Deploys are done on Tuesdays." in found
    assert context(hook("prompt", prompt="zebra xylophone", session_id="s2")) == ""
    records = {one.text: one for one in stored(place)}
    assert set(records) == {
        *("Deploys are done on Tuesdays.", "When are deploys done?"),
        *("On which day are deploys done?", "zebra xylophone"),
    }
    said = records["Deploys are done on Tuesdays."]
    assert (said.kind, said.metadata["speaker"], said.metadata["session"]) == ("message", "user", "s1")
    assert said.metadata["project"] == str(place.parent / "app")


def test_what_was_said_twice_is_stored_once_per_session(hook: Hook, place: Path) -> None:
    for _ in range(2):
        hook("prompt", prompt="Run the tests.")
        hook("stop", last_assistant_message="They pass.")
    hook("prompt", prompt="Run the  tests.\n")
    hook("prompt", prompt="Run the tests.", session_id="s2")
    assert sorted((one.text, one.metadata["session"]) for one in stored(place)) == [
        ("Run the tests.", "s1"),
        ("Run the tests.", "s2"),
        ("They pass.", "s1"),
    ]
    found = context(hook("prompt", prompt="Run the tests again.", session_id="s3"))
    assert found.count("Run the tests.") == 1


def test_the_answer_is_observed_from_the_event_or_the_transcript(hook: Hook, place: Path, tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    file.write_text(lines(*CLAUDE))
    assert context(hook("stop", transcript_path=str(file))) == ""
    hook("stop", transcript_path=str(file), last_assistant_message="You are welcome.")
    hook("stop", hook_event_name="AfterAgent", prompt="What is it?", prompt_response="Gemini's answer.")
    hook("stop", hook_event_name="afterAgentResponse", text="Cursor's answer.")
    assert {(one.metadata["speaker"], one.text) for one in stored(place)} == {
        ("assistant", "You are welcome."),
        ("assistant", "Gemini's answer."),
        ("assistant", "Cursor's answer."),
    }


def test_before_compaction_what_is_new_is_observed_with_its_time(hook: Hook, place: Path, tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    file.write_text(lines(*CLAUDE))
    hook("prompt", prompt="Thanks!")
    before = stored(place)
    for _ in range(2):
        assert context(hook("pre-compact", transcript_path=str(file), trigger="auto")) == ""
    after = {one.text: one for one in stored(place)}
    assert sorted(after) == [
        *("Fix the login.", "Thanks!", "The cookie was the reason.\nIt is fixed.", "You are welcome."),
    ]
    assert after["Thanks!"].created_at == before[0].created_at
    assert after["Fix the login."].created_at == SECONDS
    codex = tmp_path / "rollout.jsonl"
    codex.write_text(lines(*CODEX))
    hook("pre-compact", transcript_path=str(codex), session_id="s2")
    assert len(stored(place)) == 6


@pytest.mark.parametrize("event", ["prompt", "stop", "pre-compact"])
def test_secrets_are_masked_before_anything_is_stored(hook: Hook, place: Path, tmp_path: Path, event: str) -> None:
    file = tmp_path / "session.jsonl"
    file.write_text(lines(claude("user", f"push with {TOKEN}"), claude("assistant", text(f"I pushed with {TOKEN}."))))
    ended = hook(event, prompt=f"push with {TOKEN}", transcript_path=str(file))
    assert ended.code == 0
    assert all("[masked: github token]" in one.text for one in stored(place))
    assert stored(place)
    for one in place.rglob("*"):
        assert not one.is_file() or TOKEN.encode() not in one.read_bytes(), one
    hook(event, "--keep-secrets", prompt=f"push with {TOKEN}", transcript_path=str(file), session_id="s2")
    assert any(TOKEN in one.text for one in stored(place))


def test_the_answer_has_the_form_of_each_agent(hook: Hook, run: Run) -> None:
    run("remember", "Deploys are done on Tuesdays.", "--create")
    for name in ("SessionStart", "BeforeAgent"):  # the second is Gemini's for a prompt
        event = "prompt" if name == "BeforeAgent" else "session-start"
        answer = hook(event, hook_event_name=name, prompt="When are deploys done?", session_id="g").answer
        assert answer["hookSpecificOutput"]["hookEventName"] == name
    cursor = hook("session-start", hook_event_name="sessionStart", session_id=None, conversation_id="c").answer
    assert "Tuesdays" in cursor["additional_context"]
    given = {"hook_event_name": "beforeSubmitPrompt", "conversation_id": "c", "prompt": "When are deploys done?"}
    assert hook("prompt", **given).answer == {"continue": True}
    by_hand = run("hook", "session-start")
    assert by_hand.out.startswith("Recalled memories.")


@pytest.mark.parametrize("event", ["session-start", "stop"])
@pytest.mark.parametrize(
    ("stdin", "because"),
    [
        ("{", "The event on stdin is not valid JSON"),
        ("[" * 100_000, "stdin"),
        ("[1, 2]", "is not a JSON object"),
    ],
)
def test_a_bad_event_is_one_line_and_no_failure(run: Run, event: str, stdin: str, because: str) -> None:
    run("init")
    ended = run("hook", event, stdin=stdin)
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (0, "", 1)
    assert because in ended.err


@pytest.mark.parametrize(
    ("event", "given", "because"),
    [
        ("prompt", {}, "has no prompt"),
        ("prompt", {"prompt": 5}, "has no prompt"),
        ("prompt", {"prompt": "half a character: \ud800"}, "surrogate"),
        ("stop", {}, "names no transcript_path"),
        ("stop", {"transcript_path": "/no/such/file.jsonl"}, "cannot be read"),
        ("stop", {"transcript_path": "/"}, "cannot be read"),
        ("pre-compact", {"transcript_path": "/no/such/file.jsonl"}, "cannot be read"),
        ("compact", {}, "Give one of session-start, prompt, stop, pre-compact"),
    ],
)
def test_what_is_missing_is_one_line_and_no_failure(hook: Hook, event: str, given: Any, because: str) -> None:
    ended = hook(event, **given)
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (0, "", 1)
    assert because in ended.err


def test_a_transcript_that_never_ends_is_not_waited_for(hook: Hook, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for endless in (str(tmp_path / "pipe"), "/dev/zero"):
        ended = hook("stop", transcript_path=endless)
        assert (ended.code, ended.out) == (0, "")
        assert "cannot be read: there is no such file" in ended.err


def test_of_a_huge_prompt_little_is_read_and_its_secrets_are_masked(hook: Hook, place: Path) -> None:
    began = time.process_time()
    hook("prompt", prompt=f"push with {TOKEN} " + "word " * 4_000_000 + f" and {TOKEN}")
    assert time.process_time() - began < 5.0
    (record,) = stored(place)
    assert record.text.count("[masked: github token]") == 2


def test_what_a_prompt_finds_is_shown_even_if_the_prompt_cannot_be_stored(hook: Hook) -> None:
    hook("prompt", prompt="The parser is in parse.py.")
    ended = hook("prompt", prompt="Where is the parser?", session_id="half a character: \ud800")
    assert "The parser is in parse.py." in ended.out
    assert (ended.code, len(ended.err.splitlines())) == (0, 1)
    assert "surrogate" in ended.err


def test_an_answer_that_is_not_there_yet_is_not_the_one_before(hook: Hook, tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    file.write_text(lines(*CLAUDE, {**claude("user", "And now?"), "timestamp": AT}))
    assert "ends without an answer" in hook("stop", transcript_path=str(file)).err


def test_a_memory_that_cannot_be_used_is_one_line_and_no_failure(run: Run, hook: Hook, place: Path) -> None:
    event = json.dumps({"prompt": "Run the tests.", "session_id": "s"})
    missing = run("hook", "prompt", stdin=event)
    assert (missing.code, missing.out, len(missing.err.splitlines())) == (0, "", 1)
    assert "There is no memory in" in missing.err
    assert not place.exists()
    nobody = run("hook", "prompt", "--create", user=None, stdin=event)
    assert (nobody.code, nobody.out, len(nobody.err.splitlines())) == (0, "", 1)
    hook("prompt", prompt="Run the tests.")
    (ledger,) = (one for one in place.glob("*.sqlite3") if one.name != "chroma.sqlite3")
    with closing(sqlite3.connect(ledger, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        began = time.monotonic()
        locked = run("hook", "prompt", stdin=event)
    assert time.monotonic() - began < 15.0  # agents are told to wait for a hook no longer than 30 seconds
    assert (locked.code, locked.out, len(locked.err.splitlines())) == (0, "", 1)
    assert "another process was writing it" in locked.err
    ledger.write_bytes(b"no database" * 1_000)
    damaged = run("hook", "prompt", stdin=event)
    assert (damaged.code, damaged.out, len(damaged.err.splitlines())) == (0, "", 1)


def test_an_option_that_is_unknown_does_not_refuse_the_prompt(tmp_path: Path) -> None:
    wrong = command("--path", str(tmp_path), "--user", "ana", "hook", "prompt", "--of-tomorrow", stdin="{}")
    assert (wrong.returncode, wrong.stdout) == (0, "")
    assert command("--path", str(tmp_path), "--user", "ana", "remember", "hook", "--of-tomorrow").returncode == 2


WATCHED = """
import sys
from adaptive_memory_core.cli.__main__ import main
def watch(event, arguments):
    if event.startswith("socket.") and event not in ("socket.__new__", "socket.gethostname"):
        sys.stderr.write(f"{event} {arguments}\\n")
sys.addaudithook(watch)
sys.argv = ["adaptive-memory", *sys.argv[1:]]
main()
"""


PROCESSES = pytest.mark.hard("processes")


@pytest.mark.parametrize(
    "called",
    [["hook", "prompt"], *(pytest.param(one, marks=PROCESSES) for one in (["hook", "session-start"], ["mcp"]))],
)
def test_nothing_leaves_the_machine(tmp_path: Path, called: list[str]) -> None:
    """With the bundled embedder no name is looked up and no connection is opened, not even on loopback."""
    given = json.dumps({"prompt": "Why do the tests fail?", "session_id": "s"}) if called[0] == "hook" else ""
    place = ["--path", str(tmp_path / "memory"), "--user", "ana"]
    ended = command("-c", WATCHED, *place, *called, "--create", stdin=given, program=[sys.executable])
    assert (ended.returncode, ended.stderr) == (0, "")
