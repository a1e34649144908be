"""The command `hook`, which a coding agent calls at its events. It prints memories for the context and observes
messages. It never fails, because an agent may reject a prompt whose hook fails.

Transcripts: Three formats are read, which may change without notice: Claude Code's and Codex's, with one JSON object
per line, and Gemini CLI's, one JSON object with a list. Unknown entries are left out. Only the assistant's last message
in a turn is stored: it is the answer, and earlier messages announce its next steps.
"""

from __future__ import annotations

import hashlib
import json
import logging
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from adaptive_memory_core.cli.__main__ import HOOKS
from adaptive_memory_core.cli.session import session_of
from adaptive_memory_core.cli.terminal import STDIN, one_line, parsed_json, text_of
from adaptive_memory_core.context.render import render
from adaptive_memory_core.error_messages import reason
from adaptive_memory_core.errors import InvalidInputError, NotFoundError
from adaptive_memory_core.identity import each_text_once, text_digest
from adaptive_memory_core.length_limits import start_and_end
from adaptive_memory_core.masked_secrets import mask
from adaptive_memory_core.policy.keeping import Keeping
from adaptive_memory_core.records import MESSAGE_KIND, Hit, Record, Scored
from adaptive_memory_core.user_memory import UserMemory

RELEVANT = 0.18  # the least score of a memory for a prompt's context; measured, docs/guides/mcp.md
LOOKED_AT = 300  # newest memories that are considered at the start of a session; guess
FACTS, MESSAGES = 15, 10  # shown at the start of a session, at most; guess
MOST_READ = 200_000  # characters of a prompt or an answer that are searched for secrets; guess
MOST_OBSERVED = 20_000  # characters of a message that are stored, from its start and end; guess
WAIT_SECONDS = 2.0  # the longest wait of a hook for other writers of the ledger; guess
PROJECT = "project"  # the key in a message's metadata for its directory


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """What an agent says of its event; `name` is its own name for it, "" if nobody but a person calls the hook."""

    name: str = ""
    session: str | None = None
    project: str | None = None
    source: str | None = None
    prompt: str = ""
    answer: str = ""
    transcript: Path | None = None


def hook(
    ctx: typer.Context,
    event: Annotated[str, typer.Argument(help="session-start, prompt, stop or pre-compact.")],
    create: Annotated[bool, typer.Option("--create", help="Create the memory if it does not exist.")] = False,
    k: Annotated[int, typer.Option("-k", help="The maximum number of memories for a prompt.")] = 5,
    max_tokens: Annotated[int, typer.Option(help="The maximum length of the output, in tokens.")] = 1_000,
    min_score: Annotated[float, typer.Option(help="The lowest score of a memory for a prompt.")] = RELEVANT,
    keep_secrets: Annotated[
        bool, typer.Option("--keep-secrets", help="Do not mask keys, tokens and passwords.")
    ] = False,
) -> None:
    """Called by a coding agent, with the event as JSON on stdin (docs/guides/mcp.md).

    Prints what belongs in the context and observes what was said. It always ends with 0, and says in one line on stderr
    what went wrong.
    """
    keeping = Keeping(mask_secrets=not keep_secrets, wait_seconds=WAIT_SECONDS, count_seconds=WAIT_SECONDS)
    with never_failing():
        if event not in EVENTS:
            raise InvalidInputError(f"{event!r} is not an event. Give one of {', '.join(EVENTS)}.")
        given = event_of(text_of(STDIN))
        with replace(session_of(ctx), keeping=keeping).scope(create=create, brief=event == HOOKS[0]) as user:
            text = EVENTS[event](user, given, Shown(k, max_tokens, min_score))
        sys.stdout.write(answer_to(given.name, text))


@contextmanager
def never_failing() -> Iterator[None]:
    """Print any error as one line on stderr, without anything else."""
    disabled = logging.root.manager.disable
    logging.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
            sys.stdout.flush()
    except Exception as error:  # noqa: BLE001 - a hook that fails would stop the agent
        _say(error)
    finally:
        logging.disable(disabled)


def _say(error: Exception) -> None:
    typer.echo(f"adaptive-memory hook: {one_line(str(error)) or type(error).__name__}", err=True)


