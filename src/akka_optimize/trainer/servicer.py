"""The service: unpack the request, call, pack the reply. What a method raises is an AkkaError; no method catches one.

A call is a grpc.ServicerContext or its embedded counterpart: something with `time_remaining()` and `is_active()`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Protocol

from akka_optimize import __version__, documents, errors, records
from akka_optimize.protocol import convert, convert_folder
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer import (
    annotate,
    arrivals,
    base_models,
    branches,
    cancel,
    datasets,
    delete,
    environment,
    export,
    intake,
    launch,
    pause,
    recover,
    repeat,
    resume,
    slots,
    start,
    uploads,
    verify,
    watch,
)
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.catalog.base import utc_now
from akka_optimize.trainer.home import Home

if TYPE_CHECKING:
    from pathlib import Path

LOG_CHUNK_BYTES = 1 << 18
PAGE_DEFAULT, PAGE_LIMIT = 50, 100
RUNS_DEFAULT, RUNS_LIMIT = 100, 1000


class Call(Protocol):
    """The call that a method serves."""

    def time_remaining(self) -> float | None:
        """Seconds until the deadline, or None where there is none."""
        ...

    def is_active(self) -> bool:
        """Is the caller still there?"""
        ...


class Servicer:
    """Every rpc of TrainerService, over one home folder."""

    def __init__(self, home: Home, catalog: Catalog, *, backend: str, notes: tuple[str, ...] = ()) -> None:
        self._home, self._catalog, self._backend, self._notes = home, catalog, backend, notes
        self._started_at = utc_now()
        self._lookout = watch.Lookout(catalog, home, seconds=watch.SHARED_SECONDS)

    @classmethod
    def opened(cls, folder: Path, *, backend: str = "embedded", patience: float | None = None) -> Servicer:
        """Open a home: declare lost runs lost, and see that a queue has its worker.

        `backend`: "embedded" (inside the command) or "server". `patience` bounds the seconds that anything waits for
        another process in this home. Raises Refused, Exhausted, TimedOut.
        """
        home = Home.open(folder)
        catalog = Catalog.open(home, patience=patience)
        notes = (*catalog.notes, *recover.recover(catalog, home))
        if catalog.runs(phase="QUEUED", limit=1).total:
            launch.ensure_worker(home)
        return cls(home, catalog, backend=backend, notes=notes)

    def close(self) -> None:
        """Close the catalog."""
        self._catalog.close()

    def GetInfo(self, request: pb.GetInfoRequest, call: Call) -> pb.Info:
        """What this trainer is."""
        return convert.to_info(
            records.Info(
                backend=self._backend,
                version=__version__,
                home=str(self._home.path),
                workers=slots.count(self._home),
                queued=self._catalog.runs(phase="QUEUED", limit=1).total,
                running=len(self._catalog.active()),
                startup="complete",
                notes=self._notes,
                build=environment.build(),
                started_at=self._started_at,
            )
        )

    def WriteUpload(self, request: pb.WriteUploadRequest, call: Call) -> pb.WriteUploadReply:
        """Keep one part of an upload."""
        write = arrivals.write if request.record else uploads.write
        return pb.WriteUploadReply(size=write(self._home, request.upload_id, request.offset, request.data))

    def CreateDataset(self, request: pb.CreateDatasetRequest, call: Call) -> pb.Dataset:
        """Register an upload as a dataset."""
        upload = uploads.Upload(request.upload_id, request.sha256)
        return convert.to_dataset(datasets.create(self._home, self._catalog, upload, name=request.name or None))

    def ListDatasets(self, request: pb.ListDatasetsRequest, call: Call) -> pb.ListDatasetsReply:
        """Datasets, newest first."""
        return pb.ListDatasetsReply(datasets=map(convert.to_dataset, self._catalog.datasets()))

    def GetDataset(self, request: pb.GetDatasetRequest, call: Call) -> pb.Dataset:
        """One dataset."""
        return convert.to_dataset(self._catalog.dataset(request.dataset))

    def NameDataset(self, request: pb.NameDatasetRequest, call: Call) -> pb.Dataset:
        """Give or move a name."""
        return convert.to_dataset(self._catalog.name_dataset(request.name, request.dataset))

    def CreateWorkload(self, request: pb.CreateWorkloadRequest, call: Call) -> pb.Workload:
        """Create a workload."""
        return convert.to_workload(
            self._catalog.add_workload(request.name, dataset=request.dataset or None, grader=request.grader or None)
        )

    def ListWorkloads(self, request: pb.ListWorkloadsRequest, call: Call) -> pb.ListWorkloadsReply:
        """Workloads, newest first."""
        return pb.ListWorkloadsReply(workloads=map(convert.to_workload, self._catalog.workloads()))

    def GetWorkload(self, request: pb.GetWorkloadRequest, call: Call) -> pb.Workload:
        """One workload."""
        return convert.to_workload(self._catalog.workload(request.workload))

    def ListBaseModels(self, request: pb.ListBaseModelsRequest, call: Call) -> pb.ListBaseModelsReply:
        """Base models that are ready, or all."""
        shown = [model for model in base_models.all() if request.all or model.status != "not-selected"]
        return pb.ListBaseModelsReply(models=map(convert.to_base_model, shown))

    def GetBaseModel(self, request: pb.GetBaseModelRequest, call: Call) -> pb.BaseModel:
        """One base model."""
        return convert.to_base_model(base_models.find(request.base_model))

    def ValidateRun(self, request: pb.ValidateRunRequest, call: Call) -> pb.ResolvedRun:
        """Resolve a descriptor; store nothing."""
        return convert.to_resolved_run(start.preview(self._catalog, self._home, _descriptor(request)))

    def StartRun(self, request: pb.StartRunRequest, call: Call) -> pb.Run:
        """Store a run and see that a worker takes it."""
        origin = convert_folder.origin(request.origin)
        run = start.start(self._catalog, self._home, _descriptor(request), origin=origin)
        launch.ensure_worker(self._home)
        return convert.to_run(run)

    def ListRuns(self, request: pb.ListRunsRequest, call: Call) -> pb.ListRunsReply:
        """A page of runs, newest first."""
        page = self._catalog.runs(
            phase="open" if request.phase.lower() == "open" else request.phase.upper() or None,
            workload=request.workload or None,
            limit=_limit(request.limit, RUNS_DEFAULT, RUNS_LIMIT),
            offset=request.offset,
        )
        return _page(page)

    def GetRun(self, request: pb.GetRunRequest, call: Call) -> pb.Run:
        """One run."""
        return convert.to_run(self._catalog.run(request.run_id))

    def CancelRun(self, request: pb.CancelRunRequest, call: Call) -> pb.Run:
        """Ask a run to stop."""
        return convert.to_run(cancel.cancel(self._catalog, self._home, request.run_id))

    def PauseRun(self, request: pb.PauseRunRequest, call: Call) -> pb.Run:
        """Ask a run to pause."""
        return convert.to_run(pause.pause(self._catalog, self._home, request.run_id, request.checkpoint))

    def ResumeRun(self, request: pb.ResumeRunRequest, call: Call) -> pb.Run:
        """Queue a run for another attempt, and see that a worker takes it."""
        run = resume.resume(self._catalog, self._home, request.run_id)
        launch.ensure_worker(self._home)
        return convert.to_run(run)

    def RepeatRun(self, request: pb.RepeatRunRequest, call: Call) -> pb.RepeatRunReply:
        """Start a plan again, and see that a worker takes it."""
        repeated = repeat.repeat(
            self._catalog,
            self._home,
            request.run_id,
            times=request.times,
            submission_id=request.submission_id,
            origin=convert_folder.origin(request.origin),
        )
        launch.ensure_worker(self._home)
        return convert_folder.to_repeats(repeated)

    def AnnotateRun(self, request: pb.AnnotateRunRequest, call: Call) -> pb.Run:
        """Add a comment; change description and label."""
        run = annotate.annotate(
            self._catalog,
            self._home,
            request.run_id,
            comment=request.comment or None,
            description=request.description if request.HasField("description") else None,
            config_name=request.config_name if request.HasField("config_name") else None,
        )
        return convert.to_run(run)

    def VerifyRun(self, request: pb.VerifyRunRequest, call: Call) -> pb.Verification:
        """Check the files of a run's record."""
        return convert_folder.to_verification(verify.verify(self._catalog, self._home, request.run_id))

    def ExportRun(self, request: pb.ExportRunRequest, call: Call) -> Iterator[pb.ExportPart]:
        """The folders of a run and its ancestors."""
        parts = export.export(self._catalog, self._home, request.run_id)
        yield from map(convert_folder.to_export_part, parts)

    def ImportRuns(self, request: pb.ImportRunsRequest, call: Call) -> pb.ImportRunsReply:
        """Take uploaded folders into the catalog."""
        taken = intake.take(self._catalog, self._home, convert_folder.uploaded_folders(request))
        return convert_folder.to_imported(taken)

    def GetEngineConfig(self, request: pb.GetEngineConfigRequest, call: Call) -> pb.EngineConfig:
        """What the engine was asked for, and made of it."""
        return convert_folder.to_engine_config(self._catalog.engine_config(request.run_id))

    def GetEngineRuntime(self, request: pb.GetEngineRuntimeRequest, call: Call) -> pb.EngineRuntime:
        """What the engine decided and used."""
        return convert_folder.to_engine_runtime(self._catalog.engine_runtime(request.run_id))

    def WatchRun(self, request: pb.WatchRunRequest, call: Call) -> Iterator[pb.RunEvent]:
        """Follow a run until it ends or the caller leaves."""
        run_id = self._catalog.run(request.run_id).run_id
        for event in watch.watch(self._lookout, run_id, alive=lambda: _alive(call)):
            yield convert.to_run_event(event)
        if _expired(call):
            raise errors.TimedOut("the run did not end within the time allowed", hint="the run goes on; wait again")

    def GetRunLog(self, request: pb.GetRunLogRequest, call: Call) -> Iterator[pb.LogChunk]:
        """What the run's worker printed so far."""
        log = self._home.path / self._catalog.run(request.run_id).folder / "worker.log"
        if not log.exists():  # no worker has begun with it
            return
        with log.open("rb") as stream:
            while data := stream.read(LOG_CHUNK_BYTES):
                yield pb.LogChunk(data=data)

    def GetMetrics(self, request: pb.GetMetricsRequest, call: Call) -> Iterator[pb.MetricsChunk]:
        """The stored chunks of the run's curves."""
        run_id = self._catalog.run(request.run_id).run_id
        yield from map(convert.without_steps, self._catalog.metrics(run_id, tuple(request.columns), request.last_steps))

    def GetHparams(self, request: pb.GetHparamsRequest, call: Call) -> pb.Hparams:
        """The flat settings, once the worker has written them."""
        run = self._catalog.run(request.run_id)
        document = self._catalog.hparams(run.run_id)
        if document is None:
            raise errors.NotFound(
                f"run {run.run_id} has recorded no hyperparameters yet", hint="they are written when its worker begins"
            )
        sha = document.pop("sha")
        return pb.Hparams(run_id=run.run_id, hparams_json=documents.dumps(document), sha=sha)

    def CancelSubmission(self, request: pb.CancelSubmissionRequest, call: Call) -> pb.ListRunsReply:
        """Ask every run of a submission to stop."""
        return _page(cancel.cancel_submission(self._catalog, self._home, request.submission_id))

    def DeleteRun(self, request: pb.DeleteRunRequest, call: Call) -> pb.Run:
        """Delete a run that has ended."""
        return convert.to_run(delete.delete(self._catalog, self._home, request.run_id))

    def ValidateBranches(self, request: pb.BranchesRequest, call: Call) -> pb.Branches:
        """Resolve every point of a fan; store nothing."""
        return convert.to_branches(branches.validate(self._catalog, self._home, _asked(request)))

    def SubmitBranches(self, request: pb.BranchesRequest, call: Call) -> pb.Branches:
        """Queue every point that has no child yet, and see that a worker takes them."""
        submitted = branches.submit(self._catalog, self._home, _asked(request))
        launch.ensure_worker(self._home)
        return convert.to_branches(submitted)

    def ListBranches(self, request: pb.ListBranchesRequest, call: Call) -> pb.ListRunsReply:
        """A page of children, newest first."""
        limit = _limit(request.limit, PAGE_DEFAULT, PAGE_LIMIT)
        return _page(
            self._catalog.branches(
                request.parent, submission_id=request.submission_id or None, limit=limit, offset=request.offset
            )
        )

    def ListDescendants(self, request: pb.ListDescendantsRequest, call: Call) -> pb.ListRunsReply:
        """A run with all that descend from it."""
        return _page(self._catalog.descendants(request.run_id, depth=request.depth))

    def ListAncestry(self, request: pb.ListAncestryRequest, call: Call) -> pb.ListRunsReply:
        """The chain from the root to a run."""
        return _page(self._catalog.ancestry(request.run_id))

    def GetSnapshot(self, request: pb.GetSnapshotRequest, call: Call) -> pb.Snapshot:
        """One snapshot."""
        return convert.to_snapshot(self._catalog.snapshot(request.snapshot))

    def PinSnapshot(self, request: pb.PinSnapshotRequest, call: Call) -> pb.Snapshot:
        """Hold a snapshot against sweeping."""
        return convert.to_snapshot(self._catalog.pin(request.snapshot, tuple(request.kinds)))

    def UnpinSnapshot(self, request: pb.PinSnapshotRequest, call: Call) -> pb.Snapshot:
        """Drop the pin."""
        return convert.to_snapshot(self._catalog.unpin(request.snapshot, tuple(request.kinds)))

    def ListSnapshots(self, request: pb.ListSnapshotsRequest, call: Call) -> pb.ListSnapshotsReply:
        """A page of snapshots, newest first."""
        run_id = self._catalog.run(request.run_id).run_id
        limit = _limit(request.limit, PAGE_DEFAULT, PAGE_LIMIT)
        page = self._catalog.snapshots(run_id, limit=limit, offset=request.offset)
        return pb.ListSnapshotsReply(snapshots=map(convert.to_snapshot, page.items), total=page.total)


