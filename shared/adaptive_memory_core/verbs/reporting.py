"""How does a user get a page about what is remembered? Checked, gathered, drawn, and written where it was asked for."""

from __future__ import annotations

from pathlib import Path

from adaptive_memory_core import arguments as check
from adaptive_memory_core.flow import report as gathering
from adaptive_memory_core.pages.memory_page import memory_page, users_page
from adaptive_memory_core.score.signals import DAY
from adaptive_memory_core.store.output_files import check_page_file, write_page
from adaptive_memory_core.verbs.blocking_and_async import Memory, User
from adaptive_memory_core.verbs.own_policy import usual_policy

MOST_RECORDS, MOST_RECALLS, MOST_USERS = 5_000, 500, 1_000


def whole_report(memory: Memory, path: str | Path | None, *, title: str | None, users: int) -> str:
    """A page about all users: numbers, and no text of anybody."""
    file = None if path is None else check_page_file(path)
    named = None if title is None else check.name(title, "title")
    most = check.count(users, "users", most=MOST_USERS)
    facts = gathering.users(memory.ports(), most=most, regime=memory.regime, now=memory.now())
    page = users_page(facts, title=named)
    if file is not None:
        write_page(file, page)
    return page


def report(
    user: User, path: str | Path | None = None, *, title: str | None = None, records: int = 500, recalls: int = 50
) -> str:
    """A page of HTML about this memory, in one file that loads nothing; written to `path` where that is given.

    It shows what is remembered, strengths and how they fade, reads, the newest recalls with the parts of each score,
    what verdicts changed, and themes and names where there are any. At most `records` records and `recalls` recalls are
    shown (up to 5,000 and 500), and the page says what it leaves out. Making it counts as no read. Whatever was stored
    stands in it as text: keep the file as you keep the memory.
    """
    file = None if path is None else check_page_file(path)
    named = None if title is None else check.name(title, "title")
    memory = user.memory
    now = memory.now()

    most_records = check.count(records, "records", most=MOST_RECORDS)
    most_recalls = check.count(recalls, "recalls", most=MOST_RECALLS)
    policy, logged_since = usual_policy(user).suited(), now - memory.keeping.log_days * DAY
    asked = gathering.Asked(user.scope, policy, memory.regime, now, logged_since, most_records, most_recalls)
    page = memory_page(gathering.gathered(memory.ports(), asked), title=named)
    if file is not None:
        write_page(file, page)
    return page
