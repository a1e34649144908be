"""Why did these hits win? A ranking as a table whose parts add up to the scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from adaptive_memory_core.records import Dropped, Scored

TEXT_WIDTH = 60


def explain(title: str, kept: Sequence[Scored], dropped: Sequence[Dropped], notes: Sequence[str]) -> str:
    """The hits with their parts, the dropped candidates with their reasons, and the notes.

    >>> print(explain("recall 1", [], [Dropped("tax", "expired")], ["a note"]))
    recall 1
    nothing found
    dropped  score  because
    tax             expired
    note: a note
    """
    return "\n".join([title, *_hits(kept), *_dropped(dropped), *(f"note: {note}" for note in notes)])


def short(text: str, width: int = TEXT_WIDTH) -> str:
    """The text on one line of at most `width` characters, printable.

    >>> short("a\\nlong  story", 8)
    'a long …'
    """
    line = "".join(character if character.isprintable() else " " for character in text[: 4 * width])
    line = " ".join(line.split())
    return line if len(line) <= width and len(text) <= 4 * width else line[: width - 1] + "…"


def _hits(kept: Sequence[Scored]) -> Iterable[str]:
    if not kept:
        return ["nothing found"]
    names = list(dict.fromkeys(name for hit in kept for name in hit.parts))
    rows = [["#", "score", *names, "(raw)", "reads", "id", "text"]]
    rows += [_row(rank, hit, names) for rank, hit in enumerate(kept, start=1)]
    return table(rows)


def _row(rank: int, hit: Scored, names: Sequence[str]) -> list[str]:
    parts = [f"{hit.parts[name]:.3f}" if name in hit.parts else "" for name in names]
    reads = str(hit.record.read.retrieval_count)
    name = short(hit.id) if hit.shared is None else f"{short(hit.id)} (shared: {short(hit.shared)})"
    if hit.older_than is not None:
        newest = "may be" if hit.older_perhaps else "is"
        name = f"{name} (older: the newest {newest} {short(hit.older_than)})"
    return [str(rank), f"{hit.score:.3f}", *parts, f"({hit.similarity:.3f})", reads, name, short(hit.text)]


def _dropped(dropped: Sequence[Dropped]) -> Iterable[str]:
    if not dropped:
        return []
    rows = [["dropped", "score", "because"]]
    rows += [
        [short(drop.id), "" if drop.score is None else f"{drop.score:.3f}", short(drop.reason)] for drop in dropped
    ]
    return table(rows)


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines with columns of equal width.

    >>> table([["a", "b"], ["long", "c"]])
    ['a     b', 'long  c']
    """
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
