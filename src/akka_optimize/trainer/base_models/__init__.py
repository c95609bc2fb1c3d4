"""The base models that this trainer can adapt, and where their weights are. Loads nothing heavy."""

from __future__ import annotations

import hashlib
from pathlib import Path

from akka_optimize.errors import Ambiguous, Internal, NotFound
from akka_optimize.records import BaseModel

HERE = Path(__file__).parent
FILES = {"akka/byte-decoder-1m": HERE / "byte_decoder" / "weights.safetensors"}


def _model(repository: str, revision: str, *, status: str, engine: str, **facts: object) -> BaseModel:
    return BaseModel(
        model_id=hashlib.sha256(f"{repository}@{revision}".encode()).hexdigest()[:16],
        repository=repository,
        revision=revision,
        status=status,
        engine=engine,
        methods=("sft",),
        precisions=("FP32", "BF16"),
        license="Apache-2.0",
        **facts,  # type: ignore[arg-type]
    )


BASE_MODELS = (
    _model(
        "akka/byte-decoder-1m",
        "de98ae3d624597792f5d05e0e70b7b5cbbc1da43fd4424e7617e9bc74b690cea",
        status="ready",
        engine="decoder",
        parameters=886912,
        context_length=512,
        description="A byte-level decoder, pretrained on invented English and small chat tasks; part of the trainer.",
    ),
    _model(
        "akka/arithmetic",
        hashlib.sha256(b"akka/arithmetic 1").hexdigest(),
        status="not-selected",
        engine="arithmetic",
        parameters=0,
        context_length=4096,
        description="No model: made-up curves at any speed, for tests.",
    ),
)


def all() -> tuple[BaseModel, ...]:
    """Every base model, those that are not selected too."""
    return BASE_MODELS


def find(ref: str) -> BaseModel:
    """The base model with that repository, or whose id starts so. Raises NotFound, Ambiguous."""
    for model in BASE_MODELS:
        if model.repository == ref:
            return model
    found = [model for model in BASE_MODELS if ref and model.model_id.startswith(ref)]
    if len(found) > 1:
        fitting = ", ".join(f"{model.repository} ({model.model_id})" for model in found)
        raise Ambiguous(f"More than one base model's id starts with {ref!r}: {fitting}.", field="baseModel")
    if not found:
        known = ", ".join(model.repository for model in BASE_MODELS if model.status == "ready")
        raise NotFound(f"No base model goes by {ref!r}.", field="baseModel", hint=f"This trainer has {known}.")
    return found[0]


def weights_path(model: BaseModel) -> Path:
    """The file with the model's weights. Raises NotFound for a model without any, Internal for a lost file."""
    path = FILES.get(model.repository)
    if path is None:
        raise NotFound(f"{model.repository} has no weights.", field="baseModel")
    if not path.is_file():
        raise Internal(f"The weights of {model.repository} are missing at {path}.", hint="Reinstall akka-optimize.")
    return path


def digest(path: Path) -> str:
    """The sha256 of a weights file, 64 hex digits: what a revision is."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
