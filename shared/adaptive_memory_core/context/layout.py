"""How is a block of hits laid out, and how many tokens does it take? Its lines, under a heading for what they share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from adaptive_memory_core.context.blocks import Page
from adaptive_memory_core.context.clean import heading
from adaptive_memory_core.context.entries import Entry, shared
from adaptive_memory_core.context.styles import Style
from adaptive_memory_core.context.token_estimate import Count


@dataclass(slots=True)
class Layout:
    """A page in a style, with what was reckoned of it already. `entries` are in the order of the page's lines."""

    page: Page
    entries: Sequence[Entry]
    form: Style
    ids: bool
    count: Count
    headings: bool = False  # whether blocks say what they are about
    _shared: dict[int, Entry] = field(default_factory=dict)
    _costs: dict[tuple[int, bool], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        members: dict[int, list[Entry]] = {}
        for number, line in enumerate(self.page.lines):
            members.setdefault(line.block, []).append(self.entries[number])
        headings = self.page.headings if self.headings else {}
        self._shared = {
            block: replace(shared(own), about=heading(headings.get(block, "")) or None)
            for block, own in members.items()
            if len(own) > 1
        }

    def showing(self, entries: Sequence[Entry]) -> Layout:
        """The same page with other texts of its memories."""
        return Layout(self.page, entries, self.form, self.ids, self.count, self.headings)

    def lines(self, chosen: Iterable[int]) -> list[str]:
        """These lines of the page as they are written: block by block, each in the order it was said in."""
        blocks: dict[int, list[int]] = {}
        for number in sorted(chosen):
            blocks.setdefault(self.page.lines[number].block, []).append(number)
        return [line for block in sorted(blocks) for line in self._written(block, blocks[block])]

    def cost(self, number: int, beside: Sequence[int]) -> int:
        """About how many tokens one more line costs where these of its block are there."""
        if not beside:
            return self._cost(number, alone=True)
        if len(beside) > 1:
            return self._cost(number, alone=False)
        above = self._heading(self.page.lines[number].block)
        first = self._cost(beside[0], alone=False) - self._cost(beside[0], alone=True)
        return sum(self.count(one + "\n") for one in above) + first + self._cost(number, alone=False)

    def _cost(self, number: int, *, alone: bool) -> int:
        known = self._costs.get((number, alone))
        if known is None:
            written = self._alone(number) if alone else self._within(number)
            known = self._costs[number, alone] = self.count(written + "\n")
        return known

    def _written(self, block: int, numbers: Sequence[int]) -> list[str]:
        if len(numbers) == 1:
            return [self._alone(numbers[0])]
        opening, *closing = self._heading(block)
        ordered = sorted(numbers, key=lambda number: self.page.lines[number].order)
        return [opening, *(self._within(number) for number in ordered), *closing]

    def _heading(self, block: int) -> list[str]:
        return [one for one in self.form.around(self._shared[block]) if one]

    def _alone(self, number: int) -> str:
        return self.form.entry(self.entries[number], ids=self.ids)

    def _within(self, number: int) -> str:
        line = self.page.lines[number]
        own = self.entries[number].without(self._shared[line.block])
        shown = self.ids and (line.fact or line.rank is not None)
        return self.form.turn(own, ids=shown, found=line.rank is not None)