def _descriptor(request: pb.ValidateRunRequest | pb.StartRunRequest) -> records.Document:
    document = documents.parse(request.descriptor_json, source="descriptor", syntax="json")
    if not isinstance(document, dict):
        raise errors.Invalid("the descriptor is not a mapping", hint="see `training runs init`")
    return document


def _asked(request: pb.BranchesRequest) -> records.FanRequest:
    return records.FanRequest(
        parent=request.parent,
        snapshot=request.snapshot,
        steps=request.steps,
        restore=request.restore,
        submission_id=request.submission_id,
        points=tuple(_changes(point) for point in request.points),
        description=request.description or None,
        origin=convert_folder.origin(request.origin),
        continues=request.continues,
    )


def _changes(point: pb.BranchPoint) -> records.Document:
    changes = documents.parse(point.changes_json, source="point", syntax="json")
    if not isinstance(changes, dict):
        raise errors.Invalid("a point is an object of paths and values")
    return changes


def _page(page: records.Page) -> pb.ListRunsReply:
    return pb.ListRunsReply(runs=map(convert.to_run, page.items), total=page.total)


def _limit(asked: int, default: int, most: int) -> int:
    if not 0 <= asked <= most:
        raise errors.Invalid(f"a page holds 1 to {most} entries, not {asked}", field="limit")
    return asked or default


def _expired(call: Call) -> bool:
    remaining = call.time_remaining()
    return remaining is not None and remaining <= 0


def _alive(call: Call) -> bool:
    return call.is_active() and not _expired(call)
