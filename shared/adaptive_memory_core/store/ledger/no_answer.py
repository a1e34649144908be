"""Which statements need no answer? A server is told of those with the next one, or when the transaction is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def tell(sql: Any, statement: str, values: Sequence[Any] = ()) -> None:
    """Have it done within the transaction, in its turn; an error of it may come with a later statement."""
    later = getattr(sql, "later", None)
    (sql.execute if later is None else later)(statement, values)