def event_of(text: str) -> AgentEvent:
    """The event that an agent wrote as JSON; an empty text is an empty event.

    >>> event_of('{"hook_event_name": "Stop", "session_id": "s", "last_assistant_message": "Done."}')
    AgentEvent(name='Stop', session='s', project=None, source=None, prompt='', answer='Done.', transcript=None)
    """
    given = parsed_json(text, "The event on stdin") if text.strip() else {}
    if not isinstance(given, Mapping):
        raise InvalidInputError("The event on stdin is not a JSON object. Give the agent's event.")

    def first(*names: str) -> str:
        return next((one for name in names if isinstance(one := given.get(name), str) and one.strip()), "")

    roots = given.get("workspace_roots")
    root = roots[0] if isinstance(roots, list) and roots and isinstance(roots[0], str) else None
    place, transcript = first("cwd") or root, first("transcript_path")
    return AgentEvent(
        name=first("hook_event_name"),
        session=first("session_id", "conversation_id") or None,
        project=None if not place else project_of(Path(place)),
        source=first("source") or None,
        prompt=start_and_end(first("prompt"), MOST_READ),
        answer=start_and_end(first("last_assistant_message", "prompt_response", "text"), MOST_READ),
        transcript=Path(transcript).expanduser() if transcript else None,
    )


def project_of(place: Path) -> str:
    """The project of a directory: the nearest directory with a repository, or else the directory itself."""
    for one in (place, *place.parents):
        if (one / ".git").exists():
            return str(one)
    return str(place)


@dataclass(frozen=True, slots=True)
class Shown:
    """Limits of the output: the most memories for a prompt, the most tokens, and the least score."""

    k: int
    max_tokens: int
    min_score: float


def session_start(user: UserMemory, event: AgentEvent, shown: Shown) -> str:
    """The most important facts, and the latest messages of this project."""
    now, visible = user.memory.now(), visible_to(user, event)
    found = [one for one in user.records(limit=LOOKED_AT, current=True) if visible(one)]
    facts = [one for one in found if one.kind != MESSAGE_KIND]
    facts.sort(key=lambda one: (one.read.pinned, one.importance or 0.0), reverse=True)  # newest first if equal
    messages = [one for one in found if one.kind == MESSAGE_KIND]
    hits = [Scored(Hit(one, 0.0, one.id), 0.0, {}, {}) for one in (*facts[:FACTS], *messages[:MESSAGES])]
    return render(hits, max_tokens=shown.max_tokens, now=now, fields=user.memory.fields)


def prompt(user: UserMemory, event: AgentEvent, shown: Shown) -> str:
    """The memories that are relevant to the prompt, if any. The prompt is observed."""
    if not event.prompt:
        raise InvalidInputError("The event on stdin has no prompt. Nothing was looked up or stored.")
    text = ""
    if event.name != CURSOR_PROMPT:  # it takes no context
        accept = visible_to(user, event)
        found = user.recall(event.prompt, shown.k, min_score=shown.min_score, accept=accept)
        text = found.render(max_tokens=shown.max_tokens)
    try:
        _observe(user, event, [SaidTurn(USER, event.prompt)])
    except Exception as error:  # noqa: BLE001 - e.g. a read-only memory; the result is still useful
        _say(error)
    return text


def stop(user: UserMemory, event: AgentEvent, _: Shown) -> str:
    """Observe the assistant's answer."""
    answer = SaidTurn(ASSISTANT, event.answer)
    if not event.answer:
        last = _transcript(event)[-1:]
        if not last or last[0].role != ASSISTANT:
            raise InvalidInputError("The transcript ends without an answer of the assistant. Nothing was stored.")
        answer = replace(last[0], at=None)  # as if the event had contained it
    _observe(user, event, [answer])
    return ""


def pre_compact(user: UserMemory, event: AgentEvent, _: Shown) -> str:
    """Observe the session's messages that are not stored yet, e.g. from before the hooks were set up."""
    _observe(user, event, _transcript(event))
    return ""


def _transcript(event: AgentEvent) -> list[SaidTurn]:
    if event.transcript is None:
        raise InvalidInputError("The event on stdin names no transcript_path. Nothing was stored.")
    return turns(event.transcript)


Happened = Callable[[UserMemory, AgentEvent, Shown], str]
EVENTS: Mapping[str, Happened] = dict(zip(HOOKS, (session_start, prompt, stop, pre_compact), strict=True))


