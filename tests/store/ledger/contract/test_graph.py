"""Does a ledger keep the graph: counted, found by name, in step with the words, and gone without a trace?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adaptive_memory_core.flow.ports.graph import GraphEntry, Links, UnembeddedName
from adaptive_memory_core.graph.build import build_passage, word_key
from adaptive_memory_core.graph.ports import SENTENCE_BITS
from adaptive_memory_core.records import Scope
from tests.store.ledger.reads import with_words

if TYPE_CHECKING:
    from adaptive_memory_core.store.ledger.sql_ledger import Ledger

ANN, BOB = Scope("ann"), Scope("bob")


def entry(stored_id: str, text: str, title: str | None = None, word_row: int | None = None) -> GraphEntry:
    vector = np.array([1.0, 2.0], dtype="<f2").tobytes()
    return GraphEntry(stored_id, build_passage(text, title, lambda _: set()), vector, word_row)


def test_names_words_and_titles_are_counted_by_user(ledger: Ledger) -> None:
    ledger.graph.put(ANN, [entry("a", "Zoe met Rupert. Rupert left.", "Zoe"), entry("b", "Zoe sang.")])
    ledger.graph.put(BOB, [entry("c", "Zoe slept.")])
    with ledger.graph.view(ANN) as graph:
        assert (graph.passages, graph.sentences) == (2, 3)
        assert graph.frequencies(["zoe", "rupert", "nobody"]) == {"zoe": 2, "rupert": 1}
        keys = graph.keys_of(["a", "b", "c"])
        assert set(keys) == {"a", "b"}
        first = keys["a"] << SENTENCE_BITS
        assert graph.mentions("rupert", most=9).tolist() == [first, first + 1]
        assert graph.mentions("rupert", most=1).tolist() == [first + 1]
        assert graph.titled(["zoe"])["zoe"].tolist() == [keys["a"]]
        assert set(graph.names_in(np.array([first + 1]))[first + 1]) == {"rupert", "zoe"}
        assert graph.word_frequencies([word_key("zoe"), word_key("slept")]) == {word_key("zoe"): 3}
        rows = graph.rows(np.array(sorted(keys.values())))
        assert rows.vectors is not None
        assert rows.vectors.tolist() == [[1.0, 2.0]] * 2
        assert rows.bounds.tolist() == [0, 4, 7, 9]
        assert graph.ids_of(keys.values()) == {key: one for one, key in keys.items()}
    assert ledger.graph.titles(ANN, ["zoe", "rupert"]) == {"zoe"}
    assert ledger.graph.titles(BOB, ["zoe"]) == set()
    assert ledger.graph.faults() == []


def test_what_is_dropped_leaves_nothing(ledger: Ledger) -> None:
    ledger.graph.put(ANN, [entry("a", "Zoe met Rupert.", "Rome"), entry("b", "Zoe sang.")])
    ledger.graph.drop(["a"])
    with ledger.graph.view(ANN) as graph:
        assert graph.frequencies(["zoe", "rupert", "rome"]) == {"zoe": 1}
        assert graph.word_frequencies([word_key("met"), word_key("sang")]) == {word_key("sang"): 1}
        assert graph.passages == 1
    assert ledger.graph.faults() == []
    ledger.graph.clear()
    assert ledger.graph.stored_ids() == set()
    with ledger.graph.view(ANN) as graph:
        assert (graph.passages, graph.frequencies(["zoe"])) == (0, {})


def test_with_titles_from_another_key_it_begins_anew(ledger: Ledger) -> None:
    assert (ledger.graph.made_as(), ledger.graph.made_as("title")) == (None, "title")
    ledger.graph.put(ANN, [entry("a", "Zoe met Rupert.", "Rome")])
    assert ledger.graph.made_as("title") == "title"
    assert ledger.graph.stored_ids() == {"a"}
    assert ledger.graph.made_as("headline") == "headline"
    assert (ledger.graph.stored_ids(), ledger.graph.titles(ANN, ["rome"])) == (set(), set())
    ledger.graph.clear()  # which leaves the key
    ledger.graph.put(ANN, [entry("a", "Zoe met Rupert.", "Rome")])
    assert ledger.graph.made_as("headline") == "headline"
    assert ledger.graph.stored_ids() == {"a"}


def test_what_gave_way_takes_its_place_back_only_where_that_is_asked_for(ledger: Ledger) -> None:
    ledger.graph.made_as("title")
    ledger.graph.made_as("headline")
    ledger.graph.put(ANN, [entry("a", "Zoe met Rupert.", "Rome")])
    assert ledger.graph.made_as("title") == "headline"
    assert ledger.graph.stored_ids() == {"a"}
    assert ledger.graph.made_as("title", from_start=True) == "title"
    assert ledger.graph.stored_ids() == set()
    assert ledger.graph.made_as("headline") == "title"


def test_it_follows_the_rows_of_words(ledger: Ledger) -> None:
    with_words(ledger, ANN, "a", "b")
    behind = ledger.graph.behind(9)
    assert [one for _, one in behind] == ["a", "b"]
    assert ledger.graph.waiting(ANN, 9) == 2
    ledger.graph.put(ANN, [entry(one, "Zoe sang.", word_row=number) for number, one in behind])
    assert ledger.graph.behind(9) == []
    with_words(ledger, ANN, "a", text="other words")  # it says something else now
    assert [one for _, one in ledger.graph.behind(9)] == ["a"]
    ledger.graph.put(ANN, [entry("a", "Late.", word_row=behind[0][0])])  # made of what it said before
    assert ledger.graph.stored_ids() == {"b"}
    ledger.mirror.drop(["b"])
    ledger.graph.drop_gone()
    assert ledger.graph.stored_ids() == set()


def test_one_user_is_followed_without_the_others(ledger: Ledger) -> None:
    with_words(ledger, ANN, "a", "b")
    with_words(ledger, BOB, "c")
    behind = ledger.graph.behind_of(ANN, 9, 0)
    assert [one for _, one in behind] == ["a", "b"]
    assert [one for _, one in ledger.graph.behind_of(ANN, 9, behind[0][0])] == ["b"]
    assert ledger.graph.behind_of(Scope("nobody"), 9, 0) == []
    ledger.graph.put(ANN, [entry(one, "Zoe sang.", word_row=number) for number, one in behind])
    assert ledger.graph.behind_of(ANN, 9, 0) == []


def test_what_was_found_of_links_is_kept_by_user_and_goes_with_the_graph(ledger: Ledger) -> None:
    links = ledger.graph.links
    assert (links.of(ANN), links.anybody()) == (None, False)
    links.keep(ANN, Links(40, 0.625))
    assert (links.of(ANN), links.of(BOB), links.anybody()) == (Links(40, 0.625), None, False)
    links.keep(ANN, Links(90, 0.75, wanted=True, made=True))
    assert (links.of(ANN), links.anybody()) == (Links(90, 0.75, wanted=True, made=True), True)
    ledger.graph.clear()
    assert (links.of(ANN), links.anybody()) == (None, False)


def test_a_sample_is_of_one_users_records_scattered_over_all(ledger: Ledger) -> None:
    ids = [f"r{number}" for number in range(400)]
    with_words(ledger, ANN, *ids)
    with_words(ledger, BOB, "c")
    assert ledger.graph.links.sample(ANN, 1_000) == (400, ids)
    count, some = ledger.graph.links.sample(ANN, 100)
    assert count == 400
    assert 60 <= len(some) <= 140
    assert min(map(ids.index, some)) < 40
    assert max(map(ids.index, some)) > 360
    assert ledger.graph.links.sample(Scope("nobody"), 100) == (0, [])


JON, JOHN = [1.0, 0.0], [0.9, 0.43588989]  # their cosine is .9; names in general have a share of it in common


def compared(ledger: Ledger, **vectors: list[float]) -> list[str]:
    """Gives these names their vectors, in units of whatever length, and compares all; the names that had none."""
    waiting = ledger.graph.alike.unembedded(0, 99)
    given = [vectors.get(one.name.replace(" ", "_"), [0.0, 0.0]) for one in waiting]
    assert ledger.graph.alike.keep("theirs", waiting, np.reshape(given, (len(waiting), 2)))
    while ledger.graph.alike.compare(2):
        pass
    return sorted(one.name for one in waiting)


def alike(ledger: Ledger, scope: Scope, *names: str, least: float = 0.7) -> dict[str, dict[str, float]]:
    with ledger.graph.view(scope) as graph:
        found = graph.alike(names, least)
    return {name: {one: round(like, 1) for one, like in others.items()} for name, others in found.items()}


def test_names_that_are_like_each_other_are_found_both_ways_and_by_user(ledger: Ledger) -> None:
    ledger.graph.put(ANN, [entry("a", "Jon Smith met Rupert."), entry("b", "We saw John Smith.")])
    ledger.graph.put(BOB, [entry("c", "We saw John Smith.")])
    assert compared(ledger, jon_smith=JON, john_smith=JOHN) == ["john smith", "john smith", "jon smith", "rupert"]
    assert alike(ledger, ANN, "jon smith", "john smith", "nobody") == {
        "jon smith": {"john smith": 0.9},
        "john smith": {"jon smith": 0.9},
    }
    assert alike(ledger, BOB, "john smith") == {}
    assert alike(ledger, ANN, "jon smith", least=0.95) == {}
    with ledger.graph.view(ANN) as graph:
        assert graph.nearest_names({"joan smith": JON}, 0.95) == {"joan smith": {"jon smith": 1.0}}
        assert set(graph.nearest_names({"joan smith": JON}, 0.7)["joan smith"]) == {"jon smith", "john smith"}
        assert graph.nearest_names({"joan smith": [1.0, 0.0, 0.0]}, 0.7) == {}  # of another embedder
        assert graph.nearest_names({"eve miller": JON}, 0.7) == {}  # spelled otherwise
    assert ledger.graph.faults() == []


def test_who_comes_later_is_compared_with_all_and_who_goes_leaves_nothing(ledger: Ledger) -> None:
    ledger.graph.put(ANN, [entry("a", "Jon Smith met Rupert.")])
    compared(ledger, jon_smith=JON)
    ledger.graph.put(ANN, [entry("b", "We saw John Smith.")])
    assert compared(ledger, john_smith=JOHN) == ["john smith"]
    assert alike(ledger, ANN, "jon smith") == {"jon smith": {"john smith": 0.9}}
    ledger.graph.put(ANN, [entry("b", "We saw John Smith again.")])  # a name that stays keeps its vector
    assert compared(ledger) == []
    ledger.graph.drop(["b"])
    assert alike(ledger, ANN, "jon smith", "john smith") == {}
    assert ledger.graph.faults() == []
    ledger.graph.put(ANN, [entry("b", "We saw John Smith.")])
    assert compared(ledger, john_smith=JOHN) == ["john smith"]
    ledger.graph.clear()
    ledger.graph.put(ANN, [entry("a", "Jon Smith met Rupert.")])
    assert alike(ledger, ANN, "jon smith", "john smith") == {}
    assert compared(ledger) == ["jon smith", "rupert"]


def test_a_name_that_is_gone_gets_no_vector_and_neither_does_any_from_another_embedder(ledger: Ledger) -> None:
    ledger.graph.put(ANN, [entry("a", "Jon Smith met Rupert.")])
    waiting = ledger.graph.alike.unembedded(0, 99)
    gone = [UnembeddedName(one.key, one.user, f"{one.name} the elder") for one in waiting]
    assert ledger.graph.alike.keep("theirs", gone, np.ones((2, 2)))
    assert ledger.graph.alike.unembedded(0, 99) == waiting
    assert ledger.graph.alike.unembedded(waiting[0].key, 99) == waiting[1:]
    ledger.notes.keep_embedder("new", 2)
    assert not ledger.graph.alike.keep("old", waiting, np.ones((2, 2)))
    assert ledger.graph.alike.unembedded(0, 99) == waiting
    assert ledger.graph.alike.keep("new", waiting, np.ones((2, 2)))
    assert ledger.graph.alike.unembedded(0, 99) == []


def test_what_is_left_of_names_is_a_fault(ledger: Ledger) -> None:
    ledger.graph.put(ANN, [entry("a", "Jon Smith met Rupert."), entry("b", "We saw John Smith.")])
    compared(ledger, jon_smith=JON, john_smith=JOHN)
    with ledger.transaction(), ledger.file.writing() as sql:
        sql.execute(
            "DELETE FROM graph_alike WHERE likeness > 0.5 AND name_key = (SELECT min(name_key) FROM graph_alike)"
        )
    assert ledger.graph.faults() == ["1 names are like others that are gone."]
