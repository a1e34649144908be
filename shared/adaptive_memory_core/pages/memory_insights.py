"""The first section of a memory's page: records that helped or failed, unread records, and open questions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from adaptive_memory_core.pages.markup import Section, cards, chip, html_text, moment, plural
from adaptive_memory_core.pages.memory_records import MemoryFacts, QuestionInLog, RecordList, marks, verdict_counts
from adaptive_memory_core.records import Record
from adaptive_memory_core.reports import Change, LoggedRecall

MOST_LISTED, CHARACTERS = 5, 160  # items of a list, and of each item's text
CLOSING = " ?!.,;:…"
NOTHING_FOUND, ONLY_UNHELPFUL = "nothing found", "only unhelpful results"
Verdicts = Mapping[tuple[str, str], str]  # "helpful" or "unhelpful", by the ids of a recall and of a record


def insights_section(facts: MemoryFacts) -> Section:
    """Things to act on: first about records, then about questions, each only if there are any."""
    drawn = [*(_record_cards(facts) if facts.total else []), *(_question_cards(facts) if facts.log.counted else [])]
    if not drawn:
        return Section("insights", "Insights", "", '<p class="none">There are no records or questions yet.</p>')
    lead = "All times are in UTC."
    if facts.log.counted:
        lead = f"Questions are those of the newest {plural(facts.log.counted, 'recall')} in the log. {lead}"
    return Section("insights", "Insights", lead, cards(drawn))


def _record_cards(facts: MemoryFacts) -> list[tuple[str, str, str]]:
    return [
        (
            "Most helpful",
            _records(facts.helpful, facts, "No record was judged helpful more often than unhelpful."),
            "Judged helpful more often than unhelpful.",
        ),
        (
            "Repeatedly unhelpful",
            _records(facts.unhelpful, facts, "No record was judged unhelpful twice, and more often than helpful."),
            "Judged unhelpful at least twice, and more often than helpful: correct, demote or forget them.",
        ),
        (
            "Never read",
            _records(facts.unread, facts, "Every record was read."),
            f"{plural(facts.unread.total, 'record')} of {facts.total:,}, those written first at the top.",
        ),
    ]


def _question_cards(facts: MemoryFacts) -> list[tuple[str, str, str]]:
    unanswered = [one for one in facts.log.questions if one.problem]
    repeated = sorted((one for one in facts.log.questions if len(one.recalls) > 1), key=lambda one: -len(one.recalls))
    return [
        (
            "Unanswered",
            _questions(unanswered, facts, "Every question in the log found something."),
            "Nothing was found the last time, or all that was found was judged unhelpful.",
        ),
        (
            "Repeated questions",
            _questions(repeated, facts, "No question in the log was asked twice."),
            "Case, spaces and closing punctuation aside.",
        ),
    ]


def _records(found: RecordList, facts: MemoryFacts, none: str) -> str:
    return _listed([_record(one, facts) for one in found.first[:MOST_LISTED]], found.total, none)


def _record(record: Record, facts: MemoryFacts) -> str:
    counts = verdict_counts(record)
    shown = marks(record, facts.now) + (counts if counts != "–" else "")
    if record.created_at is not None:
        shown += f"<small>written {moment(record.created_at)}</small>"
    return f'<bdi dir="auto">{html_text(record.text, CHARACTERS)}</bdi><span class="block">{shown}</span>'


def _questions(found: Sequence[QuestionInLog], facts: MemoryFacts, none: str) -> str:
    drawn = {one.id for one in facts.log.recalls}
    return _listed([_question(one, drawn) for one in found[:MOST_LISTED]], len(found), none)


def _question(one: QuestionInLog, drawn: set[str]) -> str:
    text = f'<bdi dir="auto">{html_text(one.cue, CHARACTERS)}</bdi>'
    newest = one.recalls[0]
    if newest in drawn:
        text = f'<a href="#{recall_anchor(newest)}">{text}</a>'
    return f'{text}<span class="block">{asked(one)}<small>last asked {moment(one.at)}</small></span>'


def asked(one: QuestionInLog) -> str:
    """Marks for the number of times a question was asked and for a problem with its answer."""
    chips = chip(f"asked {len(one.recalls):,} times") if len(one.recalls) > 1 else ""
    return chips + (chip(one.problem, "bad") if one.problem else "")


def _listed(items: Sequence[str], total: int, none: str) -> str:
    if not items:
        return f'<p class="none">{none}</p>'
    more = f'<p class="none">and {total - len(items):,} more</p>' if total > len(items) else ""
    return f'<ol class="insights">{"".join(f"<li>{one}</li>" for one in items)}</ol>{more}'


def recall_anchor(recall_id: str) -> str:
    """The anchor of a recall in the page."""
    return f"recall-{html_text(recall_id, 60)}"


def verdicts_of(changes: Iterable[Change]) -> Verdicts:
    """The newest verdict on each result of each recall, from changes in order from the newest.

    >>> newest = Change("tea", 2.0, 2, "helpful", "recall r1")
    >>> verdicts_of([newest, Change("tea", 1.0, 1, "unhelpful", "recall r1"), Change("tea", 0.0, 1, "pinned", "Ana")])
    {('r1', 'tea'): 'helpful'}
    """
    found: dict[tuple[str, str], str] = {}
    for one in changes:
        if one.what in ("helpful", "unhelpful") and one.by.startswith("recall "):
            found.setdefault((one.by.removeprefix("recall "), one.id), one.what)
    return found


def question_key(cue: str) -> str:
    """A key that is equal for repetitions of a question.

    >>> question_key("  Which  database?"), question_key("which database"), question_key("?!")
    ('which database', 'which database', '?!')
    """
    plain = " ".join(cue.casefold().split())
    return plain.rstrip(CLOSING) or plain


def asked_questions(recalls: Iterable[LoggedRecall], verdicts: Verdicts) -> list[QuestionInLog]:
    """Group recalls, newest first, by question. The question asked last comes first."""
    groups: dict[str, list[LoggedRecall]] = {}
    for recall in recalls:
        groups.setdefault(question_key(recall.cue), []).append(recall)
    return [
        QuestionInLog(
            cue=group[0].cue, at=group[0].at, recalls=tuple(one.id for one in group), problem=_problem(group, verdicts)
        )
        for group in groups.values()
    ]


def _problem(askings: Sequence[LoggedRecall], verdicts: Verdicts) -> str:
    """The problem with the newest answer, by the newest feedback on each of its results for this question."""
    hits = askings[0].kept
    if not hits:
        return NOTHING_FOUND
    judged = [next((verdicts[key] for one in askings if (key := (one.id, hit.id)) in verdicts), "") for hit in hits]
    return ONLY_UNHELPFUL if all(verdict == "unhelpful" for verdict in judged) else ""
