"""Which experiments does the ARM paper report? Its Table II, its comparison of memories and models, and its ablations.

Each is a list of systems for an experiment file, under the name that `arm` gives there:

- "table 2": memory under the balanced profile, and plain search, for each of `embedders` (tables with name, use,
  parameters_millions). NDCG@5, precision@5, recall@5, parameters, and NDCG@5 by million parameters. The paper's own
  column "Eff." follows from none of its others: it differs twofold between two rows of equal NDCG and equal size.
- "3 x 2": static, dynamic conservative and dynamic selective memory; give two `models`, as the paper did
- "theta", "gamma", "alpha": one of the three numbers by itself, the others as the paper recommends (3, 5, 0.95)
- "profiles": its five profiles beside plain search

The paper names no numbers for "dynamic selective"; its recommended (balanced) ones are taken. Questions count as reads,
in their order, and each is scored on what it was given (`reading = true`, `k = 5`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.plan import SystemPlan
from adaptive_memory_core.evaluate.systems.by_name import POLICIES
from adaptive_memory_core.policy import Policy

STATIC = SystemPlan("static", "static", {"policy": POLICIES["static"]})
REFERENCE = Policy.preset("balanced")
PROFILES = ("balanced", "ultra_efficient", "broad_adaptation", "conservative", "aggressive")
AXES: Mapping[str, tuple[str, tuple[float, ...]]] = {  # the field of `decay` behind each letter, and its values
    "theta": ("remembrance_threshold", (1, 2, 3, 5, 10, 20)),
    "gamma": ("grace", (0, 1, 2, 5, 10, 20)),
    "alpha": ("rate", (0.80, 0.90, 0.95, 0.98, 0.99, 1.0)),
}
Embedders = Sequence[Mapping[str, Any]]


def arm_systems(wanted: str | Sequence[str], embedders: Embedders = ()) -> tuple[SystemPlan, ...]:
    """The systems of one of the experiments, or of several, each once.

    >>> [one.name for one in arm_systems("3 x 2")]
    ['static', 'dynamic conservative', 'dynamic selective']
    >>> [one.value for one in arm_systems("alpha")]
    [None, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0]
    """
    names = list(wanted) if isinstance(wanted, list | tuple) else [wanted]
    if unknown := [one for one in names if not isinstance(one, str) or one not in EXPERIMENTS]:
        raise InvalidInputError(f"arm is {unknown}. The paper's experiments are {', '.join(EXPERIMENTS)}.")
    found = [one for name in names for one in EXPERIMENTS[str(name)](embedders)]
    return tuple({one.name: one for one in found}.values())


def _table_2(embedders: Embedders) -> Iterator[SystemPlan]:
    for one in embedders or ({"name": "local", "use": "local"},):
        if not {"name", "use"} <= set(one) <= {"name", "use", "parameters_millions"}:
            raise InvalidInputError(f"The embedder {dict(one)} needs name and use, and may say parameters_millions.")
        more: dict[str, Any] = {"embedder": one["use"], "parameters_millions": one.get("parameters_millions")}
        yield SystemPlan(str(one["name"]), "static", STATIC.settings, **more)
        yield SystemPlan(f"ARM, {one['name']}", "adaptive", {"policy": REFERENCE}, **more)


def _three_memories(_: Embedders) -> Iterator[SystemPlan]:
    yield STATIC
    yield SystemPlan("dynamic conservative", "adaptive", {"policy": Policy.preset("conservative")})
    yield SystemPlan("dynamic selective", "adaptive", {"policy": REFERENCE})


def _profiles(_: Embedders) -> Iterator[SystemPlan]:
    yield STATIC
    yield from (SystemPlan(name, "adaptive", {"policy": Policy.preset(name)}) for name in PROFILES)


def _one_number(axis: str) -> Callable[[Embedders], Iterator[SystemPlan]]:
    field, values = AXES[axis]

    def systems(_: Embedders) -> Iterator[SystemPlan]:
        yield STATIC
        for value in values:
            policy = REFERENCE.replace(decay={field: value})
            yield SystemPlan(f"{axis} {value:g}", "adaptive", {"policy": policy}, axis=axis, value=float(value))

    return systems


EXPERIMENTS: Mapping[str, Callable[[Embedders], Iterator[SystemPlan]]] = {
    "table 2": _table_2,
    "3 x 2": _three_memories,
    "profiles": _profiles,
    **{axis: _one_number(axis) for axis in AXES},
}
