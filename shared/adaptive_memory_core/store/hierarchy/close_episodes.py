"""Which waiting messages are an episode by now? Those that something else follows, and those that have long ended."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from adaptive_memory_core.flow.ports.hierarchy_values import Group, Queued
from adaptive_memory_core.flow.ports.roles import BoundaryPort
from adaptive_memory_core.hierarchy.boundaries import Decided, starts
from adaptive_memory_core.hierarchy.nodes import Said
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.hierarchy.growing import Growing, kept_note, lines_of

PAGE = 200  # messages of a conversation that are looked at together


def close_episodes(growing: Growing, scope: Scope, session: str, *, final: bool) -> bool:
    """One step for one conversation; whether something was done, and there may be more. With `final` its last messages
    are an episode as well, which stays open for what follows."""
    found = growing.rows.conversation(scope, session, PAGE)
    waiting = [one for one in found if one.episode is None]
    if not waiting:
        return False
    late = growing.rows.episode_at(scope, session, waiting[0].entry.place)
    if late is not None:
        at = waiting[0].entry.at
        return growing.rows.assign(scope, session, [Group(late, [waiting[0].key], at, at, open=False)])
    said = growing.present(scope, found, vectors=True)
    if said is None:
        return True
    ends = final or _is_idle(growing, waiting[-1])
    whole = ends and len(waiting) < PAGE
    groups = _groups(growing, found, said, whole=whole)
    return bool(groups) and growing.rows.assign(scope, session, groups)


def _is_idle(growing: Growing, last: Queued) -> bool:
    """Whether what comes now would begin another episode anyway."""
    return growing.now() - last.entry.at > 60.0 * growing.settings().gap_minutes


def _groups(growing: Growing, found: Sequence[Queued], said: Sequence[Said], *, whole: bool) -> list[Group]:
    begun, notes = sum(one.episode is not None for one in found), list[str]()
    decided = _asked_of(growing.roles.boundary, notes)
    places = starts(said, growing.settings(), usual=growing.usual(), begun=begun, whole=whole, decided=decided)
    bounds = [0, *(one for one in places if one > 0), len(found)]
    groups = []
    for first, end in pairwise(bounds):
        last = end == len(found)
        if last and not whole:
            break
        own = found[first:end]
        times = [one.entry.at for one in own]
        messages = [one.key for one in own if one.episode is None]
        note = notes[-1] if notes else None
        groups.append(Group(own[0].episode, messages, min(times), max(times), open=last, note=note))
    return [one for one in groups if one.messages or not one.open]


def _asked_of(model: BoundaryPort | None, notes: list[str]) -> Decided | None:
    """A model's word on a change of topic; where it has none, the rule decides, and it is noted why."""
    if model is None:
        return None

    def decided(before: Sequence[Said], after: Sequence[Said]) -> bool | None:
        found = model(lines_of(before), lines_of(after))
        note = kept_note(found.note)
        notes.extend([] if note is None else [note])
        return found.ends

    return decided
