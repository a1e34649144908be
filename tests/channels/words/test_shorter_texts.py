"""Are vectors doubted only where they find texts that are hardly longer than the cue, and words find longer ones?"""

from __future__ import annotations

import re
from contextlib import closing
from math import log

from chromadb import Collection
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import AdaptiveMemory, LocalEmbedder, Recall
from adaptive_memory_core.channels.fuse import vectors_beside_words
from adaptive_memory_core.channels.told_apart import ToldApart
from adaptive_memory_core.channels.words.lengths_found import BEST, LengthsFound, lengths_found
from adaptive_memory_core.channels.words.shorter_texts import shortness, shortness_of_each
from adaptive_memory_core.policy import Fusion

PAGE = (
    "From 2004 to 2005 Brandt could teach quantum gravity in Tucson; the college that paid for it was a small one "
    "at the edge of the desert, which was closed soon afterwards.",
    "The group that Brandt led in Uppsala until 2004 wrote on quantum gravity and on beauty in theories, and "
    "became a book for a wide public.",
    "In 2005 Brandt left Tucson for the coast, where a university had offered her a laboratory of her own and a house "
    "with a garden above the sea.",
    "Before 2004 Brandt had studied mathematics in Frankfurt; her thesis on black holes and quantum foam was awarded "
    "the prize of the faculty.",
    "A prize for young physicists has been named after Ilse Brandt since 2011; it is given each spring to who has "
    "written the best thesis on gravity.",
)
YEARS = [
    f"In {year} Brandt was on leave, and nobody at the faculty, which has a photograph of the sea from each of her "
    "journeys on the wall of its kitchen, knows where she was or what she did there."
    for year in range(1998, 2006)
]
HEADINGS = [f"Ilse Brandt, {of}" for of in ("physicist", "teacher", "scientist", "lecturer", "scholar", "author")]
HEADINGS += ["Ilse Brandt", "Brandt, Ilse", "Dr Ilse Brandt", "Professor Ilse Brandt", "Ilse Brandt: work"]
LABELS = ("theft", "a robbery", "stolen goods", "lost luggage", "burglary", "fraud", "lost phone", "violence")
LETTERS = [
    f"letter number {n} was written in an evening of my holidays, when the sea was grey and the bus was late, "
    "and says hardly more of the town than that"
    for n in range(60)
]
NOTES = [f"note number {n} about the weather of day {n}, which was as grey as the one before it" for n in range(60)]
CUE = "In which desert was Ilse Brandt a teacher from 2004 to 2005?"


def of_lengths(near: int, worded: int, count: int = BEST) -> LengthsFound:
    return LengthsFound([log(near)] * count, [log(worded)] * count)


@given(st.integers(1, 5_000), st.integers(1, 5_000), st.integers(1, 500), st.integers(1, BEST))
def test_it_is_a_share_and_the_longer_what_vectors_find_the_less(near: int, worded: int, cue: int, count: int) -> None:
    found = [shortness(of_lengths(times * near, worded, count), cue) for times in (1, 2, 4)]
    assert all(0.0 <= one <= 1.0 for one in found)
    assert found == sorted(found, reverse=True)


@given(st.integers(1, 5_000), st.integers(1, 500))
def test_where_words_find_texts_as_short_nothing_is_doubted(length: int, cue: int) -> None:
    assert shortness(of_lengths(length, length), cue) == 0.0


@given(st.integers(1, 500), st.integers(1, 5_000))
def test_texts_twice_as_long_as_the_cue_may_answer(cue: int, worded: int) -> None:
    assert shortness(of_lengths(2 * cue, worded), cue) == 0.0


def test_where_a_channel_finds_nothing_nothing_is_doubted() -> None:
    assert shortness(lengths_found(["Ilse", "Brandt"], [0.9, 0.8], [0.0, 0.0]), cue=40) == 0.0
    assert shortness(lengths_found([], [], []), cue=40) == 0.0


def test_a_heading_does_not_come_before_what_answers(collection: Collection) -> None:
    with closing(AdaptiveMemory(collection, embedder=LocalEmbedder())) as memory:
        alice, bob = memory.for_user("alice"), memory.for_user("bob")
        alice.remember_many([*HEADINGS, *PAGE, *YEARS, *NOTES])
        bob.remember_many([*PAGE, *YEARS, *NOTES])
        found, without = alice.recall(CUE, k=3), bob.recall(CUE, k=3)
        assert found[0].text == PAGE[0]
        assert found[0].signals["short"] > 0.5
        assert "hardly longer than the cue" in found.explain()
        assert "short" not in without[0].signals
        assert "hardly longer than the cue" not in without.explain()
        assert percent_of_vectors(found) < 0.75 * percent_of_vectors(without)
        replayed = alice.replay(found.policy)
        assert [one.reproduced for one in replayed] == [True]
        assert not replayed.changed


