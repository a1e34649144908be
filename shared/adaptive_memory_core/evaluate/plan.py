"""The plan of an experiment: data, systems and chat models, read from TOML or JSON or taken from the ARM paper.

The experiments that the ARM paper reports. An experiment file adds their systems by name, with `arm`:

- "table 2": memory under the balanced profile, and plain search, for each of `embedders` (tables with name, use,
  parameters_millions). NDCG@5, precision@5, recall@5, parameters, and NDCG@5 per million parameters. The paper's column
  "Eff." cannot be derived from the others: it differs twofold between two rows of equal NDCG and equal size.
- "3 x 2": static, dynamic conservative and dynamic selective memory; give two `models`, as the paper did
- "theta", "gamma", "alpha": one of the three numbers varies, the others are as the paper recommends (3, 5, 0.95)
- "profiles": the paper's five profiles next to plain search

The paper gives no numbers for "dynamic selective", so its recommended (balanced) numbers are used. Questions count as
reads, in their order, and each is scored on the hits that it received (`reading = true`, `k = 5`).

An experiment as TOML or JSON:

    title = "Static and fading memory"
    data = [{ folder = "data/locomo", most = 200 }]    # or longmemeval = "longmemeval_s.json", locomo = "locomo10.json"
    systems = [{ use = "chroma" }, { use = "static" }, { use = "dynamic", policy = "conservative" }]

Each of `data` takes folder, longmemeval or locomo; name, most, every, users, records ("turn", "session", "user") and
adversarial. Each of `systems` takes use (a name, or your own class as MODULE:NAME), name, policy (a preset, or a table
of changes, optionally with `preset`), settings (the system's own), embedder, axis, value, parameters_millions and
answers. Each of `models` takes model, name, base_url, api_key_env (the name of an environment variable, never a key),
requests_per_minute, input_price and output_price (per million tokens), max_tokens, options (of each request), retries
and timeout_seconds. `judge` is one more such table: that model judges whether each reply is correct. The other settings
are title, baseline, k, depth, reading, minutes_apart, page_tokens, cache, seed, embedders and arm (`EXPERIMENTS`).
Paths are relative to the file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from adaptive_memory_core.arguments.values import LARGEST_K
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError
from adaptive_memory_core.evaluate.systems import POLICIES
from adaptive_memory_core.models.extras import load
from adaptive_memory_core.policy import Policy
from adaptive_memory_core.whole_file import expanded

DEEP = 50  # hits: enough for ten sessions, or for 1,000 tokens of short turns
Hits = Annotated[int, Field(ge=1, le=LARGEST_K)]
Count = Annotated[int, Field(ge=0)]
Price = Annotated[float, Field(ge=0, le=1e9)]
Above0 = Annotated[float, Field(ge=1e-3, le=1e9)]


class _Plan(BaseModel):
    """Part of an experiment. Fields are checked by type; a wrong field raises an InvalidInputError that names it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)
    named: ClassVar[str]

    def __init__(self, **given: Any) -> None:
        try:
            super().__init__(**given)
        except ValidationError as error:
            raise InvalidInputError(self._complaint(error)) from error

    @classmethod
    def _complaint(cls, error: ValidationError) -> str:
        wrong = error.errors(include_url=False)[0]
        name = ".".join(map(str, wrong["loc"]))
        if wrong["type"] == "extra_forbidden":
            return f"{cls.named} has an unknown setting {name}. The settings are {', '.join(cls.model_fields)}."
        if wrong["type"] == "missing":
            return f"{cls.named} has no `{name}`. Give one."
        allowed = wrong["msg"].replace("Input should", "It must")
        return f"{cls.named} is not valid: {name} is {wrong['input']!r:.80}. {allowed}."


class DataPlan(_Plan):
    """A folder or file of labelled data, and which of its questions are asked."""

    named = "The data"
    path: Path
    kind: str = "folder"  # or "longmemeval", "locomo": the published files of these sets
    name: str = ""
    most: Count = 0  # questions, drawn by the seed; 0 = all
    every: Annotated[int, Field(ge=1)] = 1  # ask every n-th question only
    users: Count = 0  # ask for the first n users only; 0 = for all
    records: str = "turn"  # or "session", "user": the part of a published conversation in one record
    adversarial: bool = False  # also ask questions that have gold but no answer: LoCoMo's category 5


class SystemPlan(_Plan):
    """One system, with its settings and embedder."""

    named = "A system"
    name: str
    use: str
    settings: dict[str, Any] = {}
    embedder: str = "local"
    axis: str | None = None  # the setting that an ablation varies; `value` is its value
    value: float | None = None
    parameters_millions: float | None = None  # of the embedder
    answers: bool = True  # whether chat models answer from its hits


