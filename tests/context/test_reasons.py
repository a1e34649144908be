"""The reasons that explain() gives for each hit, in words."""

from __future__ import annotations

import pytest

from adaptive_memory_core import AdaptiveMemory, Policy, Record, Scored
from adaptive_memory_core.context.reasons import reasons
from adaptive_memory_core.fields import Fields
from adaptive_memory_core.records import Hit, ReadState

SAID = {"words": 5.0, "baseline": 0.2, "spread": 0.1}
QUERY = "Which machines did Turing build in Bletchley?"


def scored(
    text: str,
    *,
    name: str = "a",
    similarity: float = 0.6,
    reads: int = 0,
    said: dict[str, float] = SAID,
    **parts: float,
) -> Scored:
    hit = Hit(Record(name, text, read=ReadState(retrieval_count=reads)), similarity, name, said)
    return Scored(hit, 0.5, {"similarity": 0.1, "words": 0.1, **parts}, {"similarity": similarity, **said})


def why(hit: Scored, *others: str, query: str = QUERY) -> str:
    (reason,) = reasons([hit], [Record(str(number), text) for number, text in enumerate(others)], query, Fields())
    return reason


def test_words_vectors_reads_and_feedback_make_one_sentence() -> None:
    hit = scored("Turing built a machine", reads=2, asked_before=0.1)
    assert why(hit, "washing machines", "they built it", "machine built") == (
        "Matches 2 of 4 words (rare: turing); vectors are close (0.50 above unrelated text); read twice; "
        "helpful for a similar question."
    )


def test_a_word_that_most_candidates_have_is_not_rare() -> None:
    assert why(scored("Turing")).startswith("Matches 1 of 4 words; ")
    assert why(scored("Turing"), "Turing").startswith("Matches 1 of 4 words; ")
    assert why(scored("Turing"), "x", "y").startswith("Matches 1 of 4 words (rare: turing); ")


def test_words_that_do_not_match_and_a_query_without_words() -> None:
    assert why(scored("a cat")).startswith("Matches none of the words; ")
    assert why(scored("a cat"), query="tea").startswith("Does not match the word; ")
    assert why(scored("a cat"), query="what is it").startswith("Vectors are ")


def test_words_match_in_the_language_of_the_text() -> None:
    text = "Der Zahnarzt hat am Dienstag um neun die Häuser gesehen"
    assert why(scored(text), "x", "y", query="Wo ist das Haus?") == (
        "Matches 1 of 1 word (rare: haus); vectors are close (0.50 above unrelated text)."
    )
    assert why(scored("東京都"), "x", "y", query="東京").startswith("Matches 1 of 1 word (rare: ")


@pytest.mark.parametrize(
    ("similarity", "expected"),
    [(0.6, "close (0.50 above"), (0.35, "somewhat close (0.19 above"), (0.25, "no closer than unrelated text")],
)
def test_closeness_is_measured_from_unrelated_text(similarity: float, expected: str) -> None:
    assert expected in why(scored("Turing", similarity=similarity))


def test_vectors_alone_have_their_similarity() -> None:
    assert why(scored("Turing", said={})) == "Similarity is 0.60."


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ({"asked_before": -0.1}, "not helpful for a similar question"),
        ({"useful": 0.1}, "helpful before"),
        ({"useful": 0.1, "asked_before": 0.1}, "helpful for a similar question"),
        ({"speaker": 0.1}, "said by the person named in the query"),
        ({"dated": 0.1}, "mentions a time"),
        ({"around": 0.1}, "nearby turns match"),
        ({"answers": 0.1}, "follows a matching question"),
        ({"sql": 0.1}, "found by sql"),
        ({"graph": 0.1}, "linked to names in the query"),
        ({"reranker": 0.1}, "chosen by the reranker"),
    ],
)
def test_each_part_that_speaks_for_a_hit_has_its_words(parts: dict[str, float], expected: str) -> None:
    assert why(scored("Turing", **parts)).endswith(f"; {expected}.")  # type: ignore[arg-type] # only names of parts
    nothing = dict.fromkeys(parts, 0.0)
    assert not why(scored("Turing", **nothing)).endswith(f"; {expected}.")  # type: ignore[arg-type] # only names of parts


def test_a_reason_is_one_line_whatever_the_query_is() -> None:
    query = "a\nb" * 3 + "x" * 5_000 + " \x1b[31mred\x07"
    text = query + " Turing"
    assert "\n" not in why(scored(text), "x", "y", query=query)
    assert "\x1b" not in why(scored(text), "x", "y", query=query)
    assert len(why(scored(text), "x", "y", query=query)) < 400


def test_a_recall_explains_each_of_its_hits(memory: AdaptiveMemory) -> None:
    ana = memory.for_user("ana")
    ana.remember_many(["green tea", "coffee at nine", "a walk by the lake"])
    ana.recall("green tea")
    answer = ana.recall("green tea", k=2)
    lines = answer.explain().splitlines()
    assert [line for line in lines if line[:3] in ("1. ", "2. ")] == lines[4:6]
    assert lines[4].startswith("1. Matches 2 of 2 words (rare: green, tea); vectors are ")
    assert lines[4].endswith("; read once.")
    alone = ana.recall("green tea", k=1, policy=Policy(channels=("dense",))).explain()
    assert "\n1. Similarity is 1.00; read once." in alone
