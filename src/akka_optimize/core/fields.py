"""The fields of a run descriptor, declared once.

Validation, defaults, the resolved settings, the paths in a plan's differences, the page of fields, the commented
descriptor and the texts of errors all come from this table. A field's path starts at the descriptor's root.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

from akka_optimize.errors import Invalid

Kind = Literal["int", "float", "string"]
Part = Literal["identity", "plan", "division", "execution"]
Form = Literal["line", "name", "sentence", "text", "grader", "token"]

LARGEST_INT = 2**53 - 1  # the largest integer that every JSON reader carries exactly


@dataclass(frozen=True, slots=True)
class Field:
    """One setting: what it takes, what holds when it is left out, and which part of the run it belongs to.

    `minimum` and `maximum` are in the range, `above` and `below` are just outside it. `form` says which text a string
    without `choices` takes. A field that is neither required nor has a default may be null, which is to leave it out;
    `default_note` then says what holds, and `maximum_note` names a bound that only the base model can tell.
    """

    path: str
    kind: Kind
    part: Part
    meaning: str
    default: Any = None
    required: bool = False
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None
    below: float | None = None
    choices: tuple[str, ...] = ()
    form: Form = "line"
    default_note: str = "none"
    maximum_note: str | None = None

    @property
    def optional(self) -> bool:
        """May it be null?"""
        return not self.required and self.default is None

    @property
    def key(self) -> str:
        """The last segment of the path."""
        return self.path.rpartition(".")[2]

    @property
    def range(self) -> str:
        """What the field takes, beside its kind: `1 … 256`, `> 0`, `0 <= x < 1`, `FP32, BF16`; empty for free text."""
        if self.choices:
            return ", ".join(self.choices)
        if self.kind == "string":
            return ""
        low = self.minimum if self.above is None else self.above
        high = self.maximum if self.below is None else self.below
        if high is None and self.maximum_note is None:
            return f"{'>=' if self.above is None else '>'} {low}"
        if self.kind == "int":
            return f"{low} … {self.maximum_note or high}"
        return f"{low} {'<=' if self.above is None else '<'} x {'<=' if self.below is None else '<'} {high}"

    def contains(self, number: float) -> bool:
        """Is a number of the field's kind within its range?"""
        return (
            (self.minimum is None or number >= self.minimum)
            and (self.maximum is None or number <= self.maximum)
            and (self.above is None or number > self.above)
            and (self.below is None or number < self.below)
            and (self.kind == "float" or number <= LARGEST_INT)
        )


_LORA = "config.hyperparams.lora"
_OPTIMIZER = "config.hyperparams.optimizer"
_TRAINING = "config.hyperparams.training"

