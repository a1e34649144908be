"""Does the benchmark of several steps measure what it says, on a small set that was made up for it?"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from benchmarks.data import Dataset, Item, load
from benchmarks.multi_hop import corpora, found_in, merged, untitled, without_titles

PASSAGES = [
    ("Teutberga", "She was married to Lothair II."),
    ("Lothair II", "He ruled. His father was Lothair I."),
    ("Lothair I", "He became a monk, and died in the abbey of Prüm."),
    *((f"Queen {n}", "Her husband's father died far away.") for n in range(40)),
]
QUESTIONS = [
    {"id": "q", "query": "Where did the father of Teutberga's husband die?", "gold_ids": ["p0", "p1", "p2"]},
    {"id": "r", "query": "Whose son was the man that Teutberga married?", "gold_ids": ["p0", "p1"]},
]


def write(folder: Path, name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    folder.mkdir(exist_ok=True)
    with gzip.open(folder / name, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def made_up(tmp_path: Path) -> Dataset:
    items = [{"id": f"p{n}", "title": one, "text": f"{one}\n{text}"} for n, (one, text) in enumerate(PASSAGES)]
    write(tmp_path / "family", "corpus.jsonl.gz", items)
    write(tmp_path / "family", "queries.jsonl.gz", QUESTIONS)
    return load(tmp_path, "family")


def arguments(**changes: Any) -> argparse.Namespace:
    given = {
        "embedder": "local",
        "systems": ["hybrid", "paper", "graph"],
        "seed": 0,
        "vectors": None,
        "names_alike": [],
    }
    return argparse.Namespace(**{**given, "corpora": ["merged"], "titles": ["with"], **changes})


def test_the_graph_finds_all_that_a_question_needs(made_up: Dataset) -> None:
    asked = arguments()
    ((title, corpus, questions),) = list(corpora([made_up], asked))
    rows = {row["system"]: row for row in found_in(corpus, questions, asked)}
    assert title == "merged, with titles: family"
    assert rows["graph"]["recall@5"] == "1.000"
    assert float(rows["hybrid"]["recall@5"]) < 1.0
    assert rows["graph"]["over hybrid"].startswith("+")


def test_without_titles_no_text_begins_with_one(made_up: Dataset) -> None:
    ((_, corpus, _),) = list(corpora([made_up], arguments(titles=["without"])))
    assert all(item.title is None and "\n" not in item.text for item in corpus.items)
    assert untitled(made_up.items[0]).text == PASSAGES[0][1]


def test_a_passage_that_two_sets_have_is_in_the_merged_corpus_once(made_up: Dataset) -> None:
    corpus, questions = merged([made_up, Dataset("again", made_up.items, made_up.questions)])
    assert len(corpus.items) == len(PASSAGES)
    assert questions["family"][0].gold_ids == questions["again"][0].gold_ids


def test_a_corpus_without_titles_has_a_memory_of_its_own() -> None:
    rome = Dataset("towns", (Item(id="1", title="Rome", text="Rome\nOld."),), ())
    found = without_titles(rome)
    assert found.name != rome.name
    assert [(one.title, one.text) for one in found.items] == [(None, "Old.")]


def test_names_taken_for_others_stand_beside_the_graph_without(made_up: Dataset) -> None:
    asked = arguments(systems=["graph"], names_alike=[0.8])
    ((_, corpus, questions),) = list(corpora([made_up], asked))
    plain, alike = found_in(corpus, questions, asked)
    assert (plain["system"], alike["system"]) == ("graph", "graph, names 0.8 alike")
    assert alike["over graph"] == "+0.000 (+0.000 to +0.000)"
