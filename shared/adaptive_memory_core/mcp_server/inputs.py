"""The arguments of the server's tools as a model writes them, with times such as "7 days" and short IDs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from pydantic import BaseModel, Field

from adaptive_memory_core.errors import InvalidInputError, NotFoundError
from adaptive_memory_core.model_tools import RecallInput, RememberInput
from adaptive_memory_core.records import Record
from adaptive_memory_core.reports import LoggedRecall
from adaptive_memory_core.user_memory import UserMemory

MOST = 100  # memories in one answer
KIND = Field(default=None, min_length=1, description="only memories of this kind, e.g. fact or message")
SINCE = Field(default=None, description="only memories since then: a date such as 2026-11-01, or how long ago: 7 days")


class SearchInput(RecallInput):
    """The arguments of `recall`."""

    query: str = Field(min_length=1, pattern=r"\S", description="what to look for: a question, or a few words")
    limit: int | None = Field(default=None, ge=1, le=MOST, description="how many at most; omitted, a few")
    kind: str | None = KIND
    since: str | None = SINCE


class KeepInput(RememberInput):
    """The arguments of `remember`."""

    text: str = Field(pattern=r"\S", description="the fact, in words that can be understood without this conversation")
    importance: float = Field(default=0.5, ge=0, le=1, description="from 0, trivial, to 1, vital")


class ExplainInput(BaseModel):
    """The arguments of `explain`."""

    query: str = Field(pattern=r"\S", description="what was looked for")
    memory_id: str | None = Field(default=None, description="the id of one memory: why it was found, or was not")


class FeedbackInput(BaseModel):
    """The arguments of `feedback`."""

    recall_id: str = Field(description="the id of the search, as it was shown below its results")
    helpful: list[str] = Field(default=[], max_length=100, description="ids of the memories that helped")
    unhelpful: list[str] = Field(default=[], max_length=100, description="ids of the memories that misled")


class RecentInput(BaseModel):
    """The arguments of `recent`."""

    limit: int = Field(default=10, ge=1, le=MOST, description="how many at most")
    kind: str | None = KIND
    since: str | None = SINCE


_AGO = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(minute|min|hour|h|day|d|week|w|month|year|y)s?(?:\s+ago)?\s*", re.IGNORECASE)
_SECONDS = {"m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0, "month": 2_629_800.0, "y": 31_557_600.0}


def time_since(given: str, *, now: float) -> float:
    """The time, in POSIX seconds, of a date or an age that a model gave.

    >>> time_since("1970-01-02", now=0.0), time_since("2 days", now=200_000.0), time_since("1h ago", now=3_600.0)
    (86400.0, 27200.0, 0.0)
    >>> time_since("lately", now=0.0)
    Traceback (most recent call last):
    adaptive_memory_core.errors.InvalidInputError: since is 'lately', which is not a time. Give a date such as \
2026-11-01, or how long ago, such as 12 hours, 7 days or 3 months.
    """
    if ago := _AGO.fullmatch(given):
        unit = ago[2].lower()
        return max(0.0, now - float(ago[1]) * _SECONDS[unit if unit == "month" else unit[0]])
    try:
        found = datetime.fromisoformat(given.strip().replace("Z", "+00:00"))
    except ValueError:
        raise InvalidInputError(
            f"since is {given[:40]!r}, which is not a time. Give a date such as 2026-11-01, or how long ago, such as "
            "12 hours, 7 days or 3 months."
        ) from None
    return (found if found.tzinfo is not None else found.replace(tzinfo=timezone.utc)).timestamp()


def narrowed(user: UserMemory, kind: str | None, since: str | None) -> Mapping[str, Any] | None:
    """The filter for memories of this kind since this time; None if neither is given."""
    fields, memory = user.memory.fields, user.memory
    parts: list[dict[str, Any]] = [] if kind is None else [{fields.kind: kind}]
    if since is not None:
        parts.append({fields.created_at: {"$gte": time_since(since, now=memory.now())}})
    return {"$and": parts} if len(parts) > 1 else (parts[0] if parts else None)


SHOWN = 8  # characters of a generated ID that are shown; more if it would be ambiguous
FEWEST = 6  # characters of an ID that are accepted instead of the whole
SEARCHES = 300  # latest searches that feedback can be given on
_MADE = re.compile(r"(?:[a-z]-)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[a-z]-[0-9a-f]{24}(?:-\d+)?")


def short_ids(ids: Iterable[str]) -> dict[str, str]:
    """The short form of each ID. IDs that a caller chose are not shortened.

    >>> short_ids(["3f2a9c1b-77aa-4b6f-bcc3-38e0e9134c89", "m-0123456789abcdef01234567", "tea"])
    {'3f2a9c1b-77aa-4b6f-bcc3-38e0e9134c89': '3f2a9c1b', 'm-0123456789abcdef01234567': 'm-01234567', 'tea': 'tea'}
    """
    given = list(dict.fromkeys(ids))
    return {one: _short(one, given) if _MADE.fullmatch(one) else one for one in given}


def _short(whole: str, others: Sequence[str]) -> str:
    """A beginning of the ID that no other ID has, lengthened in steps."""
    length = SHOWN + 2 * (whole[1] == "-")
    while length < len(whole) and any(one != whole and one.startswith(whole[:length]) for one in others):
        length += 4
    return whole[:length]


def with_short_ids(text: str, ids: Iterable[str]) -> str:
    """The text with these IDs in their short form."""
    for whole, short in sorted(short_ids(ids).items(), key=lambda one: -len(one[0])):
        if short != whole:
            text = text.replace(whole, short)
    return text


def named(given: str, ids: Sequence[str], *, what: str, where: str) -> str:
    """The ID that a model gave, in whole or by its beginning; an error if there is not exactly one."""
    name = given.strip().removeprefix("id ").strip()
    found = [one for one in ids if one == name] or [one for one in ids if len(name) >= FEWEST and one.startswith(name)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise InvalidInputError(f"No {what} has the id {name[:40]!r}. Give an id as {where} shows it.")
    listed = ", ".join(sorted(found)[:5]) + (" and others" if len(found) > 5 else "")
    raise InvalidInputError(f"{len(found)} ids begin with {name!r}: {listed}. Give more characters.")


async def named_memory(user: UserMemory, given: str) -> Record:
    """The memory with the ID that a model gave, in whole or by its beginning."""
    name = given.strip().removeprefix("id ").strip()
    try:
        return await user.aget(name)
    except (NotFoundError, InvalidInputError):
        everything = await user.arecords(limit=1_000_000)
    by_id = {one.id: one for one in everything}
    return by_id[named(given, list(by_id), what="memory", where="recall or recent")]


async def named_search(user: UserMemory, given: str) -> LoggedRecall:
    """The search with the ID that a model gave, in whole or by its beginning."""
    by_id = {one.id: one for one in await user.arecalls(limit=SEARCHES)}
    return by_id[named(given, list(by_id), what=f"search of the last {SEARCHES}", where="recall")]
