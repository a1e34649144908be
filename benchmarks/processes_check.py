"""Is everything there that was acknowledged, once, and does Chroma show it? What threads wrote down, and the store."""

from __future__ import annotations

import collections
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from adaptive_memory_core import AdaptiveMemory
from adaptive_memory_core.record_metadata import projection

WRITTEN_OVER = "written over with other words since the reads"
Known = dict[tuple[str, str], set[str | None]]


@dataclass
class Said:
    """What may be there of each record, by user and id: texts, or None for nothing; and the recalls that count."""

    texts: Known = field(default_factory=dict)
    changed: set[tuple[str, str]] = field(default_factory=set)  # records that were written over or forgotten
    recalls: dict[str, list[str]] = field(default_factory=lambda: collections.defaultdict(list))
    under_way: collections.Counter[str] = field(default_factory=collections.Counter)  # recalls that may have counted
    errors: collections.Counter[str] = field(default_factory=collections.Counter)
    verbs: int = 0


def check(directory: Path, logs: Path, opened: Callable[[Path], AdaptiveMemory]) -> tuple[str, list[str]]:
    """How much was done, and everything that is wrong with what is left."""
    said = heard(logs)
    with opened(directory) as memory:
        memory.flush()
        wrong = records_wrong(memory, said) + recalls_wrong(memory, said) + chroma_wrong(memory)
        wrong += findings_wrong(memory, said)
    wrong += [f"{count} times: {error}" for error, count in said.errors.items()]
    done = f"{said.verbs} verbs, {len(said.texts)} records, {sum(map(len, said.recalls.values()))} recalls acknowledged"
    return done, wrong


def findings_wrong(memory: AdaptiveMemory, said: Said) -> list[str]:
    """What `check` finds. It rightly finds a record whose new words a kill kept from the ledger, and mends it."""
    unanswered = {
        f"{record!r} of {memory.for_user(user).scope}" for (user, record), texts in said.texts.items() if len(texts) > 1
    }
    found = memory.check().findings
    rightly = [one for one in found if WRITTEN_OVER in one.what and unanswered.issuperset(names_in(one.what))]
    wrong = [str(one) for one in found if one not in rightly]
    if rightly:
        memory.check(repair=True)
        wrong += [str(one) for one in memory.check().findings]
    return wrong


def names_in(what: str) -> list[str]:
    """The records that a finding names.

    >>> names_in("2 records were written over: 'tea' of user 'ana', 'milk' of user 'bo'.")
    ["'tea' of user 'ana'", "'milk' of user 'bo'"]
    """
    return what.partition(": ")[2].removesuffix(".").split(", ")


def heard(logs: Path) -> Said:
    """What all threads wrote down; a verb without an answer may have been done or not."""
    said = Said()
    for log in sorted(logs.glob("*.log")):
        lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines() if line.endswith("}")]
        answers = {line["n"]: line["answer"] for line in lines if "answer" in line}
        for line in lines:
            if "verb" in line:
                said.verbs += 1
                note(said, line, answers.get(line["n"]))
    return said


def note(said: Said, line: dict[str, Any], answer: dict[str, Any] | None) -> None:
    user, verb = line["user"], line["verb"]
    place = (user, line["id"])
    failed = answer is not None and "error" in answer
    if failed and answer is not None:
        said.errors[answer["error"][:200]] += 1
    before = said.texts.get(place, {None})
    after: set[str | None] = {None} if verb == "forget" else {line["text"]}
    if verb in ("remember", "revise", "forget"):
        said.changed |= {place} if verb != "remember" else set()
        said.texts[place] = before | after if answer is None or failed else after
    elif answer is None or failed:
        said.under_way[user] += 1
    elif answer["recall"] is not None:
        said.recalls[user].append(answer["recall"])


