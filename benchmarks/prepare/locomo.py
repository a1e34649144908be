"""How does LoCoMo become a folder? A turn is an item, a conversation a tenant; the evidence names the turns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from benchmarks.prepare.draw import Draw
from benchmarks.prepare.one_line import one_line
from benchmarks.prepare.public_set import Files, Row, Rows
from benchmarks.prepare.published_files import json_rows, needed

FILE = "locomo10.json"
TYPES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ADVERSARIAL = 5
SESSION = re.compile(r"session_(\d+)")
TURN = re.compile(r"D:?(\d+):(\d+)")
SPOKEN_AT = "%I:%M %p on %d %B, %Y"


def rows(files: Files, draw: Draw) -> Rows:
    """Every turn of every conversation, and every question."""
    samples = json_rows(files[FILE])
    for sample in samples:
        needed(sample, files[FILE], "sample_id", "conversation", "qa")
    corpus = [item for sample in samples for item in _turns(sample["sample_id"], sample["conversation"])]
    known = {item["id"] for item in corpus}
    last = {item["tenant"]: item["ts"] for item in corpus}
    queries = [query for sample in samples for query in _queries(sample["sample_id"], sample["qa"], known, last)]
    return Rows(corpus, draw.of(queries))


def _turns(name: str, conversation: dict[str, Any]) -> Iterator[Row]:
    numbers = sorted(int(found[1]) for key in conversation if (found := SESSION.fullmatch(key)))
    turns = [(f"session_{number}", turn) for number in numbers for turn in conversation[f"session_{number}"]]
    for order, (session, turn) in enumerate(turns):
        caption = turn.get("blip_caption") or ""
        yield {
            "id": f"{name}:{turn['dia_id']}",
            "tenant": name,
            "session": session,
            "seq": order,
            "ts": datetime.strptime(one_line(conversation[f"{session}_date_time"]), SPOKEN_AT).isoformat(),
            "speaker": turn["speaker"],
            "text": turn["text"].strip() + (f" [shared image: {caption}]" if caption else ""),
            **({"caption": caption} if caption else {}),
        }


def _queries(name: str, asked: Sequence[dict[str, Any]], known: set[str], last: dict[str, str]) -> Iterator[Row]:
    for number, row in enumerate(asked):
        answers = {key: str(row[key]) for key in ("answer", "adversarial_answer") if row.get(key) is not None}
        yield {
            "id": f"{name}:q{number}",
            "tenant": name,
            "query": row["question"],
            "gold_ids": _gold(name, row.get("evidence") or (), known),
            **({"answer": answers["answer"]} if "answer" in answers else {}),
            "type": TYPES[row["category"]],
            "category": row["category"],
            "answerable": row["category"] != ADVERSARIAL,
            **({"adversarial_answer": answers["adversarial_answer"]} if "adversarial_answer" in answers else {}),
            "ts": last[name],
        }


def _gold(name: str, evidence: Sequence[str], known: set[str]) -> list[str]:
    """The turns that the evidence names; a few are written in a form of their own ("D8:6; D9:17", "D30:05").

    >>> _gold("c", ["D1:2", "D8:6; D9:017", "D", "D1:2"], {"c:D1:2", "c:D8:6", "c:D9:17"})
    ['c:D1:2', 'c:D8:6', 'c:D9:17']
    """
    named = [f"{name}:D{int(session)}:{int(turn)}" for one in evidence for session, turn in TURN.findall(one)]
    return [turn for turn in dict.fromkeys(named) if turn in known]