class ModelPlan(_Plan):
    """One chat model behind an OpenAI-compatible server. Prices are per million tokens."""

    named = "A model"
    name: str
    model: str
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    requests_per_minute: Above0 = 60.0
    input_price: Price | None = None
    output_price: Price | None = None
    max_tokens: Annotated[int, Field(ge=1)] = 256
    options: dict[str, Any] = {"temperature": 0.0}  # other fields of each request
    retries: Count = 4
    timeout_seconds: Above0 = 60.0


class Experiment(_Plan):
    """The settings of one comparison. `baseline` is the first system unless named."""

    named = "The experiment"
    data: Annotated[tuple[DataPlan, ...], Field(min_length=1)]
    systems: Annotated[tuple[SystemPlan, ...], Field(min_length=1)]
    title: str = ""
    baseline: str = ""
    k: Hits = 10  # hits that are measured
    depth: Hits | None = None  # hits to request; None: k if hits count as read, else 50 for sessions and budgets
    reading: bool = False  # whether each question counts as a read for those that follow it
    minutes_apart: Annotated[float, Field(ge=0, le=1e9)] = 30.0  # between two questions of a user, if they are reads
    page_tokens: Annotated[int, Field(ge=1)] = 1_000  # of the page that a chat model is shown
    models: tuple[ModelPlan, ...] = ()
    judge: ModelPlan | None = None  # judges whether each reply is correct
    cache: Path = Path("answers.jsonl")  # the models' replies, reused by a second run
    seed: Count = 18

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        for what, names in (("systems", [one.name for one in self.systems]), ("models", [m.name for m in self.models])):
            if len(set(names)) < len(names):
                raise InvalidInputError(f"Two {what} have the same name: {names}. Give each its own `name`.")
        if self.baseline and self.baseline not in [one.name for one in self.systems]:
            raise InvalidInputError(
                f"The baseline {self.baseline!r} is not a system. Name one of {[one.name for one in self.systems]}."
            )

    @property
    def compared_with(self) -> str:
        return self.baseline or self.systems[0].name

    @property
    def how(self) -> str:
        """
        >>> Experiment(data=(DataPlan(path=Path("notes")),), systems=(SystemPlan(name="plain", use="chroma"),)).how
        'Measures look at the first 10 of 50 hits. Nothing counts as read.'
        """
        read = "Each hit counts as read for the questions that follow." if self.reading else "Nothing counts as read."
        return f"Measures look at the first {self.k} of {self.hits} hits. {read}"

    @property
    def hits(self) -> int:
        """The number of hits to request."""
        if self.depth is not None:
            return max(self.k, self.depth)
        return self.k if self.reading else max(self.k, DEEP)


def _of_policy(name: str, policy: Policy, use: str = "adaptive", **more: Any) -> SystemPlan:
    return SystemPlan(name=name, use=use, settings={"policy": policy}, **more)


STATIC = _of_policy("static", POLICIES["static"], "static")
REFERENCE = Policy.preset("balanced")
PROFILES = ("balanced", "ultra_efficient", "broad_adaptation", "conservative", "aggressive")
AXES: Mapping[str, tuple[str, tuple[float, ...]]] = {  # each letter's field of `decay`, and the values to try
    "theta": ("remembrance_threshold", (1, 2, 3, 5, 10, 20)),
    "gamma": ("grace", (0, 1, 2, 5, 10, 20)),
    "alpha": ("rate", (0.80, 0.90, 0.95, 0.98, 0.99, 1.0)),
}
Embedders = Sequence[Mapping[str, Any]]


