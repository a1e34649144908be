"""Recalls that fill up with shared records if the user has too few records.

Nothing is learned about shared records. One user's reads must not change what others find, and must not show in counts
that others can see. They are therefore written neither to the shared records nor to the user's log. The recall itself
is counted and logged as usual, with the user's own hits.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace

from adaptive_memory_core.arguments import count
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.cue.unrelated_questions import language_asked_in
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import AdaptiveMemoryError, ScopeError
from adaptive_memory_core.flow.count_reading import count_reading
from adaptive_memory_core.flow.episodes import helpful_episodes
from adaptive_memory_core.flow.neighbours import with_neighbours
from adaptive_memory_core.flow.optional_steps import floor_of
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.recall import look_for
from adaptive_memory_core.records import Dropped, Scope, Scored
from adaptive_memory_core.sources.gather import Gathered
from adaptive_memory_core.sources.request import Request


@dataclass(frozen=True, slots=True)
class Fallback:
    """A shared scope, which is used for users with fewer than `below` records."""

    scope: Scope
    below: int = 1

    @property
    def name(self) -> str:
        """
        >>> Fallback(Scope("handbook")).name, Fallback(Scope(None)).name
        ('handbook', 'everyone')
        """
        return "everyone" if self.scope.user is None else self.scope.user


def fallback_of(scope: Scope, behind: Scope, shared: Set[str], below: int) -> Fallback:
    """The fallback of a scope, which must have been declared as shared.

    >>> fallback_of(Scope("new"), Scope("bob"), {"handbook"}, 1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    adaptive_memory_core.errors.ScopeError: The fallback 'bob' was not declared to be shared, so its records stay ...
    """
    if behind.user is not None and behind.user not in shared:
        raise ScopeError(
            f"The fallback {shown(behind.name)} was not declared to be shared, so its records stay its own. Declare it "
            f"where the memory is made, AdaptiveMemory(..., shared=[{shown(behind.name)}]), if all users may read them."
        )
    if behind == scope:
        raise ScopeError(f"The fallback of {scope} is {scope} itself. Give another shared scope, or none.")
    return Fallback(behind, count(below, "fallback_below"))


def recall_with_fallback(ports: Ports, request: Request, fallback: Fallback) -> Recall:
    """The user's own hits, followed by hits of the shared scope if the user has too few records."""
    own, gathered = look_for(ports, request)
    own = with_neighbours(ports, request, own)  # shared hits are shown without neighbours
    own = helpful_episodes(request, own)
    answer = count_reading(ports, request, own, gathered)
    if len(own) >= request.k:
        return answer
    new = is_new(ports, request, own, gathered, fallback.below)
    if not new:
        return answer
    wanted = request._replace(scope=fallback.scope, cue=own.cue, k=request.k - len(own), turn=None, notes=())
    try:
        if request.reinforce and request.policy.advanced.unrelated_answered:
            floor_of(ports, wanted, language_asked_in(wanted.cue.own_words))  # requests a measurement
        more, _ = look_for(ports, wanted._replace(reinforce=False, draws=False))
    except AdaptiveMemoryError as error:
        return replace(answer, trace=(*answer.trace, f"nothing that is shared ({fallback.name}) was read: {error}"))
    return own_then_shared(answer, more, fallback)


def is_new(ports: Ports, request: Request, own: Recall, gathered: Gathered, below: int) -> bool:
    """Whether the user has fewer than `below` records, including those that a filter or gate leaves out."""
    if len(gathered.hits) >= below or gathered.lost is not None:
        return False
    if request.where is None and below <= max(request.policy.recall_k, request.k):
        return True
    found = ports.search.nearest(request.scope, own.cue.vector, below, None)
    return len(found) < below


def own_then_shared(own: Recall, more: Recall, fallback: Fallback) -> Recall:
    """The combined answer: the user's own hits, then the shared ones with their label."""
    name = fallback.name
    few = "no records" if fallback.below == 1 else f"fewer than {fallback.below} records"
    note = f"{few} of {own.scope} yet: {len(more)} of the hits are shared: {name}"
    return replace(
        own,
        kept=(*own.kept, *(_labelled(one, name) for one in more.kept)),
        dropped=(
            *own.dropped,
            *(Dropped(one.id, f"shared: {name}, {one.reason}", one.scored) for one in more.dropped),
        ),
        unrelated=min((one for one in (own.unrelated, more.unrelated) if one is not None), default=None),
        trace=(*own.trace, note, *(f"shared: {name}: {one}" for one in more.trace if one not in own.trace)),
    )


def _labelled(one: Scored, name: str) -> Scored:
    return replace(one, hit=replace(one.hit, shared=name, learnable=False))
