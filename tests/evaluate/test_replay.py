"""Does a replay say what was kept, dropped and promoted, and what that is worth?"""

from __future__ import annotations

import json
from typing import Any

import pytest

from adaptive_memory_core import Policy, Verdict
from adaptive_memory_core.evaluate.replay import Replay, ReplayedRecall


def recall(number: int, before: str, after: str, **more: Any) -> ReplayedRecall:
    verdicts = {**dict.fromkeys(more.pop("helpful", ""), Verdict.HELPFUL)}
    verdicts |= dict.fromkeys(more.pop("unhelpful", ""), Verdict.UNHELPFUL)
    return ReplayedRecall(
        id=f"r{number}",
        at=float(number),
        step=number,
        cue="tea?",
        k=3,
        before=tuple(before),
        after=tuple(after),
        reasons=dict.fromkeys(set(before) - set(after), "beyond k"),
        verdicts=verdicts,
        reproduced=True,
        **more,
    )


def test_a_recall_says_what_would_have_been_kept_dropped_and_promoted() -> None:
    one = recall(1, "abc", "bda")
    assert (one.kept, one.dropped, one.promoted, one.same) == (("a", "b"), ("c",), ("d",), False)
    assert recall(2, "ab", "ab").same
    assert not recall(3, "ab", "ba").same


def test_measures_are_taken_where_something_was_helpful_and_their_differences_are_paired() -> None:
    replay = Replay(
        Policy(), (recall(1, "ab", "ba", helpful="b"), recall(2, "ab", "ba", helpful="b"), recall(3, "a", ""))
    )
    measured = {one.name: one for one in replay.measures()}
    assert len(replay.judged) == 2
    assert (measured["reciprocal rank"].before, measured["reciprocal rank"].after) == (0.5, 1.0)
    assert measured["recall@k"].difference is not None
    assert measured["recall@k"].difference.mean == 0.0
    assert str(measured["reciprocal rank"].difference) == "0.500 [0.500, 0.500]"
    assert Replay(Policy(), (recall(3, "a", ""),)).measures() == ()


def test_one_judged_recall_has_no_interval() -> None:
    replay = Replay(Policy(), (recall(1, "ab", "ba", helpful="b"),))
    assert {one.difference for one in replay.measures()} == {None}
    assert "no interval" in replay.summary()


def test_questions_of_one_user_are_drawn_together() -> None:
    shared = [recall(one, "ab", "ba" if one % 2 else "ab", helpful="b") for one in range(8)]
    mine = Replay(Policy(), tuple(shared[:4]))
    both = Replay.joined([("ana", mine), ("bob", Replay(Policy(), tuple(shared[4:])))], Policy())
    assert [one.user for one in both] == ["ana"] * 4 + ["bob"] * 4
    assert {one.difference.clusters for one in both.measures() if one.difference is not None} == {2}
    assert {one.difference.clusters for one in mine.measures() if one.difference is not None} == {4}


def test_the_summary_and_the_json_tell_all_of_it() -> None:
    replay = Replay(
        Policy(half_life_days=3),
        (
            recall(1, "abc", "bda", helpful="b", unhelpful="c", unknown=("the channel 'sql' was not asked",)),
            recall(2, "ab", "ab", helpful="a"),
        ),
    )
    assert str(replay).splitlines() == [
        "2 recalls, 1 would have returned something else: 1 hits dropped, 1 promoted. Their own policies reproduce 2 of"
        " them.",
        "NDCG@k: 0.815 before, 1.000 under this policy, difference 0.185 [0.000, 0.369], which is within the noise",
        "recall@k: 1.000 before, 1.000 under this policy, difference 0.000 [0.000, 0.000], which is within the noise",
        "reciprocal rank: 0.750 before, 1.000 under this policy, difference 0.250 [0.000, 0.500], which is within the"
        " noise",
        "unhelpful hits: 1 before, 0 under this policy",
        "1 hits of the judged recalls would be new, so there is no feedback on them",
        "unknown of 1: the channel 'sql' was not asked",
    ]
    told = json.loads(replay.to_json())
    assert told["policy"]["half_life_days"] == 3
    assert told["recalls"][0]["promoted"] == ["d"]
    assert told["recalls"][0]["reasons"] == {"c": "beyond k"}
    assert told["recalls"][0]["verdicts"] == {"b": "helpful", "c": "unhelpful"}
    assert "user" not in told["recalls"][0]
    assert told["measures"][0]["difference"]["low"] == pytest.approx(0.0)
    assert told["unknown"] == {"the channel 'sql' was not asked": 1}


def test_a_replay_is_a_sequence() -> None:
    replay = Replay(Policy(), (recall(1, "a", "a"), recall(2, "a", "b")))
    assert [one.id for one in replay] == ["r1", "r2"]
    assert (replay[1].id, [one.id for one in replay[:1]], len(replay), len(replay.changed)) == ("r2", ["r1"], 2, 1)
    assert Replay(Policy(), ()).summary().startswith("0 recalls")
