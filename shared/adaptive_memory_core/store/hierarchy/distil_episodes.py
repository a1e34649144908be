"""What is kept of the episodes that are due? A title, and sentences with their vectors; by a model, or else by rule."""

from __future__ import annotations

from collections.abc import Sequence

from adaptive_memory_core.flow.ports.hierarchy_values import DueEpisode, NewSemantic
from adaptive_memory_core.hierarchy.episodes import title_of
from adaptive_memory_core.hierarchy.nodes import Distilled, Said
from adaptive_memory_core.hierarchy.semantics import distil
from adaptive_memory_core.records import Scope
from adaptive_memory_core.store.hierarchy.growing import Growing, kept_note, lines_of, unit

AT_ONCE = 16  # episodes whose sentences are embedded together
LONGEST_TITLE = 200  # characters of one that a model gives


def distil_episodes(growing: Growing, scope: Scope) -> int:
    """One page of them; gives how many were looked at, so that none is left where it is 0."""
    due = growing.rows.due(scope, AT_ONCE)
    made = [(one, said) for one in due if (said := growing.present(scope, one.messages)) is not None]
    kept = [_distilled(growing, said) for _, said in made]
    texts = [one.text for own, _ in kept for one in own]
    vectors = unit(growing.embedder.embed_documents(texts)).astype("<f2") if texts else ()
    rows = iter(vectors)
    for (episode, said), (own, semantics_note) in zip(made, kept, strict=True):
        times = {one.id: one.at for one in said}
        new = [NewSemantic(one, max(times[id_] for id_ in one.messages), next(rows).tobytes()) for one in own]
        title, title_note = _title(growing, said)
        growing.rows.distilled(scope, episode, title, new, kept_note(semantics_note or title_note))
    return len(due)


def _distilled(growing: Growing, said: Sequence[Said]) -> tuple[list[Distilled], str | None]:
    """What a model found, each with the messages that say it; else the sentences that say most, and why."""
    note = None
    if growing.roles.semantics is not None:
        facts = growing.roles.semantics(lines_of(said))
        if facts.found is not None:
            found = [
                Distilled(one.text, one.text, tuple(said[place].id for place in one.places)) for one in facts.found
            ]
            return list({one.text: one for one in found}.values()), None
        note = facts.note
    return distil(said, growing.settings().semantics), note


def _title(growing: Growing, said: Sequence[Said]) -> tuple[str, str | None]:
    if growing.roles.episode is None:
        return title_of(said), None
    title = growing.roles.episode(lines_of(said))
    return (title_of(said), title.note) if title.text is None else (title.text[:LONGEST_TITLE], None)


__all__ = ["DueEpisode", "distil_episodes"]
