"""PerLTQA (English, version 2) as a folder: each memory of a character is an item, the character is the tenant.

A memory is a field of the profile, a relationship, an event or a whole dialogue; questions refer to them in this way.
The profile's description is left out: it repeats the fields, and no question refers to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from benchmarks.prepare.draw import Draw
from benchmarks.prepare.one_line import one_line
from benchmarks.prepare.public_set import Files, Row, Rows
from benchmarks.prepare.published_files import json_rows, needed

MEMORIES, QUESTIONS = "perltmem_en_v2.json", "perltqa_en_v2.json"
PROFILE = "profile"
KINDS = (PROFILE, "social_relationship", "events", "dialogues")
REFERENCE = re.compile(r"\d+_[\d_#]+")  # "['4_0_0#0']" is the first dialogue about event 4_0_0
FORMS = ("%Y-%m-%d %H:%M", "%Y-%m-%d", "%B %d, %Y")  # of a time that names a day; other ones are left out


def rows(files: Files, draw: Draw) -> Rows:
    """The memories of all characters, and the questions about them."""
    corpus = list(_items(files[MEMORIES]))
    known = {row["id"] for row in corpus}
    return Rows(corpus, draw.of(list(_queries(files[QUESTIONS], known))))


def _items(path: Path) -> Iterator[Row]:
    for name, said in json_rows(path).items():
        needed(said, path, *KINDS)
        memories = [*_profile(said[PROFILE]), *_relationships(said["social_relationship"])]
        memories += [*_events(said["events"]), *_dialogues(said["dialogues"])]
        for number, (key, text, more) in enumerate(memories):
            yield {"id": f"{name}:{key}", "tenant": name, "seq": number, "text": text, **more}


def _profile(fields: Mapping[str, Any]) -> Iterator[tuple[str, str, Row]]:
    for field, value in fields.items():
        told = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        yield field, one_line(f"{field}: {told}"), {}


def _relationships(people: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str, Row]]:
    for key, one in people.items():
        who = f"{one.get('Supporting Characters', '')} ({one.get('Relationship', '')})"
        yield key, one_line(f"{who}: {one.get('Description', '')}"), {}


def _events(events: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str, Row]]:
    for key, one in events.items():
        title = {"title": one_line(one["summary"])} if one.get("summary") else {}
        yield key, one_line(one["content"]), {**title, "session": key, "ts": _iso(str(one.get("Creation Time", "")))}


def _dialogues(dialogues: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str, Row]]:
    for key, one in dialogues.items():
        lines = [one_line(line) for said in one["contents"].values() for line in said]
        yield key, "\n".join(lines), {"session": str(one["events"]), "ts": _iso(next(iter(one["contents"]), ""))}


def _iso(told: str) -> str | None:
    """
    >>> _iso("May 12, 2022"), _iso("2022-05-12 10:00"), _iso("during an election")
    ('2022-05-12T00:00:00', '2022-05-12T10:00:00', None)
    """
    for form in FORMS:
        try:
            return datetime.strptime(told.strip(), form).isoformat()
        except ValueError:
            continue
    return None


def _queries(path: Path, known: set[str]) -> Iterator[Row]:
    for entry in json_rows(path):
        for name, kinds in entry.items():
            for kind in KINDS:
                for number, one in enumerate(_asked(kinds.get(kind, ()))):
                    needed(one, path, "Question", "Answer", "Reference Memory")
                    told = str(one["Reference Memory"])
                    gold = [f"{name}:{key}" for key in REFERENCE.findall(told) or [told]]
                    yield {
                        "id": f"{name}:{kind}:{number}",
                        "tenant": name,
                        "query": one_line(one["Question"]),
                        "gold_ids": [key for key in dict.fromkeys(gold) if key in known],
                        "answer": one_line(one["Answer"]),
                        "type": kind,
                    }


def _asked(entries: Any) -> Iterator[Mapping[str, Any]]:
    """The questions of one kind: a list of them, or of objects that have a list for each memory."""
    for one in entries:
        yield from [one] if "Question" in one else [each for some in one.values() for each in some]
