"""The plan of an experiment: data, systems, chat models. Read from TOML or JSON, or taken from the ARM paper.

The experiments that the ARM paper reports. Each is a list of systems for an experiment file, under the name that
`arm` gives there:

- "table 2": memory under the balanced profile, and plain search, for each of `embedders` (tables with name, use,
  parameters_millions). NDCG@5, precision@5, recall@5, parameters, and NDCG@5 per million parameters. The paper's column
  "Eff." cannot be derived from the others: it differs twofold between two rows of equal NDCG and equal size.
- "3 x 2": static, dynamic conservative and dynamic selective memory; give two `models`, as the paper did
- "theta", "gamma", "alpha": one of the three numbers by itself, the others as the paper recommends (3, 5, 0.95)
- "profiles": its five profiles next to plain search

The paper names no numbers for "dynamic selective"; its recommended (balanced) ones are taken. Questions count as reads,
in their order, and each is scored on what it was given (`reading = true`, `k = 5`).

An experiment as TOML or JSON:

    title = "Static and fading memory"
    data = [{ folder = "data/locomo", most = 200 }]    # or longmemeval = "longmemeval_s.json", locomo = "locomo10.json"
    systems = [{ use = "chroma" }, { use = "static" }, { use = "dynamic", policy = "conservative" }]

Each of `data` takes folder, longmemeval or locomo; name, most, every, users, records ("turn", "session", "user") and
adversarial. Each of `systems` takes use (a name, or your own class as MODULE:NAME), name, policy (a preset, or a table
of changes, with `preset` among them or not), settings (the system's own), embedder, axis, value, parameters_millions
and answers. Each of `models` takes model, name, base_url, api_key_env (the name of an environment variable, never a
key), requests_per_minute, input_price and output_price (of a million tokens), max_tokens, options (of each request),
retries and timeout_seconds. `judge` is one more such table: that model says of each reply whether it is correct.
Besides: title, baseline, k, depth, reading, minutes_apart, page_tokens, cache, seed, embedders and arm (`EXPERIMENTS`).
Paths are relative to the file.
"""

from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from adaptive_memory_core.arguments.values import LARGEST_K
from adaptive_memory_core.error_messages import shown
from adaptive_memory_core.errors import InvalidInputError, MissingExtraError
from adaptive_memory_core.evaluate.systems import POLICIES
from adaptive_memory_core.models.extras import load
from adaptive_memory_core.policy import Policy
from adaptive_memory_core.whole_file import expanded

LARGEST_NUMBERS = {"k": LARGEST_K, "depth": LARGEST_K} | dict.fromkeys(
    ("minutes_apart", "input_price", "output_price", "requests_per_minute", "timeout_seconds"), 1e9
)
DEEP = 50  # hits, of which ten sessions or 1,000 tokens of short turns can be made


@dataclass(frozen=True, slots=True)
class DataPlan:
    """The folder or file of labelled data, and which of their questions are asked."""

    path: Path
    kind: str = "folder"  # or "longmemeval", "locomo": the files that those sets publish
    name: str = ""
    most: int = 0  # questions, drawn by the seed; 0 = all
    every: int = 1  # ask every so-manieth question only
    users: int = 0  # ask only for the first so many users; 0 = for all
    records: str = "turn"  # or "session", "user": what one record holds of a published conversation
    adversarial: bool = False  # also questions that have gold and no answer: LoCoMo's category 5

    def __post_init__(self) -> None:
        _check(self, {"most": (int, 0), "every": (int, 1), "users": (int, 0)})


@dataclass(frozen=True, slots=True)
class SystemPlan:
    """One system: what it is, with which settings and embedder."""

    name: str
    use: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    embedder: str = "local"
    axis: str | None = None  # the setting that an ablation varies, and its value
    value: float | None = None
    parameters_millions: float | None = None  # of the embedder
    answers: bool = True  # whether chat models answer from what it finds


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """One chat model behind a server of OpenAI's protocol. A price is of a million tokens."""

    name: str
    model: str
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    requests_per_minute: float = 60.0
    input_price: float | None = None
    output_price: float | None = None
    max_tokens: int = 256
    options: Mapping[str, Any] = field(default_factory=lambda: {"temperature": 0.0})  # more of each request
    retries: int = 4
    timeout_seconds: float = 60.0

    def __post_init__(self) -> None:
        _check(self, {"max_tokens": (int, 1), "retries": (int, 0)})
        _check(self, {"input_price": (float, 0), "output_price": (float, 0)})
        _check(self, {"requests_per_minute": (float, 1e-3), "timeout_seconds": (float, 1e-3)})


