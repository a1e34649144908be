"""How does a comparison of systems look as a page? Of each set of data the measures, differences and ablations."""

from __future__ import annotations

from adaptive_memory_core.pages.experiment.ablations import ablations
from adaptive_memory_core.pages.experiment.differences import differences
from adaptive_memory_core.pages.experiment.facts import Facts
from adaptive_memory_core.pages.experiment.measures import measures, spreads
from adaptive_memory_core.pages.markup import plural, shown
from adaptive_memory_core.pages.shell import Section, page


def experiment_page(facts: Facts) -> str:
    """The whole page, in one file that needs nothing else."""
    sections = [Section("overview", "What was compared", "", _systems(facts))]
    for place, one in enumerate(facts.data):
        lead = f"{plural(one.items, 'item')}, {plural(one.users, 'user')}, {plural(one.questions, 'question')}."
        body = measures(facts, one.name, place) + differences(facts, one.name) + ablations(facts, one.name)
        sections.append(Section(f"data-{place}", shown(one.name, 60), lead, body + spreads(facts, one.name, place)))
    sections.append(Section("how", "How it was run", "", _how(facts)))
    systems, sets = plural(len(facts.systems), "system"), plural(len(facts.data), "set")
    lead = f"{systems} on {sets} of data, each compared with {shown(facts.baseline)}."
    made = "Made by adaptive-memory-retrieval. Intervals are bootstrapped over clusters of questions."
    return page(facts.title or "Comparison", lead, sections, made=made)


def _systems(facts: Facts) -> str:
    rows = [
        f"<dt>{shown(one.name, 60)}{' (baseline)' if one.name == facts.baseline else ''}</dt>"
        f"<dd>{shown(one.about or '–', 300)}{f'; answers by {shown(one.model, 60)}' if one.model else ''}</dd>"
        for one in facts.systems
    ]
    notes = "".join(f"<li>{shown(one, 400)}</li>" for one in facts.notes)
    return f'<dl class="facts">{"".join(rows)}</dl>' + (f"<h3>Notes</h3><ul>{notes}</ul>" if notes else "")


def _how(facts: Facts) -> str:
    told: list[tuple[str, object]] = [("command", facts.command or "–"), ("seconds", f"{facts.seconds:,.1f}")]
    told += [(name, value) for part in (facts.machine, facts.versions) for name, value in part.items()]
    rows = "".join(f"<dt>{shown(name, 40)}</dt><dd><code>{shown(value, 200)}</code></dd>" for name, value in told)
    return f'<dl class="facts">{rows}</dl>'
