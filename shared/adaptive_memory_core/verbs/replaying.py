"""What would another policy have retrieved for a user? The user's log under it, checked."""

from __future__ import annotations

from adaptive_memory_core import arguments as check
from adaptive_memory_core.evaluate.replay import Replay, replayed
from adaptive_memory_core.flow.rank_again import rank_again
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Cue
from adaptive_memory_core.sources.ask import channels_of
from adaptive_memory_core.sources.request import Request
from adaptive_memory_core.verbs.blocking_and_async import Moment, User
from adaptive_memory_core.verbs.inspection import MOST_LINES
from adaptive_memory_core.verbs.own_policy import suited


def replay(
    user: User,
    policy: Policy | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
    limit: int = MOST_LINES,
) -> Replay:
    """What this policy (omitted: the memory's) would have returned for the user's past recalls, each with the state of
    its moment.

    Iterate over it, print its `summary()`, or take `to_json()`: docs/replay.md. Of the log's recalls in that time the
    newest `limit` are ranked again, through the same steps as a recall, and nothing changes: no count, no log.
    """
    memory = user.memory
    ports = memory.ports()
    manner = check.policy(policy, memory.policy)
    check.channels(manner, channels_of(ports.sources))
    asked_for = suited(user, manner)
    asked = Request(
        id="replay",
        scope=user.scope,
        cue=Cue("replay"),
        k=1,
        now=memory.now(),
        where=None,
        policy=asked_for,
        regime=memory.regime,
        reinforce=False,
        draws=True,
        fields=memory.fields,
        same_fact=memory.same_fact,
    )
    begin, end = check.moment(since, "since"), check.moment(until, "until")
    ranked = rank_again(ports, asked, since=begin, until=end, limit=check.count(limit, "limit", most=MOST_LINES))
    return replayed(ranked, asked_for)
