"""Methods that evaluate a policy and tune it, for one user or for several together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adaptive_memory_core import arguments as check
from adaptive_memory_core.arguments.recalls import labelled_questions
from adaptive_memory_core.arguments.values import Moment
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.flow.calibrate import ask_labelled
from adaptive_memory_core.flow.calls.running_calls import blocking
from adaptive_memory_core.flow.feedback import judged_recalls
from adaptive_memory_core.in_force import suited, usual_policy
from adaptive_memory_core.policy.policy import Policy
from adaptive_memory_core.records import Cue
from adaptive_memory_core.sources.ask import channels_of
from adaptive_memory_core.sources.request import Request
from adaptive_memory_core.verbs.inspection import MOST_LINES

if TYPE_CHECKING:  # loaded by the call that needs it
    from adaptive_memory_core.evaluate.tune import Tuner, Tuning, TuningExamples
    from adaptive_memory_core.evaluate.worth import Evaluation
    from adaptive_memory_core.memory import AdaptiveMemory
    from adaptive_memory_core.user_memory import UserMemory

PRIOR = 50.0  # questions at which the policy moves half of the way; guess
MOST_PRIOR = 1_000_000.0
TOP_DOWN = (
    "The policy has the shape 'top_down', and to which episodes the themes lead cannot be ranked again. Tune with the "
    "shape 'flat' or 'episodes', and set the shape of the result."
)


def evaluate(user: UserMemory, pairs: Any, k: int = 10, policy: Policy | None = None) -> Evaluation:
    """Measure how well recalls find the records that answer these questions: recall@k, NDCG@k and hit@1, each with its
    interval.

    `pairs` are questions, each with the ids or texts of the records that answer it, as for `tune`. The recalls use
    `policy` (omitted: the user's own, or the memory's). Nothing counts as read. Print the result.
    """
    from adaptive_memory_core.evaluate.worth import evaluated

    given, most = labelled_questions(pairs), check.count(k, "k")
    by = starting_policy(user, policy)
    asked = ask_labelled(user.memory.ports(), request_of(user, by, most), given)
    return evaluated(asked, by, k=most)


def tune(
    user: UserMemory,
    pairs: Any = None,
    k: int = 10,
    policy: Policy | None = None,
    *,
    since: Moment | None = None,
    until: Moment | None = None,
    held_out: float = 0.5,
    prior: float = PRIOR,
    seed: int = 0,
) -> Tuning:
    """Tune weights, fusion and half-life for this user's questions; returns the better policy, or why there is none.

    For a labelled question the first `k` hits count; each recall in the log has its own `k`.

    `pairs` are questions, each with the ids or texts of the records that answer it: `("which tea?", ["id"])`, or
    mappings with `question`, `answers` and optionally `now`. Each question is asked once, without counting as read.
    Without pairs, the feedback on the recalls in the log (from `since`, up to `until`) is used instead. The decay
    settings are then tuned as well, from the reads in the log.

    The search begins at `policy` (omitted: the user's own, or the memory's). The share `held_out` of the questions is
    reserved for judging the result. If the gain on these is within the noise, or there are too few questions, the
    tuning is `refused` with the reason, and its `policy` is the starting one. The fewer questions there are, the less
    the policy moves: half of the way at `prior` questions. Keep the result with `memory.for_user(name,
    policy=tuning.policy)`, or write it with `tuning.policy.save(path)` (docs/guides/measuring.md).
    """
    tuner = tuner_of(held_out, prior, seed)
    start = starting_policy(user, policy)
    evidence = evidence_of(user, pairs, start, k=k, since=since, until=until)
    return evidence.tuned(start, tuner)


def evidence_of(
    user: UserMemory, pairs: Any, start: Policy, *, k: int, since: Moment | None = None, until: Moment | None = None
) -> TuningExamples:
    """Examples for tuning from this user's labelled questions, or without pairs from the feedback in the log."""
    from adaptive_memory_core.evaluate.tune import of_labelled, of_log

    if start.shape == "top_down":
        raise InvalidInputError(TOP_DOWN)
    most, begin, end = check.count(k, "k"), check.moment(since, "since"), check.moment(until, "until")
    if pairs is None:
        asked = request_of(user, start, most)
        log = judged_recalls(user.memory.ports(), asked, since=begin, until=end, limit=MOST_LINES)
        return of_log(log)
    if begin is not None or end is not None:
        raise InvalidInputError("since and until are of the log. Leave them out where pairs are given.")
    given = labelled_questions(pairs)
    found = ask_labelled(user.memory.ports(), request_of(user, start, most), given)
    return of_labelled(found, user.scope.user, k=most)


