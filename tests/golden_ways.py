"""Every way to recall that a setting or an argument chooses, over one small memory, for the golden rankings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from adaptive_memory_core import AdaptiveMemory, Policy, UserMemory, Weights

DAY = 86_400.0
NOTHING = 0.001  # a score up to which the order is that of rounding errors
NOTES = (  # day, kind, topic and text of what Ana notes
    (1, "fact", "home", "I live in a flat in Bern with a small balcony."),
    (2, "event", "work", "The launch of the Falcon project was moved to March."),
    (3, "event", "sport", "Went climbing with Bruno, and we reached the hut at noon."),
    (5, "fact", "work", "The staging database runs on port 5544."),
    (8, "event", "food", "Bruno baked an apple cake for my birthday."),
    (13, "fact", "home", "The key of the cellar is in the blue box."),
    (21, "event", "work", "The Falcon project lost its budget for the printer."),
    (30, "event", "sport", "Bruno hurt his knee, so we went swimming."),
    (34, "fact", "food", "I do not eat mushrooms any more."),
    (55, "event", "work", "The launch of the Falcon project was moved to May."),
    (60, "fact", "home", "I live in a house in Thun with a garden."),
    (61, "event", "home", "The boiler of the house was repaired by Mr. Weber."),
    (70, "event", "sport", "Climbing again with Bruno, his knee is well."),
    (88, "event", "food", "Bruno made a lemon tart, better than the apple cake."),
    (89, "fact", "work", "The staging database runs on port 6000."),
    (90, "event", "work", "The Falcon project was launched, and everybody got a cake."),
)
HANDBOOK = (
    "Holidays are requested in the calendar, two weeks before.",
    "The office in Bern is open from seven to seven.",
    "Cake for a birthday is paid by the company.",
    "The staging database is reset every Sunday.",
    "Projects are launched on a Tuesday, never on a Friday.",
)
PAGES = (  # a title and what its page says
    ("Falcon", "Falcon is a project led by Mira Roth. It uses the Osprey engine."),
    ("Osprey", "Osprey is an engine that was written by Jon Bek in Turin."),
    ("Mira Roth", "Mira Roth studied in Graz and leads Falcon since spring."),
    ("Jon Bek", "Jon Bek plays the cello. He keeps bees with Mira Roth."),
    ("Turin", "Turin is a city with many arcades. Osprey began there."),
    ("Graz", "Graz has a clock tower. Mira Roth was there as a student."),
)
TALK = (
    ("Ana", "We finally booked the cottage at the lake for August."),
    ("Bruno", "Great, does it have a boat?"),
    ("Ana", "Yes, a green rowing boat, and a grill."),
    ("Bruno", "Then I bring the fishing rods and my nephew Timo."),
    ("Ana", "My new job at the museum starts after that trip."),
    ("Bruno", "What will you do at the museum?"),
    ("Ana", "I will restore old maps, three days a week."),
)
ASKED = (
    "where do I live?",
    "when is the launch of Falcon?",
    "what did Bruno bake?",
    "which port does the staging database use?",
    "what did we do last month?",
)
WAYS: dict[str, dict[str, Any]] = {
    "plain": {},
    "kind": {"filter": {"kind": "fact"}},
    "topics": {"filter": {"topic": {"$in": ["work", "food"]}}},
    "range": {"filter": {"$and": [{"day": {"$gte": 13}}, {"day": {"$lt": 80}}]}},
    "not": {"filter": {"$or": [{"topic": {"$ne": "work"}}, {"day": {"$gt": 80}}]}},
    "text": {"filter": {"#document": {"$contains": "Bruno"}}},
    "text and kind": {"filter": {"$and": [{"#document": {"$not_contains": "Falcon"}}, {"kind": "event"}]}},
    "day 20": {"now": 20 * DAY},
    "day 62": {"now": 62 * DAY},
    "one": {"k": 1},
    "floors": {"min_score": 0.2, "min_similarity": 0.1},
    "context": {"in_context": ["n1", "I live in a house in Thun with a garden."]},
}
POLICIES = {
    "dense": Policy(channels=("dense",)),
    "words": Policy(channels=("dense", "lexical"), time_words="filter"),
    "diverse": Policy(diversity=0.4),
    "sum": Policy(weights=Weights(recency=1.0, importance=1.0, similarity=1.0)).replace(advanced={"blend": "sum"}),
    "kinds": Policy().replace(advanced={"kind_weights": {"fact": Weights(0.0, 0.5, 0.5)}}),
    "copies": Policy().replace(advanced={"duplicates": "drop", "same_share": 0.4}),
    "oldest too": Policy(newest_first=False),
    "equal": Policy.preset("equal"),
    "balanced": Policy.preset("balanced"),
    "graph": Policy(channels=("dense", "lexical", "graph")),
    "episodes": Policy(shape="episodes"),
    "top down": Policy(shape="top_down"),
}
Answer = tuple[str, dict[str, float]]


def every_way(memory: AdaptiveMemory, clock: list[float]) -> Iterator[Answer]:
    """All ways, each with all questions; the clock says how late it is."""
    ana, everyone = memory.for_user("ana"), memory.for_everyone()
    for number, (day, kind, topic, text) in enumerate(NOTES):
        clock[0] = day * DAY
        importance = (number % 5 + 1) / 6
        metadata = {"topic": topic, "day": day}
        ana.remember(text, id=f"n{number}", kind=kind, importance=importance, created_at=day * DAY, metadata=metadata)
        if number % 3 == 2:
            found = ana.recall(text.split(",")[0], k=2)
            ana.feedback(found, helpful=found.ids[:1])
    clock[0] = 91 * DAY
    ana.remember("The Falcon project was renamed.", id="short", created_at=clock[0], valid_until=95 * DAY)
    everyone.remember_many([{"id": f"h{number}", "text": text} for number, text in enumerate(HANDBOOK)])
    clock[0] = 100 * DAY
    for name, how in WAYS.items():
        yield from answers(name, ana, **how)
    for name, policy in POLICIES.items():
        if name not in ("graph", "episodes", "top down"):
            yield from answers(name, ana, policy=policy)
    yield from answers("over everyone", memory.for_user("ana", over="everyone"))
    yield from answers("only a reader", memory.for_user("ben", over="everyone"))
    yield from faded(memory, clock)
    yield from linked(memory)
    yield from talked(memory, clock)


def faded(memory: AdaptiveMemory, clock: list[float]) -> Iterator[Answer]:
    """Records that fade unless they are read."""
    cleo = memory.for_user("cleo", policy=Policy.preset("balanced"))
    cleo.remember_many([{"id": f"c{number}", "text": text} for number, (*_, text) in enumerate(NOTES)])
    for number in range(40):
        clock[0] += DAY
        cleo.recall(NOTES[number % 4][3], k=1)
    yield from answers("faded", cleo)


def linked(memory: AdaptiveMemory) -> Iterator[Answer]:
    """Pages that name each other."""
    dora = memory.for_user("dora", policy=POLICIES["graph"])
    dora.remember_many([{"id": title, "text": f"{title}\n{text}"} for title, text in PAGES])
    memory.sync()
    for question in ("who wrote the engine of Falcon?", "where did the head of Falcon study?", "who keeps bees?"):
        yield answer("graph", dora, question)


def talked(memory: AdaptiveMemory, clock: list[float]) -> Iterator[Answer]:
    """What was said in a conversation, in each shape."""
    eli = memory.for_user("eli")
    said = [
        {"speaker": who, "text": text, "at": clock[0] + 60.0 * number, "session": "lake" if number < 4 else "museum"}
        for number, (who, text) in enumerate(TALK)
    ]
    ids = eli.observe(said)
    clock[0] += DAY
    eli.themes()
    names = {one: f"t{number}" for number, one in enumerate(ids)}
    for name in ("episodes", "top down"):
        for question in ("what will Ana do at the museum?", "who brings fishing rods?"):
            found = eli.recall(question, k=3, policy=POLICIES[name], reinforce=False)
            yield f"{name}: {question}", {names[hit.id]: round(hit.score, 7) for hit in found if hit.score > NOTHING}


def answers(name: str, user: UserMemory, **how: Any) -> Iterator[Answer]:
    for question in ASKED:
        yield answer(name, user, question, **how)


def answer(name: str, user: UserMemory, question: str, **how: Any) -> Answer:
    recall = user.recall(question, **{"k": 5, **how}, reinforce=False)
    return f"{name}: {question}", {hit.id: round(hit.score, 7) for hit in recall if hit.score > NOTHING}
