"""Which events are taken for a newer version of the fact that they are about? Part of `updates`.

Each is a memory of one person: a fact, five other things, and an event, which came last. `taken` is the share of the
questions whose first hit is the event, the fact being marked as older. That is right for the two kinds that change the
fact, and wrong for all others: what happened to it ("Ilse forgot the wifi password"), what goes with it ("tyres for the
car"), presents, and what else somebody got. The first and the seventh kind were written without a look at the rules,
the others before the rules about them. Every second one of a kind was tuned on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from adaptive_memory_core.evaluate.metrics import mean
from benchmarks.memory_in_a_folder import memory_in_a_folder
from benchmarks.rot import DAY, Clock
from benchmarks.update_scenes import Scene, scenes

START, APART = 1_700_000_000.0, 30 * DAY
ALSO = (
    "{s} like{e} old maps.", "{s} ha{e2} a garden with roses.", "{s} went to the theatre.",
    "{s} play{e} chess on Fridays.", "{s} ha{e2} two sisters.",
)  # fmt: skip


def rows_of_events(embed: Any, halves: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row for each kind of event and half."""
    found = [(scene, _taken(scene, embed)) for scene in scenes("events")]
    for half in halves:
        for kind in dict.fromkeys(scene.kind for scene, _ in found):
            own = [taken for scene, taken in found if scene.half == half and scene.kind == kind]
            yield {"events": kind, "half": half, "questions": len(own), "taken": round(mean(own), 3)}


def _taken(scene: Scene, embed: Any) -> float:
    (question,), (fact, event) = scene.questions, scene.sentences
    texts = [fact, *_also(question), event]
    clock = Clock(START + (len(texts) + 1) * APART)
    with memory_in_a_folder(embed, clock) as memory:
        user = memory.for_user("ana")
        user.remember_many([{"text": text, "created_at": START + n * APART} for n, text in enumerate(texts)])
        hits = list(user.recall(question, k=5, reinforce=False))
    return float(hits[0].text == event and any(hit.older_than is not None for hit in hits))


def _also(question: str) -> list[str]:
    """What else is said of the one who is asked about.

    >>> _also("Which gym does Pavel go to?")[0], _also("Which phone do I use?")[1]
    ('Pavel likes old maps.', 'I have a garden with roses.')
    """
    names = [word.strip("?").removesuffix("'s") for word in question.split()[1:] if word[0].isupper() and word != "I"]
    ends = {"s": names[0], "e": "s", "e2": "s"} if names else {"s": "I", "e": "", "e2": "ve"}
    return [text.format(**ends) for text in ALSO]
