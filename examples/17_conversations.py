"""How is a conversation observed, and what is remembered of it? Messages at once, themes beside them."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from adaptive_memory_core import AdaptiveMemory

DAY = 86_400.0
TALK = {
    "a monday in may": (
        ("Ana", "I adopted a beagle puppy last week. His name is Rex."),
        ("Ben", "Sweet! My sister has a beagle as well."),
        ("Ana", "Rex chews all my shoes, so he goes to puppy school."),
        ("Ana", "By the way, I live in Oslo now."),
        ("Ben", "I have never been to Norway."),
    ),
    "a sunday in july": (
        ("Ana", "I live in Turin now. Oslo was too cold for the puppy."),
        ("Ben", "Then you can come to my concert: I play the cello in Milan in August."),
    ),
}


def main(directory: Path) -> None:
    messages = [
        {"speaker": speaker, "text": text, "session": session, "at": 1_683_500_000.0 + 60 * DAY * day + 60.0 * place}
        for day, (session, talk) in enumerate(TALK.items())
        for place, (speaker, text) in enumerate(talk)
    ]
    with AdaptiveMemory.open(directory / "memory") as memory:
        ana = memory.for_user("ana")
        ids = ana.observe(messages)
        assert ana.observe(messages) == ids  # again, and nothing is stored twice
        print("Asked for:", ana.recall("what does the puppy chew?", k=1)[0].text)
        themes = ana.themes()
        print(themes)
        print(f"{themes.statistics.messages} messages, {len(themes)} themes")
        (directory / "themes.html").write_text(themes.html(), encoding="utf-8")
        ana.forget(ids[2])
        print("Forgotten:", "shoes" not in str(ana.themes()))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder))