def records_wrong(memory: AdaptiveMemory, said: Said) -> list[str]:
    """Records that are not as they were acknowledged, are there twice, or that nobody wrote."""
    wrong = []
    there: dict[tuple[str | None, str], str] = {}
    records = memory.ports().records
    for user in {user for user, _ in said.texts}:
        scope = memory.for_user(user).scope
        for one in (one for page in records.pages(scope) for one in page):
            if (user, one.stored_id) in there:
                wrong.append(f"{one.stored_id} of {user} is there twice")
            there[user, one.stored_id] = str(one.text)
            if one.text != (one.metadata or {}).get("said"):
                wrong.append(f"{one.stored_id} of {user} is half of one text and half of another")
    for place, texts in said.texts.items():
        if there.get(place) not in texts:
            wrong.append(f"{place} is {there.get(place)!r}, and was acknowledged as one of {sorted(map(str, texts))}")
    return wrong + [f"nobody wrote {place}" for place in there if place not in said.texts]


def recalls_wrong(memory: AdaptiveMemory, said: Said) -> list[str]:
    """Recalls that were acknowledged and are not in the log, or counted twice; reads that are not those of the log."""
    wrong = []
    for user, ids in said.recalls.items():
        alice = memory.for_user(user)
        logged = list(alice.recalls(limit=1_000_000))
        missing = set(ids) - {one.id for one in logged}
        wrong += [f"{len(missing)} recalls of {user} are lost"] if missing else []
        if len({one.id for one in logged}) != len(logged):
            wrong.append(f"recalls of {user} are there twice")
        if not len(ids) <= len(logged) <= len(ids) + said.under_way[user]:
            wrong.append(f"{len(logged)} recalls of {user} are logged, {len(ids)} were acknowledged")
        steps = alice.stats().recalls
        if steps != len(logged):
            wrong.append(f"{user} has made {steps} steps and {len(logged)} recalls")
        wrong += reads_wrong(memory, said, user, logged)
    return wrong


def reads_wrong(memory: AdaptiveMemory, said: Said, user: str, logged: list[Any]) -> list[str]:
    """The counts of records that are as they were at first; a text that changed, or came again, is another memory."""
    read = collections.Counter(one.id for recall in logged for one in recall.kept)
    states = memory.ports().ledger.states.all(memory.for_user(user).scope).states
    wrong = []
    for (owner, record), texts in said.texts.items():
        if owner == user and None not in texts and record in states and (owner, record) not in said.changed:
            counted = states[record].retrieval_count
            if counted != read[record]:
                wrong.append(f"{record} of {user} was read {read[record]} times and counts {counted}")
    return wrong


def chroma_wrong(memory: AdaptiveMemory) -> list[str]:
    """Where the collection does not show what the ledger has: records, vectors, and read states."""
    ledger, fields = memory.ports().ledger, memory.fields
    collection: Any = memory.ports().records.collection
    found = collection.get(include=["documents", "metadatas", "embeddings"])
    rows = dict(
        zip(found["ids"], zip(found["documents"], found["metadatas"], found["embeddings"], strict=True), strict=True)
    )
    mirror = {one: (text, metadata) for one, text, metadata in ledger.mirror.rows(found["ids"])}
    vectors = ledger.mirror.vectors(found["ids"])
    wrong = [f"{one} is in Chroma or in the mirror alone" for one in set(rows) ^ ledger.mirror.stored_ids()]
    wrong += [f"{ledger.due_records.waiting()} records are due"] if ledger.due_records.waiting() else []
    for one in rows.keys() & mirror.keys():
        text, metadata, vector = rows[one]
        if (text, metadata) != mirror[one]:
            wrong.append(f"{one} is {rows[one][:2]} in Chroma and {mirror[one]} in the mirror")
        if not np.allclose(vector, np.frombuffer(vectors[one], dtype="<f4"), atol=1e-5):
            wrong.append(f"{one} has another vector in Chroma")
        scope = memory.for_user(metadata[fields.user_id]).scope
        state = ledger.states.known(scope, [one]).states.get(one)
        shown = {} if state is None else projection(state, metadata, fields)
        if {key: metadata.get(key) for key in shown} != shown:
            wrong.append(f"{one} shows {metadata}, and its state is {shown}")
    return wrong
