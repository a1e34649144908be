"""How are the sets of HippoRAG 2 and PropRAG read, where a user has them? Two JSON files a set, as published.

FOLDER/NAME_corpus.json is a list of passages, each with "title" and "text". FOLDER/NAME.json is a list of questions,
each with "question", maybe "id" or "_id", and what it needs, in one of three forms:
- "supporting_facts": [[title, place of a sentence], ...]  (2WikiMultiHopQA, HotpotQA; no "context" is read)
- "paragraphs" (MuSiQue) or "contexts": [{"title", "paragraph_text" or "text", "is_supporting": true or false}, ...]
A passage is gold by its title and text, or by its title alone where no text is given with it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.data import Dataset, Item, Question, load

Entry = Mapping[str, Any]


def either(folder: Path, name: str) -> Dataset:
    """The set of that name, in this form or in ours (benchmarks/data.py)."""
    return read(folder, name) if (folder / f"{name}_corpus.json").exists() else load(folder, name)


def read(folder: Path, name: str) -> Dataset:
    """The set with the ids of its passages in the order of the corpus."""
    passages = _listed(folder / f"{name}_corpus.json")
    asked = _listed(folder / f"{name}.json")
    items = [_item(str(place), one) for place, one in enumerate(passages)]
    by_text = {(one.title, one.text): one.id for one in items}
    by_title: dict[str | None, list[str]] = {}
    for one in items:
        by_title.setdefault(one.title, []).append(one.id)
    questions = []
    for number, entry in enumerate(asked):
        gold = list(dict.fromkeys(_gold(entry, by_text, by_title)))
        key = str(entry.get("id") or entry.get("_id") or number)
        questions.append(Question(id=key, query=str(entry["question"]), gold_ids=tuple(gold), split="test"))
    unknown = sum(not each.gold_ids for each in questions)
    if unknown:
        print(f"{name}: {unknown} of {len(questions)} questions need nothing that is in the corpus.", file=sys.stderr)
    return Dataset(name, tuple(items), tuple(questions))


def _gold(question: Entry, by_text: Mapping[Any, str], by_title: Mapping[Any, Sequence[str]]) -> Iterator[str]:
    for title, *_ in question.get("supporting_facts", ()):
        yield from by_title.get(title, ())
    for one in (*question.get("paragraphs", ()), *question.get("contexts", ())):
        if one.get("is_supporting", True):
            text = one.get("paragraph_text", one.get("text"))
            known = by_text.get((one["title"], _titled(one["title"], text))) if text is not None else None
            yield from (known,) if known is not None else by_title.get(one["title"], ())


def _item(key: str, passage: Entry) -> Item:
    return Item(id=key, title=passage["title"], text=_titled(passage["title"], passage["text"]))


def _titled(title: str, text: str) -> str:
    return f"{title}\n{text}"


def _listed(file: Path) -> list[Entry]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        if isinstance(found, list) and all(isinstance(one, dict) for one in found):
            return found
        problem = "it is no list of objects"
    except (OSError, ValueError) as error:
        problem = str(error)
    print(f"{file} cannot be read: {problem}. The format is in benchmarks/hipporag_sets.py.", file=sys.stderr)
    raise SystemExit(2)
