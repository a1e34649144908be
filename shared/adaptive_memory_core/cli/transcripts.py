"""What was said in a coding agent's session, read from the transcript that it keeps in a file.

Three formats are read, none of which is a promise of its agent: Claude Code's and Codex's, with one JSON object per
line, and Gemini CLI's, one JSON object with a list. What is not understood is left out. Of the messages that the
assistant wrote in one turn only the last is kept: it is the answer, and those before it are about its next step.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from adaptive_memory_core.error_messages import reason
from adaptive_memory_core.errors import InvalidInputError

USER, ASSISTANT = "user", "assistant"
NOT_SAID = ("<command-", "<local-command-", "<system-reminder>", "[Request interrupted")  # by Claude Code, as the user


@dataclass(frozen=True, slots=True)
class SaidTurn:
    """What the user or the assistant said, and when. Parts with one `message` are one message."""

    role: str
    text: str
    at: float | None = None
    message: str | None = None


def turns(file: Path) -> list[SaidTurn]:
    """The user's prompts and the assistant's answers, in their order."""
    try:
        if not file.is_file():  # a pipe would be waited for
            raise FileNotFoundError("there is no such file")
        with file.open(encoding="utf-8", errors="replace") as lines:
            found = _of_whole(json.load(lines)) if file.suffix == ".json" else _of_lines(lines)
            return list(_answers(found))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"The transcript {str(file)!r} cannot be read: {reason(error)}.") from error


def _answers(said: Iterable[SaidTurn]) -> Iterator[SaidTurn]:
    answer: SaidTurn | None = None
    for one in said:
        if one.role == ASSISTANT:
            goes_on = answer is not None and one.message is not None and answer.message == one.message
            answer = replace(answer, text=f"{answer.text}\n{one.text}") if answer is not None and goes_on else one
            continue
        if answer is not None:
            yield answer
        answer = None
        yield one
    if answer is not None:
        yield answer


def _of_lines(lines: Iterable[str]) -> Iterator[SaidTurn]:
    """Of Claude Code or Codex; a line that is not whole yet is left out."""
    for line in lines:
        with suppress(ValueError, RecursionError):
            entry = json.loads(line)
            if isinstance(entry, Mapping) and (found := _of_claude(entry) or _of_codex(entry)):
                yield found


def _of_claude(entry: Mapping[str, Any]) -> SaidTurn | None:
    role, message = entry.get("type"), entry.get("message")
    aside = entry.get("isSidechain") or entry.get("isMeta") or entry.get("isCompactSummary")
    if role not in (USER, ASSISTANT) or aside or not isinstance(message, Mapping):
        return None
    text = _text(message.get("content"))
    if not text or (role == USER and text.startswith(NOT_SAID)):
        return None
    return SaidTurn(role, text, _time(entry), _string(message.get("id")))


def _of_codex(entry: Mapping[str, Any]) -> SaidTurn | None:
    event = entry.get("payload")
    if entry.get("type") != "event_msg" or not isinstance(event, Mapping):
        return None
    role = {"user_message": USER, "agent_message": ASSISTANT}.get(str(event.get("type")))
    text = _text(event.get("message"))
    return SaidTurn(role, text, _time(entry)) if role is not None and text else None


def _of_whole(session: object) -> Iterator[SaidTurn]:
    """Of Gemini CLI."""
    messages = session.get("messages") if isinstance(session, Mapping) else None
    for entry in messages if isinstance(messages, list) else ():
        if not isinstance(entry, Mapping):
            continue
        role, text = {"user": USER, "gemini": ASSISTANT}.get(str(entry.get("type"))), _text(entry.get("content"))
        if role is not None and text:
            yield SaidTurn(role, text, _time(entry))


def _text(content: object) -> str:
    """The text of a content: itself, or the texts among its parts.

    >>> _text("Hi"), _text([{"type": "text", "text": "Look"}, {"type": "tool_result"}, {"text": "here"}])
    ('Hi', 'Look\\nhere')
    """
    if isinstance(content, list):
        parts = [one for one in content if isinstance(one, Mapping) and one.get("type", "text") == "text"]
        content = "\n".join(one["text"] for one in parts if isinstance(one.get("text"), str))
    return content.strip() if isinstance(content, str) else ""


def _time(entry: Mapping[str, Any]) -> float | None:
    with suppress(ValueError, TypeError, AttributeError, OverflowError):
        return (
            datetime.fromisoformat(entry["timestamp"].replace("Z", "+00:00")).timestamp()
            if "timestamp" in entry
            else None
        )
    return None


def _string(value: object) -> str | None:
    return value if isinstance(value, str) else None
