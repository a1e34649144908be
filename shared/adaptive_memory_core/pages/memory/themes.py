"""What is the memory about? The themes of what was observed, each with what is known of it."""

from __future__ import annotations

from adaptive_memory_core.context.ages import date
from adaptive_memory_core.context.theme_picture import circles
from adaptive_memory_core.context.themes import Theme
from adaptive_memory_core.pages.markup import plural, shown
from adaptive_memory_core.pages.memory.facts import MemoryFacts
from adaptive_memory_core.pages.shell import Section

MOST_THEMES, MOST_KNOWN = 60, 25
TOOLS = '<div class="tools"><button type="button" data-opens="theme-list">Open all</button></div>'


def themes(facts: MemoryFacts) -> Section | None:
    """None where no conversation was observed."""
    found = facts.themes
    if not len(found):
        return None
    numbers = found.statistics
    lead = (
        f"{plural(numbers.messages, 'message')} in {plural(numbers.episodes, 'episode')} "
        f"and {plural(len(found), 'theme')}"
        + (f"; {plural(numbers.waiting, 'message')} are not worked in yet" if numbers.waiting else "")
        + (f". The largest {MOST_THEMES} are shown." if len(found) > MOST_THEMES else ".")
    )
    drawn = list(found)[:MOST_THEMES]
    body = circles([(one.name, len(one.known)) for one in drawn], "theme-")
    listed = "".join(_theme(place, one) for place, one in enumerate(drawn))
    return Section("themes", "Themes", lead, f'{body}{TOOLS}<div id="theme-list">{listed}</div>')


def _theme(place: int, theme: Theme) -> str:
    days = (
        date(theme.begins) if date(theme.begins) == date(theme.ends) else f"{date(theme.begins)} to {date(theme.ends)}"
    )
    known = "".join(_known(date(one.at), one.text, one.episode, one.replaced) for one in theme.known[-MOST_KNOWN:])
    left_out = len(theme.known) - MOST_KNOWN
    more = f'<p class="none">{left_out:,} older ones are left out.</p>' if left_out > 0 else ""
    return (
        f'<details class="theme" id="theme-{place}"><summary><b>{shown(theme.name, 80)}</b>'
        f'<span class="meta">{plural(len(theme.ids), "message")}</span> <time>{days}</time></summary>'
        f"<ul>{known}</ul>{more}</details>"
    )


def _known(day: str, text: str, episode: str, replaced: tuple[str, ...]) -> str:
    before = "; ".join(shown(one, 120) for one in replaced[:3])
    return (
        f'<li><time>{day}</time> <bdi dir="auto">{shown(text, 400)}</bdi>'
        + (f" <small>before: <del>{before}</del></small>" if before else "")
        + f' <small class="meta">{shown(episode, 80)}</small></li>'
    )
