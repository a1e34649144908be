"""Is every value checked where it enters? What passes is usable, what does not is refused with what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adaptive_memory_core import Fields, InvalidInputError, Record, ScopeError
from adaptive_memory_core import arguments as check
from adaptive_memory_core.errors import FilterError
from adaptive_memory_core.records import NewRecord

anything: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def outcome(check_one: Callable[..., Any], *arguments: object) -> Any:
    """What the check gives, or the refusal itself; any other error is one too many."""
    try:
        return check_one(*arguments)
    except InvalidInputError as refusal:
        return refusal


@given(anything)
def test_whatever_is_given_for_a_user_it_is_a_scope_or_a_clear_error(value: Any) -> None:
    found = outcome(check.user_scope, value)
    assert "Give" in str(found) if isinstance(found, InvalidInputError) else found.name == value


@given(anything)
def test_whatever_is_given_for_a_moment_it_is_seconds_or_a_clear_error(value: Any) -> None:
    found = outcome(check.moment, value, "now")
    assert "POSIX seconds" in str(found) if isinstance(found, InvalidInputError) else found == value


@given(anything)
def test_whatever_is_given_as_a_record_it_is_one_or_a_clear_error(value: Any) -> None:
    found = outcome(check.new_record, value, Fields())
    assert "Give" in str(found) if isinstance(found, InvalidInputError) else found.text


@given(anything)
def test_whatever_is_given_as_metadata_it_can_be_stored_or_is_a_clear_error(value: Any) -> None:
    found = outcome(check.metadata, value, Fields())
    if isinstance(found, InvalidInputError):
        assert "Give" in str(found) or "Use" in str(found)
    else:
        assert found == {key: one for key, one in value.items() if one is not None}


@given(anything)
def test_whatever_is_given_as_a_filter_it_is_a_mapping_or_a_clear_error(value: Any) -> None:
    found = outcome(check.where, value)
    assert "Give a mapping" in str(found) if isinstance(found, FilterError) else isinstance(found, dict | None)


def test_a_datetime_with_a_zone_is_its_posix_seconds() -> None:
    assert check.moment(datetime(1970, 1, 2, tzinfo=timezone.utc), "now") == 86_400.0


def test_an_iso_text_with_a_zone_is_its_posix_seconds() -> None:
    assert (
        check.moment("1970-01-02T01:00:00+01:00", "created_at") == check.moment("1970-01-02T00:00Z", "at") == 86_400.0
    )


@pytest.mark.parametrize("given", ["2026-05-13", "2026-05-13T09:00"])
def test_a_naive_iso_text_is_refused_with_what_to_add(given: str) -> None:
    with pytest.raises(InvalidInputError, match=r"Give it with its zone, e\.g\. '2026-05-13T0[09]:00:00\+00:00'"):
        check.moment(given, "created_at")


def test_trap_a_naive_datetime_is_refused_rather_than_read_as_local() -> None:
    with pytest.raises(InvalidInputError, match="time zone"):
        check.moment(datetime(2026, 1, 1), "created_at")


@pytest.mark.parametrize("value", [10**400, -(10**400)], ids=["large", "small"])
def test_a_moment_that_no_float_holds_is_refused(value: int) -> None:
    with pytest.raises(InvalidInputError, match="POSIX seconds"):
        check.moment(value, "now")


def test_a_users_name_may_be_anything_but_blank() -> None:
    for name in ("alice", " alice ", "日本", "a\nb", "everyone", "None", "*", "' OR 1=1 --"):
        assert check.user_scope(name).user == name
    for number in (7, -7, 2**63 - 1):
        assert check.user_scope(number).name == number
    for blank in ("", " ", "\n\t", None, 0, 2**63, True, 7.0, b"alice"):
        with pytest.raises(ScopeError, match=r"for_everyone\(\)"):
            check.user_scope(blank)


def test_a_records_own_form_is_accepted_back() -> None:
    record = Record("a", "tea", kind="fact", importance=0.0, created_at=5.0, metadata={"source": "chat"})
    expected = NewRecord("tea", "a", 0.0, "fact", 5.0, metadata={"source": "chat"})
    assert check.new_record(record, Fields()) == expected


def test_a_validity_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="later valid_until"):
        check.new_record({"text": "tea", "valid_from": 5, "valid_until": 5}, Fields())


@pytest.mark.parametrize("key", Fields().names())
def test_no_key_of_ours_comes_in_through_metadata(key: str) -> None:
    with pytest.raises(InvalidInputError, match=key):
        check.metadata({key: 1}, Fields())


def test_a_key_that_was_renamed_away_is_free() -> None:
    assert check.metadata({"user_id": "x"}, Fields(user_id="owner")) == {"user_id": "x"}


def test_a_long_value_is_not_repeated_in_full() -> None:
    with pytest.raises(InvalidInputError) as refusal:
        check.name("x" * 1_000_000, "id")
    assert len(str(refusal.value)) < 500
