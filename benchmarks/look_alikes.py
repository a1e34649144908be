"""Are facts that changed told from those that only look alike? Small scenes, each in a memory of its own.

Part of `python -m benchmarks.updates`. `untouched` is the share of the questions about what did not change where the
five best hits are those that come without the rules, none of them marked as older; `newest@1` the share of those about
what did where the newest comes first. Every second scene of a kind was tuned on; the others are held out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from adaptive_memory_core import Policy, Recall, UserMemory
from adaptive_memory_core.evaluate.metrics import mean
from benchmarks.memory_in_a_folder import memory_in_a_folder
from benchmarks.rot import DAY, Clock
from benchmarks.update_scenes import Scene, in_long_messages, scenes

START, APART = 1_700_000_000.0, 30 * DAY
WITHOUT = Policy().replace(newest_first=False)
TALK = (
    "The plants on the balcony look fine.", "It rained most of the week.", "There was a long queue at the post office.",
    "The neighbours have painted their fence.", "A parcel came on Tuesday.",
)  # fmt: skip


def rows_of_scenes(embed: Any, halves: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A row for each kind of scene and half."""
    changed = scenes("versions")
    same = [one for one in changed if one.kind == "same words"]
    changed += [in_long_messages(one, all_of_them=every) for every in (False, True) for one in same]
    yield from _rows("untouched", scenes("controls"), embed, halves)
    yield from _rows("newest@1", changed, embed, halves)


def _rows(measure: str, asked: Sequence[Scene], embed: Any, halves: Sequence[str]) -> Iterator[dict[str, Any]]:
    found = [(scene, list(outcomes(scene, measure, embed))) for scene in asked]
    kinds = list(dict.fromkeys(scene.kind for scene in asked))
    for half in halves:
        for kind in [*kinds, "all"]:
            right = [one for scene, own in found if scene.half == half and kind in (scene.kind, "all") for one in own]
            yield {"scenes": kind, "half": half, "questions": len(right), measure: round(mean(right), 3)}


def outcomes(scene: Scene, measure: str, embed: Any) -> Iterator[float]:
    """For each question, 1.0 if all is as it should be."""
    clock = Clock(START)
    with memory_in_a_folder(embed, clock) as memory:
        user = memory.for_user("ana")
        user.remember_many(list(_records(scene)))
        clock.now += (len(scene.sentences) + 1) * APART
        for question in scene.questions:
            yield float(untouched(user, question) if measure == "untouched" else _newest(user, question, scene))


def _records(scene: Scene) -> Iterator[dict[str, Any]]:
    for place, text in enumerate(scene.sentences):
        yield {"text": text, "id": f"said {place}", "created_at": START + place * APART}
    for place, text in enumerate(TALK):
        yield {"text": text, "id": f"talk {place}", "created_at": START + (place + 0.5) * APART / 2}


def untouched(user: UserMemory, question: str) -> bool:
    """Whether the five best hits are those that come without the rules, none of them marked as older."""
    found, before = _found(user, question, Policy()), _found(user, question, WITHOUT)
    return found.ids == before.ids and all(hit.older_than is None for hit in found)


def _newest(user: UserMemory, question: str, scene: Scene) -> bool:
    return _found(user, question, Policy()).ids[:1] == (f"said {len(scene.sentences) - 1}",)


def _found(user: UserMemory, question: str, policy: Policy) -> Recall:
    return user.recall(question, k=5, reinforce=False, policy=policy)