@dataclass(frozen=True, slots=True)
class Experiment:
    """All of one comparison. `baseline` is the first system, unless it is named."""

    data: tuple[DataPlan, ...]
    systems: tuple[SystemPlan, ...]
    title: str = ""
    baseline: str = ""
    k: int = 10  # hits that the measures look at
    depth: int | None = None  # hits that are asked for; None: 50, for sessions and budgets, or k where hits are read
    reading: bool = False  # whether each question counts as a read for those that follow it
    minutes_apart: float = 30.0  # between two questions of one user, where they count as reads
    page_tokens: int = 1_000  # of what a chat model is shown
    models: tuple[ModelPlan, ...] = ()
    judge: ModelPlan | None = None  # says of each reply whether it is correct
    cache: Path = Path("answers.jsonl")  # replies of the models, which a second run takes from there
    seed: int = 18

    def __post_init__(self) -> None:
        _check(
            self,
            {"k": (int, 1), "depth": (int, 1), "page_tokens": (int, 1), "minutes_apart": (float, 0), "seed": (int, 0)},
        )
        if not self.data or not self.systems:
            raise InvalidInputError("The experiment has no data or no systems. Give at least one of each.")
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
        >>> Experiment((DataPlan(Path("notes")),), (SystemPlan("plain", "chroma"),)).how
        'Measures look at the first 10 of 50 hits. Nothing counts as read.'
        """
        read = "Each hit counts as read for the questions that follow." if self.reading else "Nothing counts as read."
        return f"Measures look at the first {self.k} of {self.hits} hits. {read}"

    @property
    def hits(self) -> int:
        """How many are asked for."""
        if self.depth is not None:
            return max(self.k, self.depth)
        return self.k if self.reading else max(self.k, DEEP)


def _check(plan: object, least: Mapping[str, tuple[type, float]]) -> None:
    """Refuse a value that is not a number, not whole if it must be, or below its minimum; None is left alone."""
    for name, (kind, bound) in least.items():
        value = getattr(plan, name)
        kinds = (int,) if kind is int else (int, float)
        most = LARGEST_NUMBERS.get(name, math.inf)
        if value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, kinds) or not bound <= value <= most:
            number, up = (
                "a whole number" if kind is int else "a number",
                "up" if most == math.inf else f"to {most:,.0f}",
            )
            raise InvalidInputError(f"{name} is {value!r:.80}. It must be {number} from {bound:g} {up}.")


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


KINDS = ("folder", "longmemeval", "locomo")
TEXTS = ("title", "baseline", "cache", "name", "use", "model", "base_url", "api_key_env", "embedder", "axis", "records")
SWITCHES, TABLES, NUMBERS = (
    ("reading", "adversarial", "answers"),
    ("settings", "options"),
    ("value", "parameters_millions"),
)
KIND_OF: Mapping[str, tuple[str, tuple[type, ...]]] = {  # of what has no range of its own
    **dict.fromkeys(TEXTS, ("a text", (str,))),
    **dict.fromkeys(SWITCHES, ("true or false", (bool,))),
    **dict.fromkeys(TABLES, ("a table", (dict,))),
    **dict.fromkeys(NUMBERS, ("a number", (int, float))),
}
WITHOUT_SETTINGS = ("chroma", "bm25", "adaptive", *POLICIES)
FOR_ARM = {"k": 5, "reading": True}  # of the paper; what the file says holds


def read_experiment(path: Path) -> Experiment:
    """The experiment in a file, or an error that says what of it is wrong."""
    return experiment_of(_parsed(path), path.parent, cache=f"{path.stem}.replies.jsonl")


def experiment_of(told: Mapping[str, Any], folder: Path = Path(), *, cache: str = "replies.jsonl") -> Experiment:
    """The experiment that a mapping describes; paths are relative to the folder."""
    own: dict[str, Any] = {**(FOR_ARM if "arm" in told else {}), "cache": cache, **told}
    _check_names(own, {*_names(Experiment), "arm", "embedders"}, "The experiment")
    own["data"] = tuple(_data(one, folder) for one in _tables(own, "data"))
    own["systems"] = tuple(_system(one) for one in _tables(own, "systems"))
    own["systems"] += arm_systems(own.pop("arm", ()), _tables(own, "embedders"))
    own.pop("embedders", None)
    own["models"] = tuple(_model(one) for one in _tables(own, "models"))
    own["judge"] = _judge(own.get("judge"), own["models"])
    own["cache"] = folder / expanded(own["cache"])
    return Experiment(**own)


def _parsed(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
        told = json.loads(text) if path.suffix == ".json" else _toml().loads(text)
    except (OSError, ValueError, RecursionError) as error:  # of TOML and JSON as well
        raise InvalidInputError(
            f"The experiment {path} cannot be read: {error}. Give TOML, or JSON as .json."
        ) from error
    if not isinstance(told, dict):
        raise InvalidInputError(f"The experiment {path} is not a table of settings. evaluate/plan.py shows an example.")
    return told


def _toml() -> Any:
    """The reader of TOML: Python's own from 3.11 on, else the package that it was made from."""
    for name in ("tomllib", "tomli"):
        if importlib.util.find_spec(name) is not None:
            return load(name)
    raise MissingExtraError(f"{MissingExtraError.of('tomli', 'cli')}. Or write the experiment as JSON.")


