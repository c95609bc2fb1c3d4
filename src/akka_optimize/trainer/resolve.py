"""What a descriptor means on this trainer: every default filled in, everything it names looked up, or refused."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.core import descriptor, division, plans, stream
from akka_optimize.records import BaseModel, Dataset, Document, ResolvedRun, Workload
from akka_optimize.trainer import base_models
from akka_optimize.trainer.lengths import lengths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.home import Home
    from akka_optimize.trainer.lengths import Lengths

CONFIG_HASH_DIGITS = 12
MOST_DEVICES = 1


@dataclass(frozen=True, slots=True)
class Request:
    """A resolved run, and the things that its descriptor names."""

    run: ResolvedRun
    workload: Workload
    dataset: Dataset
    base_model: BaseModel


def resolve(catalog: Catalog, home: Home, document: Document) -> ResolvedRun:
    """Check a descriptor and say what it resolves to. Raises what `request` raises."""
    return request(catalog, home, document).run


def request(catalog: Catalog, home: Home, document: Document) -> Request:
    """Check a descriptor against this trainer; nothing is stored but what the tokeniser found.

    Raises Invalid (a field), NotFound and Ambiguous (workload, dataset, base model), Unsupported (method, precision,
    devices) and Refused (no row to train on). Each names its field.
    """
    wanted = descriptor.resolve(document)
    config = wanted.config
    with _at("workload"):
        workload = catalog.workload(wanted.descriptor["workload"])
    with _at("config.dataset"):
        dataset = catalog.dataset(config["dataset"])
    with _at("baseModel"):
        model = base_models.find(wanted.descriptor["baseModel"])
    _check_support(model, config, wanted.execution)
    divided = division.divide(config, wanted.execution)
    measured = lengths(home, dataset, model)
    rows = _split(config, dataset, measured)
    steps = plans.horizon(config, len(rows.training))
    plan = plans.plan(
        config, dataset_hash=dataset.hash, steps=steps, base_model=model.repository, revision=model.revision
    )
    run = ResolvedRun(
        descriptor=wanted.descriptor,
        config=config,
        execution=wanted.execution,
        plan=plan,
        config_hash=plans.plan_hash(plan)[:CONFIG_HASH_DIGITS],
        division=divided,
        steps=steps,
        training_rows=len(rows.training),
        validation_rows=len(rows.held_out),
        skipped_rows=rows.skipped,
        stated=wanted.stated,
        notes=(*_notes(wanted.descriptor, rows, measured), *descriptor.notes(config, steps)),
    )
    return Request(run, workload, dataset, model)


@contextmanager
def _at(field: str) -> Iterator[None]:
    """Name the descriptor's field in an error that a look-up raised in its own terms."""
    try:
        yield
    except errors.AkkaError as error:
        error.field = field
        raise


def _check_support(model: BaseModel, config: Document, execution: Document) -> None:
    name = model.repository
    if config["method"] not in model.methods:
        raise errors.Unsupported(
            f"{name} cannot be trained by {config['method']!r}; it offers {', '.join(model.methods)}",
            field="config.method",
        )
    if (precision := config["model"]["precision"]) not in model.precisions:
        raise errors.Unsupported(
            f"{name} cannot be trained in {precision}; it offers {', '.join(model.precisions)}",
            field="config.model.precision",
        )
    if (length := config["maxSeqLength"]) > model.context_length:
        raise errors.Invalid(
            f"config.maxSeqLength: {length} is more than the {model.context_length} tokens that {name} can read",
            field="config.maxSeqLength",
        )
    if (devices := execution["gpus"]) > MOST_DEVICES:
        raise errors.Unsupported(
            f"this trainer trains a run on one device, not on {devices}",
            field="execution.gpus",
            hint="leave gpus at 1; sequencesPerPass decides how much is computed at once",
        )


def _split(config: Document, dataset: Dataset, measured: Lengths) -> stream.Split:
    """Held-out rows and training rows. Raises Refused when none is left to train on."""
    share = config["hyperparams"]["training"]["validationShare"]
    length = config["maxSeqLength"]
    rows = stream.split(config["seed"], measured.fits(length).tolist(), share)
    if rows.training:
        return rows
    total, name = dataset.example_count, config["dataset"]
    if measured.fits(length).any():
        raise errors.Refused(
            f"dataset {name} leaves no row to train on: of its {total}, {len(rows.held_out)} are held out and "
            f"{rows.skipped} have no assistant token within maxSeqLength {length}",
            field="config.hyperparams.training.validationShare",
            hint="hold out less, or raise config.maxSeqLength",
        )
    raise errors.Refused(
        f"dataset {name} leaves no row to train on: none of its {total} has an assistant token within "
        f"maxSeqLength {length}",
        field="config.maxSeqLength",
        hint=f"the shortest row needs {int(measured.first.min()) + 1}",
    )


def _notes(document: Document, rows: stream.Split, measured: Lengths) -> Iterator[str]:
    """What is worth a word before the run starts."""
    length = document["config"]["maxSeqLength"]
    if document["purpose"] is None:
        yield "no purpose is stated: say in one sentence why this run is made; it cannot be added later"
    if rows.skipped:
        yield f"{_rows(rows.skipped)} skipped: no assistant token within maxSeqLength {length}"
    if cut := int(((measured.tokens > length) & measured.fits(length)).sum()):
        yield f"{_rows(cut)} cut to maxSeqLength {length}"
    share = document["config"]["hyperparams"]["training"]["validationShare"]
    if share and not rows.held_out:
        yield f"no row is held out: validationShare {share} of the dataset comes to none"


def _rows(count: int) -> str:
    return f"{count} row is" if count == 1 else f"{count} rows are"
