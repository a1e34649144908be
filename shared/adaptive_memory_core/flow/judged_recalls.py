"""Which past recalls tell policies apart? Those with a verdict, where the log gives the ranking again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from adaptive_memory_core.flow.past_candidates import past_candidates
from adaptive_memory_core.flow.ports import Ports
from adaptive_memory_core.flow.rank_again import as_it_was, over_the_same, question_of, records_of, verdicts_in_log
from adaptive_memory_core.flow.rankable import Rankable
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Cue, Scope, Verdict
from adaptive_memory_core.reports import LoggedRecall
from adaptive_memory_core.sources.request import Request


@dataclass(frozen=True, slots=True)
class JudgedRecall:
    """A past recall with what was said of its hits, to be ranked again."""

    line: LoggedRecall
    question: Rankable
    verdicts: Mapping[str, Verdict]

    @property
    def helpful(self) -> frozenset[str]:
        return frozenset(one for one, verdict in self.verdicts.items() if verdict is Verdict.HELPFUL)


@dataclass(frozen=True, slots=True)
class JudgedLog:
    """The judged recalls of a scope, how many others were judged but cannot be ranked again, and all lines of that
    time, oldest first."""

    recalls: Sequence[JudgedRecall]
    lost: int
    lines: Sequence[LoggedRecall]


def judged_recalls(ports: Ports, asked: Request, *, since: float | None, until: float | None, limit: int) -> JudgedLog:
    """The judged recalls of the newest `limit` in that time; their candidates are those of the policy of `asked`."""
    scope, log = asked.scope, ports.ledger.log
    found = log.recalls(scope, since=since, until=until, limit=limit, containing=None)
    lines = sorted(found, key=lambda line: (line.at, line.step))
    verdicts = verdicts_in_log(ports, scope)
    judged = [line for line in lines if verdicts.get(line.id)]
    policies = _policies(ports, judged)
    recalls: list[JudgedRecall] = []
    for over, some in over_the_same(judged):
        reader = Scope(scope.user, over)
        records = records_of(ports, reader, some)
        for line in some:
            own = policies[line.policy_hash]
            request = replace(asked, id=line.id, scope=reader, cue=Cue(line.cue), k=line.k, now=line.at)
            if own is not None:
                past = past_candidates(line, own, records, reader, ports.fields)
                past, _, reproduced = as_it_was(ports, replace(request, draws=True), past, own)
                if reproduced:
                    question = question_of(ports, request, past, asked.policy)
                    recalls.append(JudgedRecall(line, question, verdicts[line.id]))
    return JudgedLog(recalls, len(judged) - len(recalls), lines)


def _policies(ports: Ports, lines: Iterable[LoggedRecall]) -> dict[str, Policy | None]:
    """The policies by which they were made; None where the log has one no longer."""
    known: dict[str, Policy | None] = {}
    for name in dict.fromkeys(line.policy_hash for line in lines):
        text = ports.ledger.log.policy(name)
        known[name] = None if text is None else Policy.from_json(text)
    return known
