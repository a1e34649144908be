"""Are addresses shown without what is secret, and is it said what is wrong with one?"""

from __future__ import annotations

import pytest

from adaptive_memory_core import AdaptiveMemory
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.store.postgres.postgres_connections import shown_address

pytestmark = pytest.mark.hard("PostgreSQL")


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("postgresql://ana:secret@one:5432,two:5433/memories", "'postgresql://one:5432,two:5433/memories'"),
        ("postgresql://ana:secret@one,two:5433/memories", "'postgresql://one:,two:5433/memories'"),
        ("postgresql://ana:se#cret@db/memories?password=secret", "'postgresql://db/memories'"),
        ("postgresql:///memories?host=/run/postgres", "'postgresql:///run/postgres/memories'"),
        ("host=db dbname=memories password=secret", "'postgresql://db/memories'"),
    ],
)
def test_every_address_that_the_server_takes_is_shown_without_its_password(address: str, told: str) -> None:
    assert shown_address(address) == told


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("./memory/adaptive_memory.sqlite3", "does not begin with 'postgresql://'"),
        ("mysql://ana:secret@db/memories", "does not begin with 'postgresql://'"),
        ("postgresql://ana:secret@db:port/memories", "port in the ledger's address is not a number"),
        ("postgresql://ana:secret@db/memories?unknown=1", "an option in it is unknown"),
        ("postgresql://ana:p@secret@db/memories", "has an '@' in its host"),
    ],
)
def test_what_is_wrong_with_an_address_is_said_without_it(address: str, why: str) -> None:
    with pytest.raises(InvalidInputError, match=why) as told:
        AdaptiveMemory.create_tables(address)
    assert "percent-encoded" in str(told.value)
    assert "secret" not in str(told.value)
