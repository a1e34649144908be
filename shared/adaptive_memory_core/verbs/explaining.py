"""Methods that explain, report, replay and export a user's memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adaptive_memory_core import arguments as check
from adaptive_memory_core.arguments.values import Moment
from adaptive_memory_core.context.answer import Recall
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow.rank_again import rank_again
from adaptive_memory_core.in_force import suited, usual_policy
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Cue
from adaptive_memory_core.reports import Restored
from adaptive_memory_core.score.signals import DAY
from adaptive_memory_core.sources.ask import channels_of
from adaptive_memory_core.sources.request import Request
from adaptive_memory_core.store.output_files import check_page_file, write_page
from adaptive_memory_core.verbs import recalling
from adaptive_memory_core.verbs.inspection import MOST_LINES

if TYPE_CHECKING:
    from adaptive_memory_core.evaluate.replay import Replay  # loaded by the call that needs it
    from adaptive_memory_core.memory import AdaptiveMemory
    from adaptive_memory_core.user_memory import UserMemory

WIDEST = 10_000  # candidates of the second recall that looks for a record that was not a candidate


def why(user: UserMemory, recall: Recall, id: str, filter: Mapping[str, Any] | None = None) -> str:  # noqa: A002
    """Explain in one sentence why a record is or is not among the hits of a recall. An unknown id raises NotFoundError.

    Pass the `filter` of the recall. If the record was not a candidate, the recall is repeated with more candidates,
    without counting a read.
    """
    if not isinstance(recall, Recall):
        raise InvalidInputError(f"recall is {shown(recall)}. Give what recall() returned.")
    return _why(user, recall, check.name(id, "id"), check.where(filter))


def _why(user: UserMemory, recall: Recall, record_id: str, where: Mapping[str, Any] | None) -> str:
    explained = _explained_in(recall, record_id)
    if explained is not None:
        return explained
    recalling.get(user, record_id)  # raises if the record does not exist
    wide = recalling.recall(
        user, recall.cue.text, recall.k, filter=where, reinforce=False, policy=recall.policy.replace(recall_k=WIDEST)
    )
    ids = [*wide.ids, *(one.id for one in wide.dropped)]
    far = (
        f"would be number {ids.index(record_id) + 1}" if record_id in ids else "is not among those that pass the filter"
    )
    return f"{record_id} was not a candidate: too far from the cue. Among {WIDEST:,} candidates (recall_k), it {far}."


def _explained_in(recall: Recall, record_id: str) -> str | None:
    """The record's rank or the reason why it was dropped; None if the recall does not contain it."""
    for place, one in enumerate(recall, 1):
        if one.id == record_id:
            parts = ", ".join(f"{name} {value:.3f}" for name, value in one.parts.items())
            return f"{record_id} is hit {place} of {len(recall)}: score {one.score:.3f} ({parts})"
    for drop in recall.dropped:
        if drop.id == record_id:
            last = f", the last hit has {recall[-1].score:.3f}" if len(recall) else ""
            return f"{record_id} was dropped: {drop.reason}" + (
                "" if drop.score is None else f"; score {drop.score:.3f}{last}"
            )
    return None


MOST_RECORDS, MOST_RECALLS, MOST_USERS = 5_000, 500, 1_000


def whole_report(memory: AdaptiveMemory, path: str | Path | None, *, title: str | None, users: int) -> str:
    """An HTML page about all users, with numbers but no texts."""
    from adaptive_memory_core.flow import report as gathering
    from adaptive_memory_core.pages.memory_page import users_page

    file = None if path is None else check_page_file(path)
    named = None if title is None else check.name(title, "title")
    most = check.count(users, "users", most=MOST_USERS)
    facts = gathering.users(memory.ports(), most=most, regime=memory.opened.in_force.regime, now=memory.now())
    page = users_page(facts, title=named)
    if file is not None:
        write_page(file, page)
    return page


def report(
    user: UserMemory, path: str | Path | None = None, *, title: str | None = None, records: int = 500, recalls: int = 50
) -> str:
    """A self-contained HTML page about this memory, which is also written to `path` if given.

    The page shows records, strengths and their decay, reads, the newest recalls with the parts of each score, the
    effects of feedback, and any themes and names. It shows at most `records` records and `recalls` recalls (up to 5,000
    and 500), and lists what it leaves out. Creating it does not count as a read. It contains all stored texts, so
    protect the file as you protect the memory.
    """
    from adaptive_memory_core.flow import report as gathering
    from adaptive_memory_core.pages.memory_page import memory_page

    file = None if path is None else check_page_file(path)
    named = None if title is None else check.name(title, "title")
    memory = user.memory
    now = memory.now()

    most_records = check.count(records, "records", most=MOST_RECORDS)
    most_recalls = check.count(recalls, "recalls", most=MOST_RECALLS)
    policy, logged_since = usual_policy(user).suited(), now - memory.keeping.log_days * DAY
    asked = gathering.ReportRequest(
        user.scope, policy, memory.opened.in_force.regime, now, logged_since, most_records, most_recalls
    )
    page = memory_page(gathering.gathered(memory.ports(), asked), title=named)
    if file is not None:
        write_page(file, page)
    return page


def replay(
    user: UserMemory,
    policy: Policy | None = None,
    since: Moment | None = None,
    until: Moment | None = None,
    limit: int = MOST_LINES,
) -> Replay:
    """The user's past recalls, ranked again with this policy (omitted: the memory's) and the state at that time.

    Iterate over the result, print its `summary()`, or use `to_json()` (docs/guides/measuring.md). The newest `limit`
    recalls of the period are taken from the log and go through the steps of a recall. Nothing is counted or logged.
    """
    from adaptive_memory_core.evaluate.replay import replayed

    memory = user.memory
    ports = memory.ports()
    manner = check.policy(policy, memory.policy)
    check.channels(manner, channels_of(ports.sources))
    asked_for = suited(ports, user.scope, manner)
    asked = Request(
        id="replay",
        scope=user.scope,
        cue=Cue("replay"),
        k=1,
        now=memory.now(),
        where=None,
        policy=asked_for,
        regime=memory.opened.in_force.regime,
        reinforce=False,
        draws=True,
        fields=memory.fields,
        same_fact=memory.opened.same_fact,
    )
    begin, end = check.moment(since, "since"), check.moment(until, "until")
    ranked = rank_again(ports, asked, since=begin, until=end, limit=check.count(limit, "limit", most=MOST_LINES))
    return replayed(ranked, asked_for)


def export_state(user: UserMemory) -> dict[str, Any]:
    """The state learned about this user's records, as plain values for `json.dumps`, with digests instead of texts."""
    memory = user.memory
    from adaptive_memory_core.flow import export_import as moving

    return moving.export_state(memory.ports(), user.scope, regime=memory.opened.in_force.regime, now=memory.now())


def restore_state(user: UserMemory, state: Mapping[str, Any]) -> Restored:
    """Import what `export_state` returned, here or in another collection: by id, else by document and text.

    A record that was read later here keeps its own state. A value outside its range raises an error that names it.
    """
    memory = user.memory
    from adaptive_memory_core.flow import export_import as moving

    return moving.restore_state(memory.ports(), user.scope, state, now=memory.now())