def test_vectors_that_find_labels_count_more_where_words_match_long_texts_by_accident(collection: Collection) -> None:
    with closing(AdaptiveMemory(collection, embedder=LocalEmbedder())) as memory:
        alice, bob = memory.for_user("alice"), memory.for_user("bob")
        alice.remember_many([*LABELS, *LETTERS])
        bob.remember_many([*LABELS, *(letter[:24] for letter in LETTERS)])
        found, without = (user.recall("someone stole my suitcase in the evening", k=3) for user in (alice, bob))
        assert found[0].text == "lost luggage"
        assert found[0].signals["chance"] > 0.5
        assert "as labels are" in found.explain()
        assert "short" not in without[0].signals
        assert percent_of_vectors(found) > percent_of_vectors(without) + 5


def percent_of_vectors(found: Recall) -> float:
    """How many percent they count, as it says."""
    said = re.search(r"vectors count (\d+) %", found.explain())
    assert said is not None
    return float(said[1])


def test_of_turns_nothing_is_told_by_their_length(collection: Collection) -> None:
    turns = [
        {"text": text, "metadata": {"session": "s", "seq": n, "speaker": "ab"[n % 2]}}
        for n, text in enumerate([*HEADINGS, *PAGE, *YEARS])
    ]
    with closing(AdaptiveMemory(collection, embedder=LocalEmbedder())) as memory:
        alice, bob = memory.for_user("alice"), memory.for_user("bob")
        alice.remember_many(turns)
        bob.remember_many([*turns, *NOTES, *HEADINGS])
        assert all("short" not in hit.signals for hit in alice.recall(CUE, k=5))
        told = {hit.record.metadata.get("session"): hit.signals["short"] for hit in bob.recall(CUE, k=60)}
        assert told["s"] == 0.0
        assert told[None] > 0.0


@given(
    st.lists(st.integers(0, 400), min_size=1, max_size=9), st.integers(1, 300), st.integers(1, 300), st.integers(1, 99)
)
def test_each_is_judged_by_its_own_length_and_none_is_less_short_than_the_nearest(
    sizes: list[int], near: int, worded: int, cue: int
) -> None:
    texts, found = ["x" * size for size in sorted(sizes)], of_lengths(near, worded)
    every = [True] * len(texts)
    by_length = shortness_of_each(texts, every, found, cue, by_own_length=True)
    assert by_length == sorted(by_length, reverse=True)
    assert min(by_length) >= shortness(found, cue)
    assert len(set(by_length)) <= 3
    assert set(shortness_of_each(texts, every, found, cue, by_own_length=False)) == {shortness(found, cue)}
    assert not any(shortness_of_each(texts, [False] * len(texts), found, cue, by_own_length=True))


def test_a_label_beside_conversations_is_told_by_its_own_length(collection: Collection) -> None:
    """The nearest are turns and notes as long as an answer, so nothing is told by them."""
    turns = [
        {"text": f"{text}, and then we went home", "metadata": {"session": "s", "seq": n, "speaker": "ab"[n % 2]}}
        for n, text in enumerate([*LETTERS[:20], "my suitcase was gone", "someone had taken the suitcase"])
    ]
    cue, notes = "someone stole my suitcase in the evening", [f"{one}; the suitcase was there" for one in LETTERS[20:]]
    with closing(AdaptiveMemory(collection, embedder=LocalEmbedder())) as memory:
        alice = memory.for_user("alice")
        alice.remember_many([*turns, *notes, *LABELS])
        found = alice.recall(cue, k=60)
        short = {hit.text: hit.signals["short"] for hit in found}
        assert short["lost luggage"] == 1.0
        assert {of for text, of in short.items() if text not in LABELS} == {0.0}
        assert "for short records of the other kind" in found.explain()
        assert not alice.replay(found.policy).changed


def test_labels_among_texts_of_all_lengths_are_told_by_their_own(collection: Collection) -> None:
    """No conversation: where words find far longer texts than vectors do, the records are of several kinds."""
    middling = [f"what was stolen, lost or taken away from day {n} of my holidays to the last" for n in range(20)]
    cue = "someone stole my suitcase in the evening"
    with closing(AdaptiveMemory(collection, embedder=LocalEmbedder())) as memory:
        alice, bob = memory.for_user("alice"), memory.for_user("bob")
        alice.remember_many([*LABELS, *middling, *(f"{one} " * 3 for one in LETTERS)])
        bob.remember_many([*LABELS, *middling])
        short = {hit.text: hit.signals["short"] for hit in alice.recall(cue, k=90)}
        assert short["lost luggage"] == 1.0
        assert all(of < 1.0 for text, of in short.items() if len(text) > 60)
        for found in (bob.recall(cue, k=90), alice.recall(f"{cue} when Ana Brandt was in Rome", k=90)):
            assert len({hit.signals.get("short", 0.0) for hit in found}) == 1


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0))
def test_it_makes_the_chance_tell_more(chance: float, short: float) -> None:
    fusion, given_as = Fusion(), ToldApart()
    plain, found = (vectors_beside_words(chance, fusion, given_as, one) for one in (0.0, short))
    assert found <= 2.0 * plain + 1e-12
    if chance**fusion.doubt <= fusion.dense_least / 2.0:
        assert found <= plain + 1e-12
    if chance**fusion.doubt >= fusion.dense_least:
        assert found >= plain
