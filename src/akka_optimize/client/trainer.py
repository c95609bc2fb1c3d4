"""The trainer service as Python methods: build the request, call, convert the reply."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO

from akka_optimize import records
from akka_optimize.client import uploads
from akka_optimize.protocol import convert, convert_folder
from akka_optimize.protocol import trainer_pb2 as pb

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from akka_optimize.client.transport import M, Transport


class Trainer:
    """One trainer, over one transport. `timeout`, in seconds, bounds each call but `watch`, which has its own."""

    def __init__(self, transport: Transport, *, timeout: float) -> None:
        self._transport = transport
        self._timeout = timeout

    def close(self) -> None:
        """Close the transport."""
        self._transport.close()

    def _call(self, method: str, request: Message, reply: type[M]) -> M:
        return self._transport.unary(method, request, reply, timeout=self._timeout)

    def info(self) -> records.Info:
        """What the trainer says of itself."""
        return convert.info(self._call("GetInfo", pb.GetInfoRequest(), pb.Info))

    # datasets

    def create_dataset(self, source: BinaryIO, *, name: str | None) -> records.Dataset:
        """Upload JSONL and register it.

        Raises Invalid (a row, with its line; the file changed meanwhile), Exhausted (over 64 MiB, the trainer's room
        for uploads, or the disk), OSError (reading).
        """
        with uploads.repeatable(source) as content:
            upload_id = secrets.token_hex(16)
            for offset, data in content.parts():
                part = pb.WriteUploadRequest(upload_id=upload_id, offset=offset, data=data)
                self._call("WriteUpload", part, pb.WriteUploadReply)
            request = pb.CreateDatasetRequest(upload_id=upload_id, sha256=content.sha256, name=name or "")
            return convert.dataset(self._call("CreateDataset", request, pb.Dataset))

    def datasets(self) -> records.Page:
        """All datasets, newest first."""
        reply = self._call("ListDatasets", pb.ListDatasetsRequest(), pb.ListDatasetsReply)
        return _page(tuple(map(convert.dataset, reply.datasets)))

    def dataset(self, ref: str) -> records.Dataset:
        """One dataset by name, hash or prefix. Raises NotFound, Ambiguous."""
        request = pb.GetDatasetRequest(dataset=ref)
        return convert.dataset(self._call("GetDataset", request, pb.Dataset))

    def name_dataset(self, name: str, ref: str) -> records.Dataset:
        """Give a dataset a name, taking it from whichever had it. Raises NotFound, Ambiguous, Invalid."""
        request = pb.NameDatasetRequest(name=name, dataset=ref)
        return convert.dataset(self._call("NameDataset", request, pb.Dataset))

    # workloads

    def create_workload(self, name: str, *, dataset: str | None, grader: str | None) -> records.Workload:
        """Create a workload. Raises Conflict, Invalid, NotFound."""
        request = pb.CreateWorkloadRequest(name=name, dataset=dataset or "", grader=grader or "")
        return convert.workload(self._call("CreateWorkload", request, pb.Workload))

    def workloads(self) -> records.Page:
        """All workloads, newest first."""
        reply = self._call("ListWorkloads", pb.ListWorkloadsRequest(), pb.ListWorkloadsReply)
        return _page(tuple(map(convert.workload, reply.workloads)))

    def workload(self, ref: str) -> records.Workload:
        """One workload by name, id or prefix. Raises NotFound, Ambiguous."""
        request = pb.GetWorkloadRequest(workload=ref)
        return convert.workload(self._call("GetWorkload", request, pb.Workload))

    # base models

    def base_models(self, *, everything: bool = False) -> records.Page:
        """Base models that are ready, or all that are known."""
        reply = self._call("ListBaseModels", pb.ListBaseModelsRequest(all=everything), pb.ListBaseModelsReply)
        return _page(tuple(map(convert.base_model, reply.models)))

    def base_model(self, ref: str) -> records.BaseModel:
        """One base model by repository, id or prefix. Raises NotFound, Ambiguous."""
        request = pb.GetBaseModelRequest(base_model=ref)
        return convert.base_model(self._call("GetBaseModel", request, pb.BaseModel))

    # runs

    def validate_run(self, descriptor: records.Document) -> records.ResolvedRun:
        """Check a descriptor and resolve it; nothing is stored. Raises Invalid, NotFound, Ambiguous, Unsupported."""
        request = pb.ValidateRunRequest(descriptor_json=_json(descriptor))
        return convert.resolved_run(self._call("ValidateRun", request, pb.ResolvedRun))

    def start_run(self, descriptor: records.Document, *, origin: records.Origin | None = None) -> records.Run:
        """Check a descriptor and queue its run. Raises as `validate_run`, and Conflict, Exhausted.

        A descriptor without a `submissionId` gets a new one, so that to send it again never starts a second run.
        """
        if descriptor.get("submissionId") is None:
            descriptor = {**descriptor, "submissionId": secrets.token_hex(16)}
        request = pb.StartRunRequest(descriptor_json=_json(descriptor), origin=convert_folder.to_origin(origin))
        return convert.run(self._call("StartRun", request, pb.Run))

    def runs(
        self, *, phase: str | None = None, workload: str | None = None, limit: int = 0, offset: int = 0
    ) -> records.Page:
        """Runs, newest first; `phase` is a phase or "open". Raises Invalid, NotFound."""
        request = pb.ListRunsRequest(phase=phase or "", workload=workload or "", limit=limit, offset=offset)
        reply = self._call("ListRuns", request, pb.ListRunsReply)
        return _runs(reply, offset)

    def run(self, ref: str) -> records.Run:
        """One run by id, prefix or name. Raises NotFound, Ambiguous."""
        return convert.run(self._call("GetRun", pb.GetRunRequest(run_id=ref), pb.Run))

    def cancel_run(self, ref: str) -> records.Run:
        """Ask a run to stop. Raises NotFound, Ambiguous, Refused."""
        return convert.run(self._call("CancelRun", pb.CancelRunRequest(run_id=ref), pb.Run))

    def cancel_submission(self, submission_id: str) -> records.Page:
        """Ask every run of a submission that has not ended to stop. Raises NotFound."""
        request = pb.CancelSubmissionRequest(submission_id=submission_id)
        return _runs(self._call("CancelSubmission", request, pb.ListRunsReply))

    def delete_run(self, ref: str) -> records.Run:
        """Delete a run that has ended, with its folder. Raises NotFound, Ambiguous, Refused."""
        return convert.run(self._call("DeleteRun", pb.DeleteRunRequest(run_id=ref), pb.Run))

    def watch_run(self, ref: str, *, timeout: float | None = None) -> Iterator[records.RunEvent]:
        """A run's progress until it ends. Raises NotFound, Ambiguous, TimedOut."""
        request = pb.WatchRunRequest(run_id=ref)
        return map(convert.run_event, self._transport.stream("WatchRun", request, pb.RunEvent, timeout=timeout))

    def run_log(self, ref: str) -> Iterator[bytes]:
        """What the run's worker printed. Raises NotFound, Ambiguous."""
        request = pb.GetRunLogRequest(run_id=ref)
        for chunk in self._transport.stream("GetRunLog", request, pb.LogChunk, timeout=self._timeout):
            yield chunk.data

    def metrics(self, ref: str, *, columns: Sequence[str] = (), last_steps: int = 0) -> records.Metrics:
        """A run's curves; the named columns, or all. Raises NotFound, Ambiguous."""
        request = pb.GetMetricsRequest(run_id=ref, columns=columns, last_steps=last_steps)
        return convert.metrics(self._transport.stream("GetMetrics", request, pb.MetricsChunk, timeout=self._timeout))

    def hparams(self, ref: str) -> records.Hparams:
        """The flat settings that decide the arithmetic, with their `sha`. Raises NotFound, Ambiguous."""
        request = pb.GetHparamsRequest(run_id=ref)
        return convert.hparams(self._call("GetHparams", request, pb.Hparams))

    def pause_run(self, ref: str, *, checkpoint: str) -> records.Run:
        """Ask a run to pause, `checkpoint` being "save" or "latest". Raises NotFound, Ambiguous, Invalid, Refused."""
        return convert.run(self._call("PauseRun", pb.PauseRunRequest(run_id=ref, checkpoint=checkpoint), pb.Run))

    def resume_run(self, ref: str) -> records.Run:
        """Queue a paused or resumable run for another attempt. Raises NotFound, Ambiguous, Refused."""
        return convert.run(self._call("ResumeRun", pb.ResumeRunRequest(run_id=ref), pb.Run))

    def repeat_run(
        self, ref: str, *, times: int, submission_id: str, origin: records.Origin | None = None
    ) -> records.Repeats:
        """Start a run's plan again. Raises NotFound, Ambiguous, Invalid, Refused, Conflict, Exhausted."""
        request = pb.RepeatRunRequest(
            run_id=ref, times=times, submission_id=submission_id, origin=convert_folder.to_origin(origin)
        )
        return convert_folder.repeats(self._call("RepeatRun", request, pb.RepeatRunReply))

    def annotate_run(
        self, ref: str, *, comment: str | None = None, description: str | None = None, config_name: str | None = None
    ) -> records.Run:
        """Add a comment; set, or by "" clear, description and label. Raises NotFound, Ambiguous, Invalid, Exhausted."""
        request = pb.AnnotateRunRequest(
            run_id=ref, comment=comment or "", description=description, config_name=config_name
        )
        return convert.run(self._call("AnnotateRun", request, pb.Run))

    def engine_config(self, ref: str) -> records.EngineConfig:
        """What the run's engine was asked for, and made of it. Raises NotFound, Ambiguous."""
        request = pb.GetEngineConfigRequest(run_id=ref)
        return convert_folder.engine_config(self._call("GetEngineConfig", request, pb.EngineConfig))

    def engine_runtime(self, ref: str) -> records.EngineRuntime:
        """What the run's engine decided and used. Raises NotFound, Ambiguous."""
        request = pb.GetEngineRuntimeRequest(run_id=ref)
        return convert_folder.engine_runtime(self._call("GetEngineRuntime", request, pb.EngineRuntime))

    # folders

    def verify_run(self, ref: str) -> records.Verification:
        """Check the files of a run's record, where the trainer is. Raises NotFound, Ambiguous."""
        return convert_folder.verification(self._call("VerifyRun", pb.VerifyRunRequest(run_id=ref), pb.Verification))

    def export_run(self, ref: str) -> Iterator[records.ExportPart]:
        """The folders of a run and its ancestors, roots first, however long it takes. Raises NotFound, Ambiguous,
        Refused."""
        request = pb.ExportRunRequest(run_id=ref)
        stream = self._transport.stream("ExportRun", request, pb.ExportPart, timeout=None)
        return map(convert_folder.export_part, stream)

    def upload(self, source: BinaryIO) -> tuple[str, str]:
        """Send a file of a run's record; the upload's id and the sha256 of its bytes.

        Raises Invalid (it changed meanwhile), Exhausted (the trainer's disk), OSError (reading).
        """
        content = uploads.Content(source, record=True)
        upload_id = secrets.token_hex(16)
        for offset, data in content.parts():
            part = pb.WriteUploadRequest(upload_id=upload_id, offset=offset, data=data, record=True)
            self._call("WriteUpload", part, pb.WriteUploadReply)
        return upload_id, content.sha256

    def import_runs(self, folders: tuple[records.UploadedFolder, ...], *, patience: float = 0.0) -> records.Imported:
        """Take uploaded folders into the catalog. Raises NotFound, Invalid, Conflict, Refused, Exhausted.

        `patience`: seconds beyond those that each call has, for the trainer to read all of it.
        """
        request = convert_folder.to_import(folders)
        allowed = self._timeout + patience
        return convert_folder.imported(
            self._transport.unary("ImportRuns", request, pb.ImportRunsReply, timeout=allowed)
        )

    # branches

    def validate_branches(self, asked: records.FanRequest) -> records.Branches:
        """Resolve every point of a fan; nothing is stored.

        Raises Invalid (all faulty points), NotFound, Ambiguous, Refused, Exhausted (the fan's limit), Conflict (the
        token).
        """
        return convert.branches(self._call("ValidateBranches", _branches_request(asked), pb.Branches))

    def submit_branches(self, asked: records.FanRequest) -> records.Branches:
        """The same, and queue every child that is not there yet, all or none. Raises as `validate_branches`."""
        return convert.branches(self._call("SubmitBranches", _branches_request(asked), pb.Branches))

    def branches(
        self, parent: str, *, submission_id: str | None = None, limit: int = 0, offset: int = 0
    ) -> records.Page:
        """Children of a run, newest first, or those of one submission. Raises NotFound, Ambiguous."""
        request = pb.ListBranchesRequest(parent=parent, submission_id=submission_id or "", limit=limit, offset=offset)
        return _runs(self._call("ListBranches", request, pb.ListRunsReply), offset)

    def descendants(self, ref: str, *, depth: int = 0) -> records.RunTree:
        """A run and `depth` generations below it, 0 for all. Raises NotFound, Ambiguous."""
        request = pb.ListDescendantsRequest(run_id=ref, depth=depth)
        return records.RunTree(_runs(self._call("ListDescendants", request, pb.ListRunsReply)).items)

    def ancestry(self, ref: str) -> records.Page:
        """The chain from the root to a run. Raises NotFound, Ambiguous."""
        return _runs(self._call("ListAncestry", pb.ListAncestryRequest(run_id=ref), pb.ListRunsReply))

    # snapshots

    def snapshot(self, ref: str) -> records.Snapshot:
        """One snapshot by id or prefix. Raises NotFound, Ambiguous."""
        return convert.snapshot(self._call("GetSnapshot", pb.GetSnapshotRequest(snapshot=ref), pb.Snapshot))

    def pin_snapshot(self, ref: str, *, kinds: Sequence[str] = ()) -> records.Snapshot:
        """Hold a snapshot against sweeping; both kinds unless named. Raises NotFound, Ambiguous, Invalid, Refused."""
        request = pb.PinSnapshotRequest(snapshot=ref, kinds=kinds)
        return convert.snapshot(self._call("PinSnapshot", request, pb.Snapshot))

    def unpin_snapshot(self, ref: str, *, kinds: Sequence[str] = ()) -> records.Snapshot:
        """Drop the pin; of every kind that it holds unless named. Raises NotFound, Ambiguous, Invalid, Refused."""
        request = pb.PinSnapshotRequest(snapshot=ref, kinds=kinds)
        return convert.snapshot(self._call("UnpinSnapshot", request, pb.Snapshot))

    def snapshots(self, ref: str, *, limit: int = 0, offset: int = 0) -> records.Page:
        """Committed snapshots of a run, newest first. Raises NotFound, Ambiguous."""
        request = pb.ListSnapshotsRequest(run_id=ref, limit=limit, offset=offset)
        reply = self._call("ListSnapshots", request, pb.ListSnapshotsReply)
        return records.Page(tuple(map(convert.snapshot, reply.snapshots)), offset, reply.total)


def _page(items: tuple[object, ...]) -> records.Page:
    return records.Page(items, 0, len(items))


def _runs(reply: pb.ListRunsReply, offset: int = 0) -> records.Page:
    return records.Page(tuple(map(convert.run, reply.runs)), offset, reply.total)


def _branches_request(asked: records.FanRequest) -> pb.BranchesRequest:
    return pb.BranchesRequest(
        parent=asked.parent,
        snapshot=asked.snapshot,
        steps=asked.steps,
        restore=asked.restore,
        submission_id=asked.submission_id,
        points=[pb.BranchPoint(changes_json=_json(dict(point))) for point in asked.points],
        description=asked.description or "",
        origin=convert_folder.to_origin(asked.origin),
        continues=asked.continues,
    )


def _json(document: records.Document) -> str:
    return json.dumps(document, ensure_ascii=False)
