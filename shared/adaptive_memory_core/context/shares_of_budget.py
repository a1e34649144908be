"""How much of each hit is shown where not all fit whole? An even share each, and what is left over to the best."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from adaptive_memory_core.context.entries import Entry
from adaptive_memory_core.context.layout import Layout
from adaptive_memory_core.context.styles import block

LEAST_EXCERPT = 100  # tokens that a long hit may have in any budget; guess
Cut = Callable[[int, int], Entry]  # a line of the page, within so many tokens


def shared_out(layout: Layout, cut: Cut, max_tokens: int, longest: float) -> Layout:
    """The layout with its long hits cut. Where all hits fit with an even share each, none is left out, and what remains
    goes to the best ones, at most a share `longest` of the budget each and then whole. Where they do not, each may take
    `longest`, and the last ones are left out."""
    most = max(LEAST_EXCERPT, int(longest * max_tokens))
    hits = [unit[0] for unit in layout.page.units]
    wide = _cut_all(layout, hits, cut, most)
    even = max_tokens // len(hits)
    if not LEAST_EXCERPT <= even < most:
        return wide
    narrow = _cut_all(layout, hits, cut, even)
    left = max_tokens - layout.count(block(layout.form, narrow.lines(range(len(narrow.entries)))))
    if left < 0:
        return wide
    shown = list(narrow.entries)
    for better in (wide.entries, layout.entries):
        for number in hits:
            more = layout.count(better[number].text) - layout.count(shown[number].text)
            if more <= left and better[number] != shown[number]:
                shown[number], left = better[number], left - more
    return layout.showing(shown)


def _cut_all(layout: Layout, hits: Sequence[int], cut: Cut, room: int) -> Layout:
    shown = list(layout.entries)
    for number in hits:
        shown[number] = cut(number, room)
    return layout.showing(shown)
