"""How does one steer it? By verdicts, by presets and single numbers - and a number that makes no sense is refused."""

from __future__ import annotations

import tempfile

from adaptive_memory_core import AdaptiveMemory, Policy, PolicyError, UserMemory, Weights

DAY = 86_400.0
CUE = "how do I get to the office in the morning?"


class Clock:
    """A time that moves when we say so."""

    now = 1_780_000_000.0

    def __call__(self) -> float:
        return self.now


def write(user: UserMemory, now: float) -> None:
    user.remember("To get to the office, take the tram at Mill Road.", id="tram", created_at=now - 40 * DAY)
    user.remember("To get to the office, take the bus at Mill Road.", id="bus", created_at=now - 40 * DAY)
    user.remember("The office has a bicycle cellar.", id="bicycle", created_at=now - 20 * DAY, importance=0.3)
    user.remember("The dentist is open on Saturdays.", id="dentist", created_at=now - 1 * DAY, importance=0.9)


def judge(user: UserMemory, clock: Clock) -> None:
    """Verdicts of four mornings. Each counts once per recall, and moves the importance by at most 5 %."""
    for _ in range(4):
        clock.now += DAY
        recall = user.recall(CUE, k=4)
        new = user.feedback(recall, helpful=["bus"], unhelpful=["tram"])
        again = user.feedback(recall.id, helpful=["bus"], unhelpful=["tram"])  # by id, as another process would
        print(f"order {recall.ids}; new verdicts: {new}, when sent again: {again}")
    for record_id in ("tram", "bus"):
        record = user.get(record_id)
        print(f"{record_id}: boost {record.read.boost:+.3f}, importance now {record.importance:.3f}")


def compare(user: UserMemory) -> None:
    """The same moment under several policies; reinforce=False looks without touching."""
    policies = {name: Policy.preset(name) for name in ("default", "equal", "assistant", "support", "coding")}
    policies["only similarity"] = Policy(weights=Weights(recency=0, importance=0, similarity=1))
    for name, policy in policies.items():
        recall = user.recall(CUE, k=4, reinforce=False, policy=policy)
        print(f"{name:>16}: " + ", ".join(f"{hit.id} {hit.score:.2f}" for hit in recall))


def main() -> None:
    clock = Clock()
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as path,
        AdaptiveMemory.open(path, clock=clock) as memory,
    ):
        user = memory.for_user("noor")
        write(user, clock())
        print("first\n" + user.recall(CUE, k=3, reinforce=False).explain())
        print("\nverdicts")
        judge(user, clock)
        print("\nlater\n" + user.recall(CUE, k=3, reinforce=False).explain())
        print("\nunder other policies")
        compare(user)

        memory.policy = memory.policy.replace(min_similarity=0.2, half_life_days=7)
        print("\nwith a floor, an unrelated cue finds nothing\n" + user.recall("a recipe for pancakes").explain())
        try:
            memory.policy = memory.policy.replace(half_life_days=-7)
        except PolicyError as error:
            print(f"\nrefused: {error}\nstill in force: half_life_days={memory.policy.half_life_days}")


if __name__ == "__main__":
    main()