FIELDS: tuple[Field, ...] = (
    Field("kind", "string", "identity", "what the document describes", required=True, choices=("run",)),
    Field("workload", "string", "identity", "the workload that the run belongs to, by name or ID", required=True),
    Field("baseModel", "string", "plan", "the model that the run adapts, by repository or ID", required=True),
    Field("name", "string", "identity", "what to call the run; fixed once it has started", form="name"),
    Field("purpose", "string", "identity", "one sentence: why this run; fixed once it has started", form="sentence"),
    Field("description", "string", "identity", "free text; can be changed later", form="text"),
    Field("configName", "string", "identity", "short label of the configuration, for tables", form="line"),
    Field(
        "grader",
        "string",
        "identity",
        "how outputs are scored: json-label-match, model:MODEL or http:URL",
        form="grader",
        default_note="the workload's",
    ),
    Field(
        "submissionId",
        "string",
        "identity",
        "token of this submission; sent again, it reaches the run that it started",
        form="token",
        default_note="a new one",
    ),
    Field("config.dataset", "string", "plan", "the rows to train on, by name or hash", required=True),
    Field("config.method", "string", "plan", "training method", default="sft", choices=("sft",)),
    Field(
        "config.seed",
        "int",
        "plan",
        "where all randomness of the run starts, the order of the rows included",
        default=0,
        minimum=0,
        maximum=2**32 - 1,
    ),
    Field(
        "config.maxSeqLength",
        "int",
        "plan",
        "tokens of a row that are read; the rest is cut away",
        default=512,
        minimum=8,
        maximum_note="the model's context",
    ),
    Field(
        "config.model.precision",
        "string",
        "plan",
        "number format of the computation",
        default="FP32",
        choices=("FP32", "BF16"),
    ),
    Field(f"{_LORA}.rank", "int", "plan", "rank of the adapter", default=8, minimum=1, maximum=256),
    Field(f"{_LORA}.alpha", "float", "plan", "the adapter is scaled by alpha / rank", default=16.0, above=0),
    Field(
        f"{_LORA}.dropout",
        "float",
        "plan",
        "share of the adapter's inputs dropped in training",
        default=0.0,
        minimum=0,
        below=1,
    ),
    Field(f"{_OPTIMIZER}.learningRate", "float", "plan", "peak learning rate", default=1e-4, above=0),
    Field(f"{_OPTIMIZER}.weightDecay", "float", "plan", "AdamW's weight decay", default=0.0, minimum=0),
    Field(f"{_OPTIMIZER}.beta1", "float", "plan", "AdamW's decay of the mean", default=0.9, minimum=0, below=1),
    Field(f"{_OPTIMIZER}.beta2", "float", "plan", "AdamW's decay of the variance", default=0.999, minimum=0, below=1),
    Field(f"{_OPTIMIZER}.epsilon", "float", "plan", "AdamW's guard against division by zero", default=1e-8, above=0),
    Field(
        f"{_OPTIMIZER}.schedule",
        "string",
        "plan",
        "the learning rate's course after the warm-up",
        default="linear",
        choices=("constant", "linear", "cosine"),
    ),
    Field(
        f"{_OPTIMIZER}.warmupSteps",
        "int",
        "plan",
        "updates over which the learning rate rises to its peak",
        default=0,
        minimum=0,
    ),
    Field(
        f"{_OPTIMIZER}.maxGradNorm",
        "float",
        "plan",
        "gradients are clipped to this norm; 0 = no clipping",
        default=1.0,
        minimum=0,
    ),
    Field(
        f"{_TRAINING}.sequencesPerUpdate",
        "int",
        "plan",
        "rows that every update is computed from",
        default=8,
        minimum=1,
        maximum=4096,
    ),
    Field(
        f"{_TRAINING}.epochs",
        "float",
        "plan",
        "how often to go through the rows; in the plan as steps",
        default=1.0,
        above=0,
    ),
    Field(
        f"{_TRAINING}.maxSteps",
        "int",
        "plan",
        "most updates; the shorter of this and epochs holds; in the plan as steps",
        minimum=1,
    ),
    Field(
        f"{_TRAINING}.validationShare",
        "float",
        "plan",
        "share of the rows held out for validation, drawn by the seed",
        default=0.1,
        minimum=0,
        maximum=0.5,
    ),
    Field(
        f"{_TRAINING}.validationFrequencySteps",
        "int",
        "plan",
        "updates between validations; 0 = at every save and at the end",
        default=0,
        minimum=0,
    ),
    Field("execution.gpus", "int", "division", "devices; on a CPU, processes", default=1, minimum=1, maximum=8),
    Field(
        "execution.sequencesPerPass",
        "int",
        "division",
        "rows that a device takes at once; must divide its share of an update",
        minimum=1,
        maximum=4096,
        default_note="sequencesPerUpdate / gpus",
    ),
    Field(
        "execution.saveEvery",
        "int",
        "execution",
        "updates between saves",
        minimum=1,
        default_note="at the end only",
    ),
    Field("execution.keepAdapters", "int", "execution", "newest saves whose weights stay", default=3, minimum=1),
    Field(
        "execution.keepTrainingStates",
        "int",
        "execution",
        "newest saves that training can go on from",
        default=1,
        minimum=1,
    ),
)

BY_PATH = {field.path: field for field in FIELDS}
CONTAINERS = tuple(
    dict.fromkeys(field.path[:end] for field in FIELDS for end, character in enumerate(field.path) if character == ".")
)


def field(path: str) -> Field:
    """The field at a path from the descriptor's root. Raises Invalid, with the nearest known path."""
    if path not in BY_PATH:
        raise Invalid(f"{path}: {unknown(path)}", field=path)
    return BY_PATH[path]


def nearest(path: str) -> str | None:
    """The known path that an unknown one was probably meant to be, or None.

    A field of the same name elsewhere comes first, then a close spelling in the same place, then one anywhere.
    """
    parent, _, key = path.rpartition(".")
    namesakes = [known for known in (*BY_PATH, *CONTAINERS) if known.rpartition(".")[2].lower() == key.lower()]
    if namesakes:
        return min(namesakes, key=lambda known: known.rpartition(".")[0] != parent)
    beside = {
        known.rpartition(".")[2]: known for known in (*BY_PATH, *CONTAINERS) if known.rpartition(".")[0] == parent
    }
    if close := get_close_matches(key, beside, n=1):
        return beside[close[0]]
    anywhere = {known.rpartition(".")[2]: known for known in BY_PATH}
    close = get_close_matches(key, anywhere, n=1)
    return anywhere[close[0]] if close else None


def unknown(path: str) -> str:
    """Why a path that is no field is refused, and which one was probably meant."""
    key = path.rpartition(".")[2]
    if key in _ELSEWHERE:
        return f"unknown field; {_ELSEWHERE[key]}"
    meant = nearest(path)
    return f"unknown field; the nearest known one is {meant}" if meant else "unknown field; remove it"


_ELSEWHERE = {
    "accumulation": "it follows from sequencesPerUpdate, gpus and sequencesPerPass, so set those",
    "steps": "the horizon is set by config.hyperparams.training.epochs or maxSteps",
    "batchSize": "the rows of an update are config.hyperparams.training.sequencesPerUpdate",
    "project": "the group of a run is named by workload",
}
