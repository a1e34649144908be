"""Is whoever comes from `as_retriever()` at home? Its arguments, its scores, and what is refused."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from adaptive_memory_core import InvalidInputError, Policy, UserMemory
from langchain_adaptive_memory import AdaptiveMemoryRetriever
from tests.langchain_adaptive_memory.conftest import NewRetriever, NewStore


@pytest.fixture
def plain(new_store: NewStore) -> Any:
    return new_store()


def over(store: Any, **fields: Any) -> AdaptiveMemoryRetriever:
    return AdaptiveMemoryRetriever.from_vectorstore(store, **fields)


@pytest.mark.parametrize(
    "arguments",
    [
        {"search_kwargs": {"k": 2}},
        {"search_type": "similarity", "search_kwargs": {"k": 3, "filter": {"n": {"$gte": 1}}}},
        {"search_type": "similarity_score_threshold", "search_kwargs": {"k": 5, "score_threshold": 0.4}},
        {"search_type": "mmr", "search_kwargs": {"k": 2, "fetch_k": 4, "lambda_mult": 1.0}},
    ],
    ids=str,
)
def test_its_arguments_give_what_it_gives(plain: Any, arguments: dict[str, Any]) -> None:
    expected = {one.id for one in plain.as_retriever(**arguments).invoke("green tea is nice")}
    with over(plain, **arguments) as retriever:
        assert {one.id for one in retriever.invoke("green tea is nice")} == expected


def test_mmr_looks_for_difference(new_store: NewStore) -> None:
    store = new_store(["green tea is nice", "green tea1 is nice", "green tea2 is good", "a car9 drives"])
    with over(store, search_type="mmr", search_kwargs={"k": 2, "lambda_mult": 0.0}) as retriever:
        assert {one.id for one in retriever.invoke("green tea is nice")} != {"tea", "tea1"}
        assert len(retriever.invoke("green tea is nice", fetch_k=2, lambda_mult=1.0)) == 2


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"search_kwargs": {"where_document": {"$contains": "tea"}}}, "where_document"),
        ({"search_kwargs": [("k", 2)]}, "search_kwargs"),
        ({"search_type": "hybrid"}, "hybrid"),
        ({"search_type": "similarity_score_threshold"}, "score_threshold"),
        ({"k": 2, "search_kwargs": {"k": 3}}, "k is given twice"),
        ({"search_kwargs": {"k": 0}}, "k is 0"),
        ({"search_kwargs": {"lambda_mult": 2}}, "lambda_mult is 2"),
        ({"fetch_k": "many"}, "fetch_k"),
        ({"score": "cosine"}, "score is 'cosine'"),
        ({"annotate": "no"}, "annotate"),
    ],
    ids=str,
)
def test_what_means_nothing_here_is_named(new_retriever: NewRetriever, arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInputError, match=named):
        new_retriever(user_id="alice", **arguments)


def test_the_score_can_be_the_plain_similarity(plain: Any) -> None:
    scored = {one.id: 1.0 - far for one, far in plain.similarity_search_with_score("green tea", k=5)}
    with over(plain, k=5, score="similarity") as retriever:
        found = retriever.invoke("green tea")
        assert {one.id: one.metadata["score"] for one in found} == pytest.approx(scored, abs=1e-5)
        blended = retriever.invoke("green tea", score="blend")
        assert blended[0].metadata["score"] == pytest.approx(
            sum(blended[0].metadata["adaptive_memory"]["parts"].values())
        )


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [("filter", [], {"n": 1}), ("user_id", "", "bob"), ("user_key", "", "tenant"), ("lambda_mult", 3, 0.5)],
)
def test_a_field_that_is_set_later_is_checked_at_once(
    new_retriever: NewRetriever, alice: UserMemory, name: str, wrong: Any, right: Any
) -> None:
    retriever = new_retriever(user_id="alice")
    before = getattr(retriever, name)
    with pytest.raises(InvalidInputError):
        setattr(retriever, name, wrong)
    assert getattr(retriever, name) == before
    setattr(retriever, name, right)
    assert getattr(retriever, name) == right
    retriever.invoke("green tea")
    with pytest.raises(ValueError, match="no field"):
        retriever.polcy = Policy()


def test_a_score_threshold_keeps_what_langchain_keeps(new_store: NewStore) -> None:
    cue = "green tea is nice"
    for space in ("l2", "cosine"):
        store = new_store(space=space)
        counts = set()
        for least in (0.0, 0.05, 0.15, 0.25, 0.32, 0.6):
            arguments: Any = {
                "search_type": "similarity_score_threshold",
                "search_kwargs": {"k": 5, "score_threshold": least},
            }
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # LangChain's, of an empty answer or a relevance below 0
                expected = {one.id for one in store.as_retriever(**arguments).invoke(cue)}
            counts.add(len(expected))
            with over(store, **arguments) as retriever:
                assert {one.id for one in retriever.invoke(cue)} == expected, (space, least)
            with AdaptiveMemoryRetriever(memory=store, **arguments) as retriever:
                assert {one.id for one in retriever.invoke(cue)} == expected, (space, least)
        assert len(counts) > 2, "the thresholds tell records apart"
