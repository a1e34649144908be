"""Does the importance that a text sounds to have tell what will be asked for? By rule, against gold labels.

python -m benchmarks.salience --data DIR
"""

from __future__ import annotations

import argparse

import numpy as np

from adaptive_memory_core.learn.salience import salience
from benchmarks.data import add_data_argument, load

SETS = ("locomo", "assistant_chats", "madial_en")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_argument(parser)
    folder = parser.parse_args().data
    print("set  half  records  asked for  P(a record that was asked for sounds more important than one that was not)")
    for name in SETS:
        found = load(folder, name)
        gold = {one for question in found.questions for one in question.gold_ids}
        for half in (0, 1):
            own = [one for number, one in enumerate(found.items) if number % 2 == half]
            scores = np.array([salience(one.text) for one in own])
            asked = np.array([one.id in gold for one in own])
            print(f"{name}  {half}  {len(own)}  {asked.sum()}  {likelier(scores[asked], scores[~asked]):.3f}")


def likelier(some: np.ndarray, others: np.ndarray) -> float:
    """The chance that one of these is above one of those; a tie counts half (the area under the curve)."""
    if not len(some) or not len(others):
        return float("nan")
    ordered = np.sort(others)
    below, up_to = np.searchsorted(ordered, some, "left"), np.searchsorted(ordered, some, "right")
    return float((below + up_to).mean() / 2 / len(others))


if __name__ == "__main__":
    main()
