"""Are versions of one statement told from statements that only look alike, without knowing what words mean?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from adaptive_memory_core.cue.time.intent import NO_INTENT
from adaptive_memory_core.records import Hit, Record, Scored
from adaptive_memory_core.score.newest_first import NewestFirstQuery, newest_first
from tests.score.test_newest_first import in_that_order
from tests.tables import rows

HERE = Path(__file__).parent
FILLER = "Good that you ask, this is worth a closer look. Let us go through it step by step, and see what helps you. "


def found(cue: str, *texts: str) -> Sequence[Scored]:
    """What comes of these texts, best first and a day apart, when the cue is asked."""
    hits = [Hit(Record(one, one, created_at=float(day)), 0.9 - 0.1 * day, one) for day, one in enumerate(texts)]
    return newest_first(in_that_order(hits), NewestFirstQuery(cue, "speaker"), NO_INTENT, reworded=False)


def newest(cue: str, *texts: str) -> str:
    return found(cue, *texts)[0].text


def untouched(cue: str, *texts: str) -> bool:
    after = found(cue, *texts)
    return [one.text for one in after] == list(texts) and all(one.older_than is None for one in after)


@pytest.mark.parametrize(("cue", "old", "new"), rows(HERE / "same_statement.txt"))
def test_what_differs_in_one_span_comes_newest_first(cue: str, old: str, new: str) -> None:
    assert newest(cue, old, new) == new
    if "now" not in new:
        assert newest(cue, new, old) == old  # whichever is the newer one


@pytest.mark.parametrize("row", rows(HERE / "looks_alike.txt"), ids=" | ".join)
def test_what_only_looks_alike_is_left_alone(row: tuple[str, ...]) -> None:
    assert untouched(*row)


def test_an_event_that_may_have_happened_besides_is_marked_as_a_guess() -> None:
    """Nothing tells "was founded by" from "went to the beach on" but what words mean."""
    best, second = found(
        "when did we go to the beach?", "We went to the beach on 3 May.", "We went to the beach on 12 June."
    )
    assert (best.text, second.hit.older_perhaps) == ("We went to the beach on 12 June.", True)
    best, second = found("where does Ilse live?", "Ilse lives in Oslo.", "Ilse lives in Turin.")
    assert (second.older_than, second.hit.older_perhaps) == (best.id, False)


@pytest.mark.parametrize("old", ["Ilse lives in Oslo.", FILLER * 2 + "Ilse lives in Oslo. " + FILLER])
def test_a_fact_within_a_long_message_is_found_and_marked_as_a_guess(old: str) -> None:
    new = f"{FILLER * 2}Ilse lives in Turin. {FILLER}"
    best, second = found("where does Ilse live?", old, new)
    assert (best.text, best.older_than) == (new, None)
    assert (second.older_than, second.hit.older_perhaps) == (new, True)


def test_a_long_message_about_others_is_left_alone() -> None:
    assert untouched("where does Ilse live?", "Ilse lives in Oslo.", f"{FILLER * 3}Colm lives in Turin. {FILLER}")
    assert untouched("where does Ilse live?", "Ilse lives in Oslo.", f"{FILLER * 3}Does Ilse live in Turin? {FILLER}")


def test_what_has_less_of_the_question_than_the_first_hit_is_left_alone() -> None:
    texts = ("Nadia's locker number is 114.", "Nadia gets up at seven.", "Nadia gets up at eight.")
    assert untouched("what is Nadia's locker number?", *texts)
    assert newest("when does Nadia get up?", *texts[1:]) == texts[2]


def test_neither_scores_nor_similarities_matter() -> None:
    """Any embedder, and any scale of scores, gives the same order."""
    texts = ("Ilse lives in Oslo.", "Colm lives in Rome.", "Ilse lives in Turin.")
    for similarity, score in ((0.02, 0.001), (0.93, 0.95), (-0.4, 0.5)):
        hits = [Hit(Record(text, text, created_at=float(day)), similarity, text) for day, text in enumerate(texts)]
        given = in_that_order(hits, [score - day * 1e-5 for day in range(len(texts))])
        after = newest_first(given, NewestFirstQuery("where does Ilse live?", "speaker"), NO_INTENT, reworded=False)
        assert [one.text for one in after] == [texts[2], texts[0], texts[1]]
