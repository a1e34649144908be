"""Which small scenes hold a fact that changed, and which only look like it? All made up.

A line has a kind, questions and sentences, oldest first, with tabs between the three and `|` within them. In
`controls.tsv` no sentence replaces another one; in `versions.tsv` the last one replaces those before it.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
LONG = (
    "Good that you ask, that is worth a closer look. Most people find it easier to begin with a short list, and to "
    "come back to it after a day or two.",
    "There are some things to keep in mind here. The first is time: nobody gets all of it done in one evening. The "
    "second is money, since good material has its price. The third is patience.",
    "I would also look at what others have tried before. Many of them began too big and lost interest after a month, "
    "which is a pity, for the small steps are what counts in the end.",
    "If you like, we can go through the details together next time. Until then, a good night's sleep and a walk are a "
    "fine start. Let me know how it goes!",
)


class Scene(NamedTuple):
    """What was said, oldest first, and what is asked afterwards."""

    kind: str
    number: int  # among those of its kind
    questions: tuple[str, ...]
    sentences: tuple[str, ...]

    @property
    def half(self) -> str:
        return "held out" if self.number % 2 else "tuned"


def scenes(name: str) -> list[Scene]:
    """Those of a file."""
    found: list[Scene] = []
    count: dict[str, int] = {}
    for line in (FOLDER / f"{name}.tsv").read_text(encoding="utf-8").splitlines():
        kind, questions, sentences = line.split("\t")
        number = count[kind] = count.get(kind, -1) + 1
        found.append(Scene(kind, number, tuple(questions.split("|")), tuple(sentences.split("|"))))
    return found


def in_long_messages(scene: Scene, *, all_of_them: bool) -> Scene:
    """What is new, or all of it, said within a long message."""
    last = len(scene.sentences) - 1
    told = tuple(_long(one) if all_of_them or place == last else one for place, one in enumerate(scene.sentences))
    kind = "same words, all in long messages" if all_of_them else "same words, the newest in a long message"
    return scene._replace(kind=kind, sentences=told)


def _long(sentence: str) -> str:
    before, after = LONG[:2], LONG[2:]
    return "\n\n".join([*before, f"{sentence} That much is clear.", *after])