def _data(told: Mapping[str, Any], folder: Path) -> DataPlan:
    kinds = [kind for kind in KINDS if kind in told]
    if len(kinds) != 1:
        raise InvalidInputError(f"The data {dict(told)} name {len(kinds)} sources. Give one of {', '.join(KINDS)}.")
    rest = {name: value for name, value in told.items() if name not in KINDS}
    _check_names(rest, _names(DataPlan) - {"path", "kind"}, "The data")
    path = folder / expanded(str(told[kinds[0]]))
    name = rest.pop("name", "") or (path.name if kinds[0] == "folder" else kinds[0])
    return DataPlan(path, kinds[0], str(name), **rest)


def _system(told: Mapping[str, Any]) -> SystemPlan:
    _check_names(told, {*_names(SystemPlan), "policy"}, "A system")
    if "use" not in told:
        raise InvalidInputError(f"The system {dict(told)} has no `use`. Give a system's name, e.g. chroma.")
    own = dict(told)
    use, policy = own["use"], own.pop("policy", None)
    settings = dict(own.pop("settings", {}))
    if settings and use in WITHOUT_SETTINGS:
        raise InvalidInputError(
            f"The system {use!r} has no settings, and {', '.join(map(str, settings))} would change nothing. Leave "
            "them out; the numbers of this project's memory are its `policy`."
        )
    if use in POLICIES or use == "adaptive":
        settings["policy"] = system_policy(policy, POLICIES.get(use, Policy()))
    elif policy is not None:
        raise InvalidInputError(f'The system {use!r} has no policy. Leave it out, or give use = "adaptive".')
    return SystemPlan(**{"name": use, **own, "settings": settings})


def system_policy(told: Any, start: Policy) -> Policy:
    """The policy that a system's `policy` says: a preset, or changes of the start or of a preset.

    >>> system_policy({"preset": "balanced", "decay": {"rate": 0.9}}, Policy()).decay.grace
    5.0
    """
    if told is None:
        return start
    if isinstance(told, str):
        return Policy.preset(told)
    if not isinstance(told, Mapping):
        raise InvalidInputError(f"The policy {told!r} is none. Give a preset's name or a table of changes.")
    changes = {name: tuple(one) if isinstance(one, list) else one for name, one in told.items() if name != "preset"}
    return (Policy.preset(told["preset"]) if "preset" in told else start).replace(**changes)


def _model(told: Mapping[str, Any]) -> ModelPlan:
    _check_names(told, _names(ModelPlan), "A model")
    if "model" not in told:
        raise InvalidInputError(f"The model {dict(told)} has no `model`. Give the name that its server knows.")
    return ModelPlan(**{"name": told["model"], **told})


def _judge(told: Any, models: Sequence[ModelPlan]) -> ModelPlan | None:
    if told is None:
        return None
    if not isinstance(told, dict):
        raise InvalidInputError(f'`judge` is {shown(told)}. It must be a table, e.g. {{ model = "gpt-4o" }}.')
    if not models:
        raise InvalidInputError("The experiment has a judge and no models whose replies it could judge. Give `models`.")
    return _model(told)


def _tables(told: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    rows = told.get(name, [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InvalidInputError(f"`{name}` is {rows!r:.80}. It must be a list of tables.")
    return rows


def _names(kind: Any) -> set[str]:
    return {one.name for one in fields(kind)}


def _check_names(told: Mapping[str, Any], known: set[str], what: str) -> None:
    if unknown := sorted(set(told) - known):
        raise InvalidInputError(f"{what} says {', '.join(unknown)}. It may say {', '.join(sorted(known))}.")
    for name in [one for one in told if one in KIND_OF]:
        expected, kinds = KIND_OF[name]
        if not isinstance(told[name], kinds):
            raise InvalidInputError(f"{what} says {name} = {told[name]!r:.80}. It must be {expected}.")
        if name in NUMBERS and not math.isfinite(told[name]):
            raise InvalidInputError(f"{what} says {name} = {told[name]!r}. It must be a finite number.")
