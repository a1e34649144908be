"""Is left out what the caller refuses, and what the model has before it already?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import Record
from adaptive_memory_core.score.refusals import IN_CONTEXT, REFUSED, refusal


def test_an_id_or_a_text_in_the_context_bars_its_record() -> None:
    barred = refusal(None, ["a", "Green tea, always."])
    assert barred(Record("a", "anything")) == IN_CONTEXT
    assert barred(Record("b", "green  tea, always")) == IN_CONTEXT
    assert barred(Record("c", "green tea")) is None


def test_a_text_within_a_prompt_bars_its_record_only_as_whole_words() -> None:
    barred = refusal(None, ["Recalled:\n- [fact] Ann lives in Berlin.\n- [fact] Bob is tall."])
    assert barred(Record("a", "Ann lives in Berlin.")) == IN_CONTEXT
    assert barred(Record("b", "Ann lives in Ber")) is None


def test_a_short_text_within_a_prompt_bars_nothing() -> None:
    assert refusal(None, ["we talked about tea for an hour"])(Record("a", "tea")) is None


def test_a_predicate_sees_the_whole_record() -> None:
    barred = refusal(lambda record: record.metadata.get("public") is True, [])
    assert barred(Record("a", "x", metadata={"public": True})) is None
    assert barred(Record("b", "x")) == REFUSED


@given(st.lists(st.text(max_size=40), max_size=5), st.text(min_size=1, max_size=40))
def test_any_texts_will_do(context: list[str], text: str) -> None:
    assert refusal(None, [*context, text])(Record("a", text)) == IN_CONTEXT
