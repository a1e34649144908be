"""A setting, an argument or a method with a wrong name: the error names the right one, or where it belongs."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import pytest
from chromadb import Collection

import langchain_adaptive_memory
import llama_adaptive_memory
from adaptive_memory_core import AdaptiveMemory, Fields, Keeping, Policy
from adaptive_memory_core.policy import Fusion, Weights
from tests.conftest import word_vectors


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        (Policy, "chanels", "Did you mean 'channels'?"),
        (Policy, "importance", "It belongs in Policy(weights=Weights(importance=...))."),
        (Policy, "vectors", "It belongs in Policy(advanced=Advanced(fusion=Fusion(vectors=...)))."),
        (Policy, "expand", "It belongs in Policy(advanced=Advanced(hierarchy=Hierarchies(expand=...)))."),
        (Policy, "duplicates", "It belongs in Policy(advanced=Advanced(duplicates=...))."),
        (Policy, "duplicate", "Did you mean Policy(advanced=Advanced(duplicates=...))?"),
        (Policy, "lag_seconds", "It belongs in AdaptiveMemory(..., keeping=Keeping(lag_seconds=...))."),
        (Policy, "keeping", "It belongs in AdaptiveMemory(..., keeping=...)."),
        (Fusion, "word", "Did you mean 'words'?"),
        (Weights, "novelty", "Allowed are "),
        (Keeping, "lag", "Allowed are lag_seconds, "),
        (Fields, "speeker", "Did you mean 'speaker'?"),
    ],
)
def test_a_name_that_there_is_not_is_refused_with_the_one_that_is_meant(kind: Any, name: str, said: str) -> None:
    with pytest.raises(TypeError) as told:
        kind(**{name: 1})
    assert str(told.value).startswith(f"{kind.__name__}() got an unexpected keyword argument {name!r}. {said}")


def test_other_mistakes_are_told_as_they_were() -> None:
    too_many: Any = [1] * 99
    with pytest.raises(TypeError, match="positional"):
        Keeping(*too_many)


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("delete", "forget"),
        ("search", "recall"),
        ("add", "remember"),
        ("list", "records"),
        ("get_all", "records"),
        ("edit", "update"),
        ("asearch", "arecall"),
        ("recal", "recall"),
        ("delete_all", "memory.forget_user"),
    ],
)
def test_a_method_of_another_name_is_named(memory: AdaptiveMemory, name: str, right: str) -> None:
    ana = memory.for_user("ana")
    with pytest.raises(AttributeError) as told:
        getattr(ana, name)
    assert str(told.value) == f"'UserMemory' object has no attribute {name!r}. Did you mean {right}()?"
    assert not hasattr(ana, name)
    assert copy.copy(ana).user == "ana"


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("recall", "for_user(user).recall"),
        ("search", "for_user(user).recall"),
        ("aremember", "for_user(user).aremember"),
        ("delete", "for_user(user).forget"),
        ("delete_user", "forget_user"),
        ("get_users", "users"),
    ],
)
def test_a_verb_of_a_user_is_not_one_of_the_memory_and_it_says_where_it_is(
    memory: AdaptiveMemory, name: str, right: str
) -> None:
    with pytest.raises(AttributeError) as told:
        getattr(memory, name)
    assert str(told.value) == f"'AdaptiveMemory' object has no attribute {name!r}. Did you mean {right}()?"


@pytest.mark.parametrize(
    ("verb", "given", "right"),
    [
        ("recall", {"fliter": {"a": 1}}, "'filter'"),
        ("recall", {"threshold": 0.3}, "'min_score' or 'min_similarity'"),
        ("recall", {"score_threshold": 0.3}, "'min_score' or 'min_similarity'"),
        ("recall", {"top_k": 3}, "'k'"),
        ("remember", {"timestamp": 1.0}, "'created_at'"),
        ("remember", {"when": 1.0}, "'created_at'"),
        ("recall", {"recency_weight": 2.0}, "policy=Policy(weights=Weights(recency=...))"),
        ("records", {"where": {"a": 1}}, "'filter'"),
    ],
)
async def test_an_argument_of_another_name_is_named(
    memory: AdaptiveMemory, verb: str, given: dict[str, Any], right: str
) -> None:
    ana = memory.for_user("ana")
    first = () if verb == "records" else ("tea",)
    with pytest.raises(TypeError) as told:
        getattr(ana, verb)(*first, **given)
    assert (
        str(told.value) == f"{verb}() got an unexpected keyword argument {next(iter(given))!r}. Did you mean {right}?"
    )
    with pytest.raises(TypeError, match=re.escape(right)):
        await getattr(ana, f"a{verb}")(*first, **given)
    with pytest.raises(
        TypeError, match=re.escape("'recency'. It belongs in policy=Policy(weights=Weights(recency=...)).")
    ):
        ana.recall("tea", recency=2.0)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'cue'"):
        ana.recall()  # type: ignore[call-arg]


def test_an_option_of_another_name_is_named(collection: Collection) -> None:
    wrong: Any = {"embedding_function": word_vectors}
    with pytest.raises(TypeError, match="Did you mean 'embedder'"):
        AdaptiveMemory(collection, **wrong)


@pytest.mark.parametrize(
    ("name", "langchain", "llama"),
    [
        ("delete", "forget", "forget"),
        ("search", "invoke", "retrieve"),
        ("recall", "invoke", "retrieve"),
        ("add", "add_documents", "memory.remember"),
        ("list", "memory.for_user(user).records", "memory.records"),
    ],
)
def test_a_retriever_names_the_method_that_is_meant(
    memory: AdaptiveMemory, name: str, langchain: str, llama: str
) -> None:
    plain = langchain_adaptive_memory.AdaptiveMemoryRetriever(memory=memory)
    theirs = llama_adaptive_memory.AdaptiveMemoryRetriever.from_memory(memory)
    ranker = llama_adaptive_memory.AdaptiveMemoryPostprocessor(memory)
    for one, right in ((plain, langchain), (theirs, llama)):
        with pytest.raises(AttributeError, match=re.escape(f"Did you mean {right}()?")):
            getattr(one, name)
    with pytest.raises(AttributeError, match="Did you mean forget"):
        ranker.delete  # type: ignore[attr-defined] # noqa: B018


@pytest.mark.parametrize(
    ("name", "langchain", "llama"),
    [
        ("threshold", "'min_score' or 'min_similarity'", "'min_score' or 'min_similarity'"),
        ("score_threshold", "'min_score' or 'min_similarity'", "'min_score' or 'min_similarity'"),
        ("fliter", "'filter'", "'filters'"),
        ("top_k", "'k'", "'similarity_top_k'"),
    ],
)
def test_a_retriever_names_the_argument_that_is_meant(
    memory: AdaptiveMemory, name: str, langchain: str, llama: str
) -> None:
    wrong: Any = {name: 0.3}
    plain = langchain_adaptive_memory.AdaptiveMemoryRetriever(memory=memory, user_id="ana")
    theirs = llama_adaptive_memory.AdaptiveMemoryRetriever.from_memory(memory, "ana")
    calls: list[tuple[Callable[[], object], str]] = [
        (lambda: plain.invoke("tea", **wrong), langchain),
        (lambda: langchain_adaptive_memory.AdaptiveMemoryRetriever(memory=memory, **wrong), langchain),
        (lambda: theirs.retrieve("tea", **wrong), llama),
        (lambda: llama_adaptive_memory.AdaptiveMemoryRetriever.from_memory(memory, **wrong), llama),
        (lambda: llama_adaptive_memory.AdaptiveMemoryPostprocessor(memory, **wrong), llama),
    ]
    for call, right in calls:
        with pytest.raises(TypeError, match=re.escape(f"There is no argument {name!r}. Did you mean {right}")):
            call()
