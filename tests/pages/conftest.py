"""What do tests of pages share? One memory in which there is everything, hostile texts included, and its page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory
from adaptive_memory_core.policy import Decay, Remembrance
from tests.conftest import DAY, START, Clock, word_vectors

HOSTILE = '</script><script>window.pwned=1</script><img src=x onerror="window.pwned=1">'
QUOTES = "\"double\" 'single' `tick` & <b>bold</b> ${pwned} -->"
TURNED = "right \u202e evil \u2066 left \u200b gap \x00 nul"
HUGE = "huge " * 30_000
FADING = Decay(rate=0.9, grace=2, by_kind={"fact": Remembrance(rate=0.97)})


def fill(user: UserMemory, clock: Clock) -> None:
    """Records of all kinds, recalls with verdicts, a conversation with themes, and names that stand together."""
    for number in range(12):
        clock.pass_days(1)
        user.remember(f"Ana met Ben in Rome about the Apollo launch, {number}.", id=f"event-{number}", importance=0.4)
    user.remember("Ana lives in Rome.", id="home", kind="fact", importance=0.9)
    for name, text in (("hostile", HOSTILE), ("quotes", QUOTES), ("turned", TURNED), ("huge", HUGE)):
        user.remember(text, id=f"{name}-{HOSTILE}", kind=HOSTILE[:30], metadata={"note": HOSTILE})
    user.observe(
        {
            "text": f"{HOSTILE} My puppy Turing sleeps, {number}.",
            "speaker": "Ana",
            "session": HOSTILE,
            "at": START + number,
        }
        for number in range(6)
    )
    user.themes()
    for question in ("where does Ana live?", "who met in Rome?", HOSTILE, "Where does Ana live", HOSTILE):
        clock.pass_days(2)
        found = user.recall(question, k=3)
        user.feedback(found, helpful=[found[0].id], unhelpful=[found[-1].id])
    user.recall(f"{HOSTILE} or tea?", min_similarity=0.99)
    user.pin("home", by=HOSTILE)
    user.memory.ports().write_back.flush()


@pytest.fixture(scope="module")  # and not for the session: no memory stays open for tests that look at threads
def full(tmp_path_factory: pytest.TempPathFactory) -> Iterator[UserMemory]:
    """A user's memory in which there is everything. Nobody changes it."""
    clock, policy = Clock(START + 30 * DAY), Policy(channels=("dense", "lexical", "graph"), decay=FADING)
    place = tmp_path_factory.mktemp("pages") / "memory"
    with AdaptiveMemory.open(place, embedder=word_vectors, clock=clock, policy=policy) as memory:
        user = memory.for_user(f"ana {HOSTILE[:40]}")
        fill(user, clock)
        yield user


@pytest.fixture(scope="module")
def page(full: UserMemory) -> str:
    return full.report()