def visible_to(user: UserMemory, event: AgentEvent) -> Callable[[Record], bool]:
    """A test whether a record belongs in the context: not from another project, not already in the context, and no
    text twice."""
    once, session_key = each_text_once(user.memory.now()), user.memory.fields.session
    in_context = None if event.source == "compact" else event.session

    def visible(record: Record) -> bool:
        project, session = record.metadata.get(PROJECT), record.metadata.get(session_key)
        elsewhere = project is not None and project != event.project
        return not elsewhere and (in_context is None or session != in_context) and once(record)

    return visible


def _observe(user: UserMemory, event: AgentEvent, turns_seen: Sequence[SaidTurn]) -> None:
    """Store the new messages of a session. The same text of one speaker is stored once per session."""
    masks, metadata = user.memory.keeping.mask_secrets, {} if event.project is None else {PROJECT: event.project}
    messages: dict[str, dict[str, Any]] = {}
    for one in turns_seen:
        text = start_and_end(mask(one.text) if masks else one.text, MOST_OBSERVED)
        name = _id(event.session, one.role, text)
        message = {"id": name, "text": text, "role": one.role, "session": event.session, "at": one.at}
        messages.setdefault(name, {**message, "metadata": metadata})
    user.observe([one for name, one in messages.items() if not _is_known(user, name)])


def _is_known(user: UserMemory, name: str) -> bool:
    try:
        user.get(name)
    except NotFoundError:
        return False
    return True


def _id(session: str | None, role: str, text: str) -> str:
    digest = hashlib.blake2b(f"{session or ''}\n{role}\n".encode() + (text_digest(text) or b""), digest_size=12)
    return f"h-{digest.hexdigest()}"


CURSOR_START, CURSOR_PROMPT = "sessionStart", "beforeSubmitPrompt"


def answer_to(name: str, text: str) -> str:
    """The output for an event: the text in the format that the agent expects.

    >>> answer_to("", "tea"), answer_to("Stop", ""), answer_to("beforeSubmitPrompt", "")
    ('tea\\n', '', '{"continue": true}\\n')
    >>> print(answer_to("UserPromptSubmit", "tea"), end="")
    {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "tea"}}
    """
    if name == CURSOR_PROMPT:
        return json.dumps({"continue": True}) + "\n"
    if not text or not name:
        return f"{text}\n" if text else ""
    if name == CURSOR_START:
        return json.dumps({"additional_context": text}, ensure_ascii=False) + "\n"
    answer = {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}
    return json.dumps(answer, ensure_ascii=False) + "\n"


USER, ASSISTANT = "user", "assistant"
NOT_SAID = (
    "<command-",
    "<local-command-",
    "<system-reminder>",
    "[Request interrupted",
)  # written by Claude Code as the user


@dataclass(frozen=True, slots=True)
class SaidTurn:
    """A text of the user or the assistant, and its time. Parts with the same `message` are one message."""

    role: str
    text: str
    at: float | None = None
    message: str | None = None


def turns(file: Path) -> list[SaidTurn]:
    """The user's prompts and the assistant's answers, in their order."""
    try:
        if not file.is_file():  # reading a pipe would block
            raise FileNotFoundError("there is no such file")
        with file.open(encoding="utf-8", errors="replace") as lines:
            found = _of_whole(json.load(lines)) if file.suffix == ".json" else _of_lines(lines)
            return list(_answers(found))
    except (OSError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"The transcript {str(file)!r} cannot be read: {reason(error)}.") from error


def _answers(found: Iterable[SaidTurn]) -> Iterator[SaidTurn]:
    answer: SaidTurn | None = None
    for one in found:
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
    """The turns in a transcript of Claude Code or Codex, without a last line that is still incomplete."""
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
    """The turns in a transcript of Gemini CLI."""
    messages = session.get("messages") if isinstance(session, Mapping) else None
    for entry in messages if isinstance(messages, list) else ():
        if not isinstance(entry, Mapping):
            continue
        role, text = {"user": USER, "gemini": ASSISTANT}.get(str(entry.get("type"))), _text(entry.get("content"))
        if role is not None and text:
            yield SaidTurn(role, text, _time(entry))


def _text(content: object) -> str:
    """The text of a content: a string, or the texts among its parts.

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
