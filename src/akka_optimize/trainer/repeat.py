"""Starting the plan of a run again, from what is on record of it: nothing is typed, and nothing resolved anew."""

from __future__ import annotations

import hashlib
import json
from dataclasses import fields, replace
from typing import TYPE_CHECKING

from akka_optimize import errors
from akka_optimize.core import environment as environments
from akka_optimize.core import plans, texts
from akka_optimize.core.problems import quoted
from akka_optimize.record import layout
from akka_optimize.records import Repeats
from akka_optimize.trainer import base_models, environment, folder, origins, resolve, start, unfinished
from akka_optimize.trainer.branches.source import Source
from akka_optimize.trainer.catalog.new import NewRun

if TYPE_CHECKING:
    from collections.abc import Iterator

    from akka_optimize.records import Origin, Run
    from akka_optimize.trainer.catalog import Catalog
    from akka_optimize.trainer.home import Home

MOST_TIMES = 50
ID_DIGITS = 16
OWN = {"run_id", "submission_id", "folder", "name", "purpose", "description", "repeats", "origin"}
KEPT = {field.name for field in fields(NewRun)} - OWN


def repeat(
    catalog: Catalog, home: Home, reference: str, *, times: int, submission_id: str, origin: Origin | None
) -> Repeats:
    """Queue runs of the plan of a run, `times` of them, all or none; the same request again reaches them.

    Raises Invalid (times, token, origin), NotFound (run, base model, rows), Ambiguous, Unsupported (devices), Refused
    (base model or source are not what they were; a repeat was deleted; disk), Conflict (the token stands for something
    else), Exhausted (fan, disk), TimedOut.
    """
    _check(times, submission_id)
    origins.check(origin)
    with resolve.at("run"):
        run = catalog.run(reference)
    ids = [run_id(submission_id, run.run_id, index) for index in range(times)]
    if there := catalog.repeats(submission_id, run.run_id, ids):
        return Repeats(there, tuple(_notes(run)))
    _require_trainable(home, catalog, run)
    first = _new(run, ids[0], submission_id, origin)
    new = [replace(first, run_id=id, folder=folder.name(id, run.config_hash)) for id in ids]
    notes = _recorded_notes(home, run)
    with unfinished.alone(catalog, home):
        if there := catalog.repeats(submission_id, run.run_id, ids):
            return Repeats(there, tuple(_notes(run)))
        examples = catalog.dataset(run.dataset).example_count
        folders = [
            start.folder_of(
                home, each, start.identity(each, workload=run.workload, examples=examples, notes=notes), origin
            )
            for each in new
        ]
        with folder.made(catalog, home, folders):
            added = catalog.add_repeats(run.run_id, new)
    return Repeats(added, tuple(_notes(run)))


def run_id(token: str, repeated: str, index: int) -> str:
    """The id of one repeat, from 0 on, of the run `repeated` under a submission's token: 16 hex digits."""
    return hashlib.sha256(f"{token}\nrepeat\n{repeated}\n{index}".encode()).hexdigest()[:ID_DIGITS]


def _check(times: int, submission_id: str) -> None:
    if not 1 <= times <= MOST_TIMES:
        raise errors.Invalid(f"times: {times} is out of range; write 1 to {MOST_TIMES}", field="times")
    if wrong := texts.fault("token", submission_id):
        raise errors.Invalid(f"submission token {quoted(submission_id)} {wrong}", field="submissionId")


def _new(run: Run, id: str, submission_id: str, origin: Origin | None) -> NewRun:
    kept = {name: getattr(run, name) for name in KEPT}
    kept["changed"] = None if run.changed is None else list(run.changed)
    return NewRun(
        **kept,
        run_id=id,
        purpose=f"repeats run {run.run_id}",
        submission_id=submission_id,
        folder=folder.name(id, run.config_hash),
        repeats=run.run_id,
        origin=origins.document(origin),
    )


def _require_trainable(home: Home, catalog: Catalog, run: Run) -> None:
    """Raise NotFound, Refused or Unsupported unless what the plan names is there, and is what it was."""
    if not plans.plan_hash(run.plan).startswith(run.config_hash):
        raise errors.Refused(f"the plan of run {run.run_id} is not the one that its hash is of", field="run")
    with resolve.at("run"):
        model = base_models.find(run.base_model)
    if model.revision != run.plan["baseModel"]["revision"]:
        raise errors.Refused(
            f"base model {model.repository} has revision {model.revision[:12]}, and run {run.run_id} was trained on "
            f"{run.plan['baseModel']['revision'][:12]}",
            field="run",
            hint="install the akka-optimize that the run was trained with",
        )
    resolve.check_support(model, run.config)
    if not (home.datasets / f"{run.dataset}.jsonl").is_file():
        raise errors.NotFound(
            f"the rows that run {run.run_id} trained on, dataset {run.dataset[:12]}, are gone",
            field="run",
            hint="`training runs import` of the run's folder brings them back, as `datasets create` of the same rows "
            "does",
        )
    if run.parent_run_id is not None:
        _require_source(home, catalog, run)


def _require_source(home: Home, catalog: Catalog, run: Run) -> None:
    """Raise Refused unless the snapshot that a child started from can still be taken up, and is what it was."""
    assert run.parent_run_id is not None
    assert run.source_snapshot_id is not None
    assert run.restore is not None
    parent = catalog.run(run.parent_run_id)
    snapshot = catalog.source(run.parent_run_id, run.source_snapshot_id)
    try:
        found = Source(home, parent, snapshot, run.restore).plan()
    except errors.Refused as error:
        raise errors.Refused(
            f"run {run.run_id} cannot be repeated: {error.message}", field="run", hint=error.hint
        ) from error
    if found != run.plan["source"]:
        raise errors.Refused(
            f"run {run.run_id} cannot be repeated: snapshot {snapshot.snapshot_id[:16]} holds other weights than its "
            "plan names",
            field="run",
        )


def _recorded_notes(home: Home, run: Run) -> tuple[str, ...]:
    """What the record of the run notes of its rows; nothing where it cannot be read."""
    try:
        noted = json.loads((home.path / run.folder / layout.RUN).read_bytes()).get("notes", ())
    except (OSError, ValueError, AttributeError):
        return ()
    no_purpose = (folder.NO_PURPOSE, resolve.NO_PURPOSE)  # which a repeat has
    return tuple(note for note in noted if isinstance(note, str) and note not in no_purpose)


def _notes(run: Run) -> Iterator[str]:
    """How this environment differs from the one that a run was carried out in, as far as it is known before it begins.

    What an engine decides, such as threads, is known once it has: `compare` tells the rest.
    """
    if run.environment is None:
        yield f"run {run.run_id} has recorded no environment yet: whether this one differs is not known"
        return
    for each in environments.differences(run.environment, environment.known()):
        if each.baseline is None:  # an engine's own
            continue
        can = "this can move digits" if each.moves_digits else "this moves no digits"
        yield f"environment: {each.path} was {quoted(each.run)} and is {quoted(each.baseline)}; {can}"
