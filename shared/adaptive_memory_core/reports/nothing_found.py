"""What does a calibration report? What unrelated questions find, in numbers and as text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unrelated:
    """A question that has nothing to do with the memory, the similarity of the best it found there, and the share of
    such questions that find as good."""

    question: str
    similarity: float
    chance: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """What unrelated questions find in one scope: how similar the best of each is, and which came nearest.

    `similarity` is the mean and `spread` the standard deviation. A question in `nearest` that the memory does answer
    is not unrelated: give questions of your own to `calibrate`.

    >>> print(Calibration("user 'ann'", 40, 172, 0.0, 0.21, 0.05, (Unrelated("Is tin magnetic?", 0.4, 0.01),)))
    172 unrelated questions to the 40 records of user 'ann': the best hit of each has a similarity of 0.21 +- 0.05.
    The ones that came nearest (similarity, and the share of such questions that find as good):
      0.40    1 %  Is tin magnetic?
    """

    scope: str
    records: int
    questions: int
    at: float
    similarity: float
    spread: float
    nearest: tuple[Unrelated, ...]

    def __str__(self) -> str:
        reach = f"the best hit of each has a similarity of {self.similarity:.2f} +- {self.spread:.2f}"
        return "\n".join(
            [
                f"{self.questions} unrelated questions to the {self.records:,} records of {self.scope}: {reach}.",
                "The ones that came nearest (similarity, and the share of such questions that find as good):",
                *(f"  {one.similarity:.2f}  {100 * one.chance:3.0f} %  {one.question}" for one in self.nearest),
            ]
        )
