"""Is what was said read from each agent's transcript, and nothing else of what is in there?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import InvalidInputError
from adaptive_memory_core.cli.hooks import turns

AT, SECONDS = "2026-11-27T10:00:00.000Z", 1_795_773_600.0


def claude(role: str, content: Any, message: str | None = None, **more: Any) -> dict[str, Any]:
    said = {"role": role, "content": content} | ({} if message is None else {"id": message})
    return {"type": role, "message": said, "timestamp": AT, "sessionId": "s", "uuid": "u", **more}


def text(said: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": said}]


CLAUDE = [
    {"type": "summary", "summary": "Of another session"},
    claude("user", "<command-name>/clear</command-name>"),
    claude("user", "not said", isMeta=True),
    claude("user", "Fix the login."),
    claude("assistant", [{"type": "thinking", "thinking": "Hm."}], "m1"),
    claude("assistant", text("I look at the code first."), "m1"),
    claude("assistant", [{"type": "tool_use", "name": "Read", "input": {"file_path": "a"}}], "m1"),
    claude("user", [{"type": "tool_result", "content": "SECRET=1", "tool_use_id": "t"}]),
    claude("assistant", text("A subagent's words."), "m2", isSidechain=True),
    claude("assistant", text("The cookie was the reason."), "m3"),
    claude("assistant", text("It is fixed."), "m3"),
    claude("user", [{"type": "text", "text": "Thanks!"}, {"type": "image", "source": {}}]),
    claude("user", "This session is being continued.", isCompactSummary=True),
    claude("assistant", text("You are welcome."), "m4"),
]
CODEX = [
    {"timestamp": AT, "type": "session_meta", "payload": {"id": "s"}},
    {
        "timestamp": AT,
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": "<environment>"},
    },
    {"timestamp": AT, "type": "event_msg", "payload": {"type": "user_message", "message": "Fix the login."}},
    {"timestamp": AT, "type": "event_msg", "payload": {"type": "agent_reasoning", "text": "Hm."}},
    {"timestamp": AT, "type": "event_msg", "payload": {"type": "agent_message", "message": "I look."}},
    {"timestamp": AT, "type": "event_msg", "payload": {"type": "agent_message", "message": "It is fixed."}},
]
GEMINI = {
    "sessionId": "s",
    "messages": [
        {"id": "1", "timestamp": AT, "type": "user", "content": [{"text": "Fix the login."}]},
        {"id": "2", "timestamp": AT, "type": "info", "content": "Loaded."},
        {"id": "3", "timestamp": AT, "type": "gemini", "content": "I look.", "toolCalls": []},
        {"id": "4", "timestamp": AT, "type": "gemini", "content": "It is fixed."},
    ],
}


def lines(*entries: Any) -> str:
    return "".join(json.dumps(one) + "\n" for one in entries)


def said_in(file: Path) -> list[tuple[str, str]]:
    return [(one.role, one.text) for one in turns(file)]


def test_claude_codes_answers_are_the_last_messages_of_their_turns(tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"
    file.write_text(lines(*CLAUDE) + '{"type": "user", "message": {"cont')  # the last line is not whole yet
    assert said_in(file) == [
        ("user", "Fix the login."),
        ("assistant", "The cookie was the reason.\nIt is fixed."),
        ("user", "Thanks!"),
        ("assistant", "You are welcome."),
    ]
    assert {one.at for one in turns(file)} == {SECONDS}


def test_codex_and_gemini_are_read_too(tmp_path: Path) -> None:
    codex, gemini = tmp_path / "rollout.jsonl", tmp_path / "session.json"
    codex.write_text(lines(*CODEX))
    gemini.write_text(json.dumps(GEMINI, indent=2))
    for file in (codex, gemini):
        assert said_in(file) == [("user", "Fix the login."), ("assistant", "It is fixed.")]
        assert {one.at for one in turns(file)} == {SECONDS}


@pytest.mark.parametrize("entry", [*CLAUDE[3:5], *CODEX[2:3], 5, None, [], {"type": "user"}, {"type": "event_msg"}])
@pytest.mark.parametrize("wrong", ["yesterday", 5, None])
def test_an_odd_entry_is_left_out_and_an_odd_time_is_none(tmp_path: Path, entry: Any, wrong: Any) -> None:
    file = tmp_path / "session.jsonl"
    file.write_text(lines(entry if not isinstance(entry, dict) else {**entry, "timestamp": wrong}))
    assert all(one.at is None for one in turns(file))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "message", "content", "text", "payload", "id", "timestamp"]), inner)
    ),
    max_leaves=8,
)


@given(entries=st.lists(JSON, max_size=4))
def test_no_entry_makes_reading_fail(tmp_path_factory: pytest.TempPathFactory, entries: list[Any]) -> None:
    folder = tmp_path_factory.mktemp("odd")
    for name, content in (("a.jsonl", lines(*entries)), ("a.json", json.dumps({"messages": entries}))):
        (folder / name).write_text(content)
        assert isinstance(turns(folder / name), list)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "torn.json").write_text('{"messages": [')
    for name in ("none.jsonl", "torn.json"):
        with pytest.raises(InvalidInputError, match=name):
            turns(tmp_path / name)
