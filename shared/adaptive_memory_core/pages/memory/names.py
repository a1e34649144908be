"""Which names hold the memory together? Those of the graph, those that stand together joined by lines."""

from __future__ import annotations

import math

from adaptive_memory_core.pages.charts import picture
from adaptive_memory_core.pages.markup import Cell, Column, number, plural, shown, table
from adaptive_memory_core.pages.memory.facts import MemoryFacts
from adaptive_memory_core.pages.shell import Section

MOST_DRAWN, MOST_LISTED, MOST_EXAMPLES = 22, 100, 2
SIDE, RING = 420, 118
COLUMNS = (Column("Name"), Column("Records", "number"), Column("Together with"), Column("For example"))


def names(facts: MemoryFacts) -> Section | None:
    """None where there is no graph, which is grown only where a policy asks for the channel "graph"."""
    found = facts.names
    if not found.counts:
        return None
    lead = (
        f"From {plural(found.looked_at, 'record')} of the table above, of {found.passages:,} in the graph. The more "
        "records mention a name, the larger it is; lines join names that stand in one record."
    )
    listed = list(found.counts)[:MOST_LISTED]
    rows = [_row(name, facts) for name in listed]
    listing = table("names-table", "Names", COLUMNS, rows)
    body = f'<div class="columns"><div class="card">{_network(facts)}</div>{listing}</div>'
    return Section("names", "Names", lead, body)


def _row(name: str, facts: MemoryFacts) -> list[Cell]:
    found = facts.names
    pairs = [(count, a if b == name else b) for (a, b), count in found.links.items() if name in (a, b)]
    beside = ", ".join(shown(other, 30) for _, other in sorted(pairs, key=lambda one: (-one[0], one[1]))[:5])
    texts = [facts.log.texts.get(one, "") for one in found.records.get(name, ())[:MOST_EXAMPLES]]
    examples = "".join(
        f'<small class="block"><bdi dir="auto">{shown(text, 110)}</bdi></small>' for text in texts if text
    )
    return [
        Cell(shown(name, 40)),
        Cell(number(found.counts[name]), found.counts[name]),
        Cell(beside or "–"),
        Cell(examples or "–"),
    ]


def _network(facts: MemoryFacts) -> str:
    """Names on a ring, those that stand together near each other."""
    found = facts.names
    drawn = _in_order(list(found.counts)[:MOST_DRAWN], found.links)
    most = max(found.counts[name] for name in drawn)
    places = {name: _place(number_, len(drawn)) for number_, name in enumerate(drawn)}
    inside = "".join(
        _link(places[a], places[b], count) for (a, b), count in found.links.items() if a in places and b in places
    )
    inside += "".join(_node(name, number_, len(drawn), found.counts[name], most) for number_, name in enumerate(drawn))
    return picture(
        f"{plural(len(drawn), 'name')} and which of them stand together: {', '.join(drawn)}",
        inside,
        SIDE,
        SIDE,
        "chart tall",
    )


def _in_order(names_: list[str], links: object) -> list[str]:
    """One after the other, each next to the one that it stands with most."""
    weight = dict(links)  # type: ignore[call-overload]
    left, order = list(names_), list[str]()
    while left:
        last = order[-1] if order else None
        nearest = max(left, key=lambda one: (weight.get((last, one), 0) + weight.get((one, last), 0), -left.index(one)))
        left.remove(nearest)
        order.append(nearest)
    return order


def _place(number_: int, count: int, ring: float = RING) -> tuple[float, float]:
    turn = 2 * math.pi * number_ / count - math.pi / 2
    return SIDE / 2 + ring * math.cos(turn), SIDE / 2 + ring * math.sin(turn)


def _link(begin: tuple[float, float], end: tuple[float, float], count: int) -> str:
    middle = SIDE / 2
    return (
        f'<path class="edge" stroke-width="{min(5.0, 0.8 + 0.6 * count):.1f}" '
        f'd="M{begin[0]:.1f} {begin[1]:.1f} Q{middle} {middle} {end[0]:.1f} {end[1]:.1f}"/>'
    )


def _node(name: str, number_: int, count: int, mentions: int, most: int) -> str:
    """A circle, and its name outwards of it."""
    x, y = _place(number_, count)
    radius = 3.0 + 6.0 * math.sqrt(mentions / most)
    at_x, _ = _place(number_, count, RING + radius + 6)
    angle = 360.0 * number_ / count - 90.0
    right = at_x >= SIDE / 2 - 1
    turn = angle if right else angle + 180.0
    far = RING + radius + 5
    x_label = SIDE / 2 + far * math.cos(math.radians(angle))
    y_label = SIDE / 2 + far * math.sin(math.radians(angle))
    return (
        f"<g><title>{shown(name)}: {plural(mentions, 'record')}</title>"
        f'<circle class="s0" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}"/>'
        f'<text class="{"begin" if right else "end"} name" x="{x_label:.1f}" y="{y_label:.1f}" '
        'dominant-baseline="middle" '
        f'transform="rotate({turn:.1f} {x_label:.1f} {y_label:.1f})">{shown(name, 16)}</text></g>'
    )
