"""Names by a function of the caller's, and by spaCy where it is installed, compared as ours are."""

from __future__ import annotations

from typing import Any

import pytest

from adaptive_memory_core import InvalidInputError
from adaptive_memory_core.entities import SpacyEntities
from adaptive_memory_core.errors import MissingExtraError
from adaptive_memory_core.models.callbacks import as_extract
from adaptive_memory_core.models.extras import load


def test_a_function_is_named_by_where_it_is_or_by_its_own_name() -> None:
    def towns(sentence: str) -> list[str]:
        return ["Köln", "köln", ""]

    made: Any = as_extract(towns)
    assert made("whatever") == ["koln"]
    assert made.name.endswith("towns")


@pytest.mark.parametrize("given", ["en_core_web_sm", SpacyEntities, 7])
def test_what_is_no_function_is_refused(given: Any) -> None:
    with pytest.raises(InvalidInputError, match="entities is"):
        as_extract(given)


def test_a_pipeline_that_you_have_loaded_finds_names_and_no_dates() -> None:
    spacy = pytest.importorskip("spacy", reason="the extra spacy is not installed")
    pipeline = spacy.blank("en")
    with pytest.raises(InvalidInputError, match="finds no entities"):
        SpacyEntities(pipeline)
    rules = [{"label": "PERSON", "pattern": "Ada Lovelace"}, {"label": "DATE", "pattern": "in 1842"}]
    pipeline.add_pipe("entity_ruler").add_patterns(rules)
    assert SpacyEntities(pipeline)("Ada Lovelace wrote it in 1842.") == ["ada lovelace"]
    assert SpacyEntities(pipeline).name.startswith("spacy:en_")


def test_a_pipeline_that_is_not_there_says_what_to_install() -> None:
    with pytest.raises(MissingExtraError, match="spacy"):
        SpacyEntities("xx_no_such_pipeline")


def test_the_usual_pipeline_finds_people() -> None:
    pytest.importorskip("spacy", reason="the extra spacy is not installed")
    if not load("spacy").util.is_package("en_core_web_sm"):
        pytest.skip("the pipeline en_core_web_sm is not installed")
    assert "ada lovelace" in SpacyEntities()("Ada Lovelace met Charles Babbage in London.")
