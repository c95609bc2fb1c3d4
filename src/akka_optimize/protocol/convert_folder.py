"""What `convert` is for runs, for their folders and what is told of their engines."""

from __future__ import annotations

import json
from dataclasses import asdict

from akka_optimize import records
from akka_optimize.protocol import convert
from akka_optimize.protocol import trainer_pb2 as pb


def origin(message: pb.Origin) -> records.Origin | None:
    """An Origin record; None for a message that names no commit."""
    if not message.commit:
        return None
    return records.Origin(message.commit, message.diff_sha256 or None, message.diff or None)


def to_origin(record: records.Origin | None) -> pb.Origin | None:
    """An Origin message."""
    return None if record is None else pb.Origin(**asdict(record))


def verification(message: pb.Verification) -> records.Verification:
    """A Verification record."""
    return records.Verification(
        folder=message.folder,
        run_id=message.run_id or None,
        config_hash=message.config_hash or None,
        files=message.files,
        bytes=message.bytes,
        mismatches=tuple(records.Mismatch(found.file, found.problem) for found in message.mismatches),
    )


def to_verification(record: records.Verification) -> pb.Verification:
    """A Verification message."""
    own = asdict(record)
    own["mismatches"] = [pb.Mismatch(**found) for found in own["mismatches"]]
    return pb.Verification(**own)


def export_part(message: pb.ExportPart) -> records.ExportPart:
    """An ExportPart record."""
    return records.ExportPart(message.folder, message.path or None, message.size, message.data)


def to_export_part(record: records.ExportPart) -> pb.ExportPart:
    """An ExportPart message."""
    return pb.ExportPart(folder=record.folder, path=record.path or "", size=record.size, data=record.data)


def uploaded_folders(message: pb.ImportRunsRequest) -> tuple[records.UploadedFolder, ...]:
    """The folders that an import names."""
    return tuple(
        records.UploadedFolder(
            folder.name,
            tuple(records.UploadedFile(file.path, file.upload_id, file.sha256) for file in folder.files),
        )
        for folder in message.folders
    )


def to_import(folders: tuple[records.UploadedFolder, ...]) -> pb.ImportRunsRequest:
    """The request to import folders."""
    return pb.ImportRunsRequest(
        folders=[
            pb.ImportedFolder(name=folder.name, files=[pb.ImportedFile(**asdict(file)) for file in folder.files])
            for folder in folders
        ]
    )


def imported(message: pb.ImportRunsReply) -> records.Imported:
    """What an import came to."""
    return records.Imported(tuple(map(convert.run, message.runs)), tuple(message.notes))


def to_imported(record: records.Imported) -> pb.ImportRunsReply:
    """The reply to an import."""
    return pb.ImportRunsReply(runs=map(convert.to_run, record.runs), notes=record.notes)


def repeats(message: pb.RepeatRunReply) -> records.Repeats:
    """The runs that repeat one."""
    return records.Repeats(tuple(map(convert.run, message.runs)), tuple(message.notes))


def to_repeats(record: records.Repeats) -> pb.RepeatRunReply:
    """The reply to a repeat."""
    return pb.RepeatRunReply(runs=map(convert.to_run, record.runs), notes=record.notes)


def engine_config(message: pb.EngineConfig) -> records.EngineConfig:
    """An EngineConfig record."""
    return records.EngineConfig(message.run_id, json.loads(message.requested_json), json.loads(message.resolved_json))


def to_engine_config(record: records.EngineConfig) -> pb.EngineConfig:
    """An EngineConfig message."""
    return pb.EngineConfig(
        run_id=record.run_id,
        requested_json=json.dumps(record.requested, ensure_ascii=False),
        resolved_json=json.dumps(record.resolved, ensure_ascii=False),
    )


def engine_runtime(message: pb.EngineRuntime) -> records.EngineRuntime:
    """An EngineRuntime record."""
    return records.EngineRuntime(message.run_id, message.attempt, json.loads(message.runtime_json))


def to_engine_runtime(record: records.EngineRuntime) -> pb.EngineRuntime:
    """An EngineRuntime message."""
    return pb.EngineRuntime(
        run_id=record.run_id, attempt=record.attempt, runtime_json=json.dumps(record.runtime, ensure_ascii=False)
    )
