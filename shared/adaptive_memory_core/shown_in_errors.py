"""How does an error show what was given? Short enough to be read, however long that is."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

MOST_SHOWN = 200  # characters of a value
MOST_OF_A_REASON = 1_000  # characters of another's error
MOST_LISTED = 10  # values of a list


def shown(value: object, most: int = MOST_SHOWN) -> str:
    """The value as Python writes it; of a long one the start, and how long it is.

    >>> shown("tea"), shown("z" * 100_000, most=10)
    ("'tea'", "'zzzzzzzzz... (100,000 characters)")
    >>> shown(10**5000)
    'a number of 16,610 bits'
    """
    try:
        text = repr(value)
    except ValueError:  # Python writes out no number of more than 4,300 digits
        length = f"number of {value.bit_length():,} bits" if isinstance(value, int) else type(value).__name__
        return f"a {length}"
    if len(text) <= most:
        return text
    return f"{text[:most]}... ({len(value if isinstance(value, str) else text):,} characters)"


def listed(values: Iterable[object]) -> str:
    """The first of the values, and how many more there are.

    >>> listed(["a", "b"]), listed(range(12))
    ("'a', 'b'", '0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more')
    """
    rest = iter(values)
    first = ", ".join(shown(one) for one in islice(rest, MOST_LISTED))
    more = sum(1 for _ in rest)
    return f"{first} and {more:,} more" if more else first


def reason(error: BaseException) -> str:
    """What another's error says, without the full stop that our sentence sets itself.

    >>> reason(ValueError("Collection [x] does not exist."))
    'Collection [x] does not exist'
    """
    return shortened(str(error).strip().rstrip("."), MOST_OF_A_REASON)


def shortened(text: str, most: int) -> str:
    """The text, or its start and how long it is."""
    return text if len(text) <= most else f"{text[:most]}... ({len(text):,} characters)"