def arm_systems(wanted: str | Sequence[str], embedders: Embedders = ()) -> tuple[SystemPlan, ...]:
    """The systems of one or several experiments, without duplicates.

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
            raise InvalidInputError(f"The embedder {dict(one)} needs name and use, and may have parameters_millions.")
        more: dict[str, Any] = {"embedder": one["use"], "parameters_millions": one.get("parameters_millions")}
        yield _of_policy(str(one["name"]), POLICIES["static"], "static", **more)
        yield _of_policy(f"ARM, {one['name']}", REFERENCE, **more)


def _three_memories(_: Embedders) -> Sequence[SystemPlan]:
    conservative = _of_policy("dynamic conservative", Policy.preset("conservative"))
    return STATIC, conservative, _of_policy("dynamic selective", REFERENCE)


def _profiles(_: Embedders) -> Sequence[SystemPlan]:
    return STATIC, *(_of_policy(name, Policy.preset(name)) for name in PROFILES)


def _one_number(axis: str, _: Embedders) -> Sequence[SystemPlan]:
    field, values = AXES[axis]
    policies = {value: REFERENCE.replace(decay={field: value}) for value in values}
    found = (_of_policy(f"{axis} {one:g}", by, axis=axis, value=float(one)) for one, by in policies.items())
    return STATIC, *found


EXPERIMENTS: Mapping[str, Callable[[Embedders], Iterable[SystemPlan]]] = {
    "table 2": _table_2,
    "3 x 2": _three_memories,
    "profiles": _profiles,
    **{axis: partial(_one_number, axis) for axis in AXES},
}


KINDS = ("folder", "longmemeval", "locomo")
WITHOUT_SETTINGS = ("chroma", "bm25", "adaptive", *POLICIES)
FOR_ARM = {"k": 5, "reading": True}  # the paper's settings; the file overrides them


def read_experiment(path: Path) -> Experiment:
    """The experiment in a file. Raises InvalidInputError if the file is not valid."""
    try:
        text = path.read_text(encoding="utf-8")
        toml = load("tomllib" if sys.version_info >= (3, 11) else "tomli")
        given = json.loads(text) if path.suffix == ".json" else toml.loads(text)
    except (OSError, ValueError, RecursionError) as error:  # includes parse errors of TOML and JSON
        raise InvalidInputError(
            f"The experiment {path} cannot be read: {error}. Give TOML, or JSON as .json."
        ) from error
    if not isinstance(given, dict):
        raise InvalidInputError(f"The experiment {path} is not a table of settings. evaluate/plan.py shows an example.")
    return experiment_of(given, path.parent, cache=f"{path.stem}.replies.jsonl")


def experiment_of(given: Mapping[str, Any], folder: Path = Path(), *, cache: str = "replies.jsonl") -> Experiment:
    """The experiment that a mapping describes; paths are relative to the folder."""
    own: dict[str, Any] = {**(FOR_ARM if "arm" in given else {}), "cache": cache, **given}
    arm = arm_systems(own.pop("arm", ()), _tables(own, "embedders"))
    own.pop("embedders", None)
    own["data"] = tuple(_data(one, folder) for one in _tables(own, "data"))
    own["systems"] = (*(_system(one) for one in _tables(own, "systems")), *arm)
    own["models"] = tuple(_model(one) for one in _tables(own, "models"))
    own["judge"] = _judge(own.get("judge"), own["models"])
    if isinstance(own["cache"], str):
        own["cache"] = folder / expanded(own["cache"])
    return Experiment(**own)


def _data(given: Mapping[str, Any], folder: Path) -> DataPlan:
    kinds = [kind for kind in KINDS if kind in given]
    if len(kinds) != 1:
        raise InvalidInputError(f"The data {dict(given)} name {len(kinds)} sources. Give one of {', '.join(KINDS)}.")
    rest = {name: value for name, value in given.items() if name not in KINDS}
    path = folder / expanded(str(given[kinds[0]]))
    return DataPlan(path=path, kind=kinds[0], **{"name": path.name if kinds[0] == "folder" else kinds[0], **rest})


def _system(given: Mapping[str, Any]) -> SystemPlan:
    own = dict(given)
    use, policy = own.get("use"), own.pop("policy", None)
    plan = SystemPlan(**{"name": use, **own} if "use" in own else own)
    if plan.settings and plan.use in WITHOUT_SETTINGS:
        raise InvalidInputError(
            f"The system {plan.use!r} has no settings, so {', '.join(plan.settings)} would change nothing. Leave "
            "them out. To change the numbers of this project's memory, use `policy`."
        )
    if plan.use in POLICIES or plan.use == "adaptive":
        return plan.model_copy(update={"settings": {"policy": system_policy(policy, POLICIES.get(plan.use, Policy()))}})
    if policy is not None:
        raise InvalidInputError(f'The system {plan.use!r} has no policy. Leave it out, or give use = "adaptive".')
    return plan


def system_policy(given: Any, start: Policy) -> Policy:
    """The policy of a system: a preset, or changes to a preset or to `start`.

    >>> system_policy({"preset": "balanced", "decay": {"rate": 0.9}}, Policy()).decay.grace
    5.0
    """
    if given is None:
        return start
    if isinstance(given, str):
        return Policy.preset(given)
    if not isinstance(given, Mapping):
        raise InvalidInputError(f"The policy {given!r} is not valid. Give a preset's name or a table of changes.")
    changes = {name: tuple(one) if isinstance(one, list) else one for name, one in given.items() if name != "preset"}
    return (Policy.preset(given["preset"]) if "preset" in given else start).replace(**changes)


def _model(given: Mapping[str, Any]) -> ModelPlan:
    return ModelPlan(**{"name": given["model"], **given} if "model" in given else {"name": "", **given})


def _judge(given: Any, models: Sequence[ModelPlan]) -> ModelPlan | None:
    if given is None:
        return None
    if not isinstance(given, dict):
        raise InvalidInputError(f'`judge` is {shown(given)}. It must be a table, e.g. {{ model = "gpt-4o" }}.')
    if not models:
        raise InvalidInputError("The experiment has a judge and no models whose replies it could judge. Give `models`.")
    return _model(given)


def _tables(given: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    rows = given.get(name, [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InvalidInputError(f"`{name}` is {rows!r:.80}. It must be a list of tables.")
    return rows