def tuner_of(held_out: object, prior: object, seed: object) -> Tuner:
    """The tuner with these settings, checked."""
    from adaptive_memory_core.evaluate.tune import Tuner

    part = check.fraction(held_out, "held_out")
    if not 0.0 < part < 1.0:
        raise InvalidInputError(
            f"held_out is {shown(held_out)}. Give a share above 0 and below 1: some tune, some judge."
        )
    if isinstance(prior, bool) or not isinstance(prior, int | float) or not 0 <= prior <= MOST_PRIOR:
        raise InvalidInputError(
            f"prior is {shown(prior)}. Give how many questions count half, from 0 to {MOST_PRIOR:,.0f}."
        )
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise InvalidInputError(f"seed is {shown(seed)}. Give a whole number from 0 to {2**32 - 1}.")
    return Tuner(held_out=part, prior=float(prior), seed=seed)


def starting_policy(user: UserMemory, given: Policy | None) -> Policy:
    """The policy to begin with: the given one, else the user's own, else the memory's."""
    usual = usual_policy(user) if given is None else given
    return suited(user.memory.ports(), user.scope, checked_policy(user.memory, usual))


def policy_for(memory: AdaptiveMemory, given: Policy | None) -> Policy:
    """The given policy or the memory's, checked, with automatic settings decided for the embedder."""
    return checked_policy(memory, given).suited()


def checked_policy(memory: AdaptiveMemory, given: Policy | None) -> Policy:
    """The given policy or the memory's; a channel that this memory does not have raises an error."""
    policy = check.policy(given, memory.policy)
    check.channels(policy, channels_of(memory.ports().sources))
    return policy


def request_of(user: UserMemory, policy: Policy, k: int) -> Request:
    """The request that all questions of a tuning share."""
    memory = user.memory
    return Request(
        id="tuning",
        scope=user.scope,
        cue=Cue("tuning"),
        k=k,
        now=memory.now(),
        where=None,
        policy=policy,
        regime=memory.opened.in_force.regime,
        reinforce=False,
        fields=memory.fields,
        same_fact=memory.opened.same_fact,
    )


NOBODY = 'There is nobody to tune for. Give pairs by user: {"ana": [("which tea?", ["id of a record"]), ...]}.'
_evidence = blocking(evidence_of)


def tuned_together(
    users: Mapping[Any, tuple[UserMemory, Any]],
    policy: Policy,
    tuner: Tuner,
    *,
    each: bool,
    k: int,
    since: Moment | None,
    until: Moment | None,
) -> Tuning:
    """One policy tuned for all users. With `each`, it is then tuned further for every user; the fewer questions a user
    has, the closer it stays to the common policy."""
    from adaptive_memory_core.evaluate.tune import TuningExamples

    parts = {
        name: _evidence(user, pairs, policy, k=k, since=since, until=until) for name, (user, pairs) in users.items()
    }
    common = TuningExamples.joined(list(parts.values())).tuned(policy, tuner)
    if not each:
        return common
    return replace(common, users={name: one.tuned(common.policy, tuner) for name, one in parts.items()})


def by_user(pairs: object, user: object) -> Mapping[Any, Any]:
    """The pairs by user; anything else raises an error."""
    if user is not None:
        raise InvalidInputError(
            f"Both pairs and user={shown(user)} are given. The pairs name their users. Leave user out."
        )
    if not isinstance(pairs, Mapping) or not pairs:
        raise InvalidInputError(f"The pairs are {shown(pairs)}. {NOBODY}")
    return pairs


def each_apart(each: object, pairs: object, user: object) -> bool:
    """Whether every user is tuned separately as well, which requires that the caller named the users."""
    apart = check.flag(each, "each")
    if apart and pairs is None and user is None:
        raise InvalidInputError("each=True stands for users that are named. Give user=[...], or pairs by user.")
    return apart
