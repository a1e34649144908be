"""Are the nouns what they promise? Frozen values, and field names that cannot clash."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import Cue, Fields, PolicyError, ReadState, Record, Scope, Scored, Verdict
from adaptive_memory_core.identity import record_id, scoped_id
from adaptive_memory_core.records import NEVER_READ
from adaptive_memory_core.reports import Dropped, Hit

names = st.text(min_size=1, max_size=30)
users = st.none() | names


@pytest.mark.parametrize("noun", [ReadState, Record, Cue, Hit, Scored, Dropped, Fields])
def test_a_noun_is_a_frozen_value_with_slots(noun: Any) -> None:
    assert vars(noun)["__dataclass_params__"].frozen
    assert "__slots__" in vars(noun)


def test_a_scope_cannot_be_changed_in_place() -> None:
    scope = Scope("ana")
    for name in ("user", "over", "another"):
        with pytest.raises(AttributeError):
            setattr(scope, name, "ben")


def test_a_record_cannot_be_changed_in_place() -> None:
    with pytest.raises(FrozenInstanceError):
        Record("a", "text").text = "other"  # type: ignore[misc]


def test_an_untouched_record_was_never_read() -> None:
    assert Record("a", "text").read == NEVER_READ == ReadState()
    assert (NEVER_READ.last_read, NEVER_READ.retrieval_count, NEVER_READ.remembered) == (None, 0, False)
    assert (NEVER_READ.strength, NEVER_READ.pinned) == (1.0, False)


def test_unknown_is_none_and_not_0() -> None:
    record = Record("a", "text")
    unknown = (record.importance, record.created_at, record.kind, record.valid_from, record.valid_until)
    assert unknown == (None,) * 5


def test_a_hit_shows_its_record_and_a_dropped_one_its_score_if_it_has_one() -> None:
    hit = Hit(Record("a", "tea"), 0.0, "a")
    scored = Scored(hit, 0.25, {"similarity": 0.25}, {"similarity": 0.0})
    assert (scored.id, scored.text, scored.similarity, scored.record) == ("a", "tea", 0.0, hit.record)
    assert (Dropped("a", "beyond k", scored).score, Dropped("a", "expired").score) == (0.25, None)


def test_a_verdict_is_its_word() -> None:
    assert [verdict.value for verdict in Verdict] == ["helpful", "unhelpful"]
    assert Verdict("helpful") is Verdict.HELPFUL


def test_a_scope_says_whose_it_is() -> None:
    assert str(Scope("alice")) == "user 'alice'"
    assert str(Scope(None)) == "everyone"


def test_default_fields_are_the_public_key_names() -> None:
    public = {"user_id", "kind", "importance", "created_at", "valid_from", "valid_until", "last_read", "remembered"}
    assert public | {"retrieval_count", "strength"} <= set(Fields().names())


@pytest.mark.parametrize("field", [field.name for field in fields(Fields) if field.type == "str"])
@pytest.mark.parametrize("name", ["", None, 3, "chroma:document", "#document", "$and"])
def test_a_field_name_that_chroma_cannot_hold_is_refused(field: str, name: Any) -> None:
    with pytest.raises(PolicyError, match="different non-empty strings"):
        Fields(**{field: name})


def test_two_fields_cannot_share_a_name() -> None:
    with pytest.raises(PolicyError, match=r"given \['kind'\]: taken already"):
        Fields(user_id="kind")


@given(users, names)
def test_a_scoped_id_is_known_to_its_own_user_by_the_id_they_chose(user: str | None, chosen: str) -> None:
    assert record_id(Scope(user), scoped_id(Scope(user), chosen)) == chosen


@given(users, users, names, names)
def test_no_two_records_share_a_scoped_id(user: str | None, other: str | None, one: str, two: str) -> None:
    same = (user, one) == (other, two)
    assert (scoped_id(Scope(user), one) == scoped_id(Scope(other), two)) == same


@given(users, users, names)
def test_a_scoped_id_means_nothing_to_others(user: str | None, other: str | None, chosen: str) -> None:
    stored = scoped_id(Scope(user), chosen)
    assert (record_id(Scope(other), stored) == chosen) == (user == other)
