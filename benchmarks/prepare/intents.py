"""What is found where a query has an intent? The intent, by the words of its label alone."""

from __future__ import annotations

from collections.abc import Iterable

from benchmarks.prepare.public_set import Row


def intents(labels: Iterable[str]) -> list[Row]:
    """An item for each label, in the order of the alphabet.

    >>> intents(["top_up_failed", "age_limit?", "age_limit?"])
    [{'id': 'age_limit?', 'text': 'age limit'}, {'id': 'top_up_failed', 'text': 'top up failed'}]
    """
    return [
        {"id": label, "text": label.replace("_", " ").replace("?", "").strip().lower()} for label in sorted(set(labels))
    ]
