"""How are rows shown as aligned plain text?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def table(rows: Sequence[Row]) -> str:
    """The rows as aligned plain text, numbers to the right; columns in the order in which they first appear.

    >>> print(table([{"system": "ours", "NDCG@10": 0.5, "n": 12}, {"system": "similarity", "n": 7}]))
    system      NDCG@10   n
    ----------  -------  --
    ours          0.500  12
    similarity        -   7
    >>> table([])
    '(no rows)'
    """
    if not rows:
        return "(no rows)"
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [_column(name, [row.get(name) for row in rows]) for name in names]
    return "\n".join("  ".join(cells).rstrip() for cells in zip(*columns, strict=True))


def _column(name: str, values: Sequence[Any]) -> list[str]:
    """The name, a rule and the values, padded to one width."""
    cells = [_cell(value) for value in values]
    width = max(map(len, [name, *cells]))
    numeric = all(value is None or _is_number(value) for value in values)
    return [cell.rjust(width) if numeric else cell.ljust(width) for cell in [name, "-" * width, *cells]]


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if _is_number(value) and not isinstance(value, int) else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
