"""What a user says of conversations: observe them, and see the themes and the hierarchy that are made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from adaptive_memory_core import arguments as check
from adaptive_memory_core.arguments.new_records import messages as checked_messages
from adaptive_memory_core.context.themes import Themes
from adaptive_memory_core.flow import remember as flows
from adaptive_memory_core.hierarchy.nodes import Hierarchy
from adaptive_memory_core.length_limits import check_texts
from adaptive_memory_core.verbs.blocking_and_async import User

Progress = Callable[[int, int], object]


def observe(user: User, messages: Iterable[Mapping[str, Any]], progress: Progress | None = None) -> list[str]:
    """Take in messages of conversations, one or many; returns their ids in order.

    A message is a mapping with `text` and, as far as known, `speaker` or `role`, `at` (POSIX seconds or a datetime),
    `session` and `seq` (its place in the session); `id`, `metadata`, `importance`, `kind` (else "message"),
    `valid_from`, `valid_until`, `supersedes` and `derived_from` as for `remember`. Each is a record at once. Episodes,
    what is worth keeping of them, and themes are made in the background (`themes`).
    A message that was observed before changes nothing, so a call that was broken off is made again as it was. The same
    message is one of the same `id`; without one, of the same session, speaker and text and the same `seq` or `at`: one
    with neither of these is of now, and is another one each time. `progress` hears how many of how many are stored.
    """
    memory, now, heard = user.memory, user.memory.now(), check.progress(progress)
    given = checked_messages(messages, memory.fields, now=now)
    check_texts(given, memory.keeping.text_characters)
    return flows.observe(memory.ports(), user.scope.own, given, now=now, new_id=memory.new_id, progress=heard)


def themes(user: User, settle: bool = True, progress: Progress | None = None) -> Themes:
    """What is remembered of the conversations that were observed, grouped: each theme with its name and messages.

    With `settle` all that waits is worked in first, and `progress` hears how much of how much is done; without, they
    are as far as they have grown by now.
    """
    wanted, heard = check.flag(settle, "settle"), check.progress(progress)
    memory = user.memory
    return flows.themes(memory.ports(), user.scope.own, now=memory.now(), settle=wanted, progress=heard)


def hierarchy(user: User, settle: bool = True, progress: Progress | None = None) -> Hierarchy:
    """All that was made of the conversations that were observed: `episodes`, `semantics` and `themes` by their keys,
    each with the ids of its messages, the nearest others of its kind (`neighbours`: keys and similarities) and the keys
    of what is above and below it. `settle` and `progress` as for `themes`, which leaves out what is replaced or over.
    """
    wanted, heard = check.flag(settle, "settle"), check.progress(progress)
    return flows.hierarchy(user.memory.ports(), user.scope.own, settle=wanted, progress=heard)
