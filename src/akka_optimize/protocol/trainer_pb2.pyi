from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ErrorDetail(_message.Message):
    __slots__ = ("field", "hint")
    FIELD_FIELD_NUMBER: _ClassVar[int]
    HINT_FIELD_NUMBER: _ClassVar[int]
    field: str
    hint: str
    def __init__(self, field: _Optional[str] = ..., hint: _Optional[str] = ...) -> None: ...

class GetInfoRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Info(_message.Message):
    __slots__ = ("backend", "version", "home", "workers", "queued", "running", "startup", "notes", "build", "started_at")
    BACKEND_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    HOME_FIELD_NUMBER: _ClassVar[int]
    WORKERS_FIELD_NUMBER: _ClassVar[int]
    QUEUED_FIELD_NUMBER: _ClassVar[int]
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    STARTUP_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    BUILD_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    backend: str
    version: str
    home: str
    workers: int
    queued: int
    running: int
    startup: str
    notes: _containers.RepeatedScalarFieldContainer[str]
    build: str
    started_at: str
    def __init__(self, backend: _Optional[str] = ..., version: _Optional[str] = ..., home: _Optional[str] = ..., workers: _Optional[int] = ..., queued: _Optional[int] = ..., running: _Optional[int] = ..., startup: _Optional[str] = ..., notes: _Optional[_Iterable[str]] = ..., build: _Optional[str] = ..., started_at: _Optional[str] = ...) -> None: ...

class WriteUploadRequest(_message.Message):
    __slots__ = ("upload_id", "offset", "data", "record")
    UPLOAD_ID_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    RECORD_FIELD_NUMBER: _ClassVar[int]
    upload_id: str
    offset: int
    data: bytes
    record: bool
    def __init__(self, upload_id: _Optional[str] = ..., offset: _Optional[int] = ..., data: _Optional[bytes] = ..., record: _Optional[bool] = ...) -> None: ...

class WriteUploadReply(_message.Message):
    __slots__ = ("size",)
    SIZE_FIELD_NUMBER: _ClassVar[int]
    size: int
    def __init__(self, size: _Optional[int] = ...) -> None: ...

class CreateDatasetRequest(_message.Message):
    __slots__ = ("upload_id", "sha256", "name")
    UPLOAD_ID_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    upload_id: str
    sha256: str
    name: str
    def __init__(self, upload_id: _Optional[str] = ..., sha256: _Optional[str] = ..., name: _Optional[str] = ...) -> None: ...

class ListDatasetsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListDatasetsReply(_message.Message):
    __slots__ = ("datasets",)
    DATASETS_FIELD_NUMBER: _ClassVar[int]
    datasets: _containers.RepeatedCompositeFieldContainer[Dataset]
    def __init__(self, datasets: _Optional[_Iterable[_Union[Dataset, _Mapping]]] = ...) -> None: ...

class GetDatasetRequest(_message.Message):
    __slots__ = ("dataset",)
    DATASET_FIELD_NUMBER: _ClassVar[int]
    dataset: str
    def __init__(self, dataset: _Optional[str] = ...) -> None: ...

class NameDatasetRequest(_message.Message):
    __slots__ = ("name", "dataset")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    name: str
    dataset: str
    def __init__(self, name: _Optional[str] = ..., dataset: _Optional[str] = ...) -> None: ...

class Dataset(_message.Message):
    __slots__ = ("hash", "names", "example_count", "size_bytes", "format_version", "findings", "created_at")
    HASH_FIELD_NUMBER: _ClassVar[int]
    NAMES_FIELD_NUMBER: _ClassVar[int]
    EXAMPLE_COUNT_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    FORMAT_VERSION_FIELD_NUMBER: _ClassVar[int]
    FINDINGS_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    hash: str
    names: _containers.RepeatedScalarFieldContainer[str]
    example_count: int
    size_bytes: int
    format_version: int
    findings: _containers.RepeatedScalarFieldContainer[str]
    created_at: str
    def __init__(self, hash: _Optional[str] = ..., names: _Optional[_Iterable[str]] = ..., example_count: _Optional[int] = ..., size_bytes: _Optional[int] = ..., format_version: _Optional[int] = ..., findings: _Optional[_Iterable[str]] = ..., created_at: _Optional[str] = ...) -> None: ...

class CreateWorkloadRequest(_message.Message):
    __slots__ = ("name", "dataset", "grader")
    NAME_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    GRADER_FIELD_NUMBER: _ClassVar[int]
    name: str
    dataset: str
    grader: str
    def __init__(self, name: _Optional[str] = ..., dataset: _Optional[str] = ..., grader: _Optional[str] = ...) -> None: ...

class ListWorkloadsRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class ListWorkloadsReply(_message.Message):
    __slots__ = ("workloads",)
    WORKLOADS_FIELD_NUMBER: _ClassVar[int]
    workloads: _containers.RepeatedCompositeFieldContainer[Workload]
    def __init__(self, workloads: _Optional[_Iterable[_Union[Workload, _Mapping]]] = ...) -> None: ...

class GetWorkloadRequest(_message.Message):
    __slots__ = ("workload",)
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    workload: str
    def __init__(self, workload: _Optional[str] = ...) -> None: ...

class Workload(_message.Message):
    __slots__ = ("workload_id", "name", "dataset", "grader", "created_at", "run_count")
    WORKLOAD_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    GRADER_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    RUN_COUNT_FIELD_NUMBER: _ClassVar[int]
    workload_id: str
    name: str
    dataset: str
    grader: str
    created_at: str
    run_count: int
    def __init__(self, workload_id: _Optional[str] = ..., name: _Optional[str] = ..., dataset: _Optional[str] = ..., grader: _Optional[str] = ..., created_at: _Optional[str] = ..., run_count: _Optional[int] = ...) -> None: ...

class ListBaseModelsRequest(_message.Message):
    __slots__ = ("all",)
    ALL_FIELD_NUMBER: _ClassVar[int]
    all: bool
    def __init__(self, all: _Optional[bool] = ...) -> None: ...

class ListBaseModelsReply(_message.Message):
    __slots__ = ("models",)
    MODELS_FIELD_NUMBER: _ClassVar[int]
    models: _containers.RepeatedCompositeFieldContainer[BaseModel]
    def __init__(self, models: _Optional[_Iterable[_Union[BaseModel, _Mapping]]] = ...) -> None: ...

class GetBaseModelRequest(_message.Message):
    __slots__ = ("base_model",)
    BASE_MODEL_FIELD_NUMBER: _ClassVar[int]
    base_model: str
    def __init__(self, base_model: _Optional[str] = ...) -> None: ...

class BaseModel(_message.Message):
    __slots__ = ("model_id", "repository", "revision", "status", "engine", "methods", "precisions", "parameters", "context_length", "license", "description")
    MODEL_ID_FIELD_NUMBER: _ClassVar[int]
    REPOSITORY_FIELD_NUMBER: _ClassVar[int]
    REVISION_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    ENGINE_FIELD_NUMBER: _ClassVar[int]
    METHODS_FIELD_NUMBER: _ClassVar[int]
    PRECISIONS_FIELD_NUMBER: _ClassVar[int]
    PARAMETERS_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_LENGTH_FIELD_NUMBER: _ClassVar[int]
    LICENSE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    model_id: str
    repository: str
    revision: str
    status: str
    engine: str
    methods: _containers.RepeatedScalarFieldContainer[str]
    precisions: _containers.RepeatedScalarFieldContainer[str]
    parameters: int
    context_length: int
    license: str
    description: str
    def __init__(self, model_id: _Optional[str] = ..., repository: _Optional[str] = ..., revision: _Optional[str] = ..., status: _Optional[str] = ..., engine: _Optional[str] = ..., methods: _Optional[_Iterable[str]] = ..., precisions: _Optional[_Iterable[str]] = ..., parameters: _Optional[int] = ..., context_length: _Optional[int] = ..., license: _Optional[str] = ..., description: _Optional[str] = ...) -> None: ...

class ValidateRunRequest(_message.Message):
    __slots__ = ("descriptor_json",)
    DESCRIPTOR_JSON_FIELD_NUMBER: _ClassVar[int]
    descriptor_json: str
    def __init__(self, descriptor_json: _Optional[str] = ...) -> None: ...

class StartRunRequest(_message.Message):
    __slots__ = ("descriptor_json", "origin")
    DESCRIPTOR_JSON_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    descriptor_json: str
    origin: Origin
    def __init__(self, descriptor_json: _Optional[str] = ..., origin: _Optional[_Union[Origin, _Mapping]] = ...) -> None: ...

class Origin(_message.Message):
    __slots__ = ("commit", "diff_sha256", "diff")
    COMMIT_FIELD_NUMBER: _ClassVar[int]
    DIFF_SHA256_FIELD_NUMBER: _ClassVar[int]
    DIFF_FIELD_NUMBER: _ClassVar[int]
    commit: str
    diff_sha256: str
    diff: bytes
    def __init__(self, commit: _Optional[str] = ..., diff_sha256: _Optional[str] = ..., diff: _Optional[bytes] = ...) -> None: ...

class ResolvedRun(_message.Message):
    __slots__ = ("descriptor_json", "config_json", "execution_json", "plan_json", "config_hash", "division", "steps", "training_rows", "validation_rows", "skipped_rows", "stated", "notes")
    DESCRIPTOR_JSON_FIELD_NUMBER: _ClassVar[int]
    CONFIG_JSON_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_JSON_FIELD_NUMBER: _ClassVar[int]
    PLAN_JSON_FIELD_NUMBER: _ClassVar[int]
    CONFIG_HASH_FIELD_NUMBER: _ClassVar[int]
    DIVISION_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    TRAINING_ROWS_FIELD_NUMBER: _ClassVar[int]
    VALIDATION_ROWS_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_ROWS_FIELD_NUMBER: _ClassVar[int]
    STATED_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    descriptor_json: str
    config_json: str
    execution_json: str
    plan_json: str
    config_hash: str
    division: Division
    steps: int
    training_rows: int
    validation_rows: int
    skipped_rows: int
    stated: _containers.RepeatedScalarFieldContainer[str]
    notes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, descriptor_json: _Optional[str] = ..., config_json: _Optional[str] = ..., execution_json: _Optional[str] = ..., plan_json: _Optional[str] = ..., config_hash: _Optional[str] = ..., division: _Optional[_Union[Division, _Mapping]] = ..., steps: _Optional[int] = ..., training_rows: _Optional[int] = ..., validation_rows: _Optional[int] = ..., skipped_rows: _Optional[int] = ..., stated: _Optional[_Iterable[str]] = ..., notes: _Optional[_Iterable[str]] = ...) -> None: ...

class Division(_message.Message):
    __slots__ = ("devices", "sequences_per_pass", "accumulation", "sequences_per_update")
    DEVICES_FIELD_NUMBER: _ClassVar[int]
    SEQUENCES_PER_PASS_FIELD_NUMBER: _ClassVar[int]
    ACCUMULATION_FIELD_NUMBER: _ClassVar[int]
    SEQUENCES_PER_UPDATE_FIELD_NUMBER: _ClassVar[int]
    devices: int
    sequences_per_pass: int
    accumulation: int
    sequences_per_update: int
    def __init__(self, devices: _Optional[int] = ..., sequences_per_pass: _Optional[int] = ..., accumulation: _Optional[int] = ..., sequences_per_update: _Optional[int] = ...) -> None: ...

class Run(_message.Message):
    __slots__ = ("run_id", "name", "purpose", "description", "config_name", "phase", "workload", "workload_id", "method", "base_model", "dataset", "dataset_name", "grader", "submission_id", "config_hash", "plan_json", "config_json", "execution_json", "environment_json", "stated", "division", "seed", "steps", "observed_step", "saved_step", "attempt", "loss", "validation_loss", "failure_code", "failure_reason", "resumable", "created_at", "started_at", "ended_at", "folder", "training_rows", "validation_rows", "skipped_rows", "parent_run_id", "source_snapshot_id", "restore", "changes_json", "source_step", "pause", "best_snapshot_id", "best_step", "best_validation_loss", "last_snapshot_id", "replaced_steps", "events_json", "changed_json", "repeats", "origin_json")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    PURPOSE_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    CONFIG_NAME_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    WORKLOAD_ID_FIELD_NUMBER: _ClassVar[int]
    METHOD_FIELD_NUMBER: _ClassVar[int]
    BASE_MODEL_FIELD_NUMBER: _ClassVar[int]
    DATASET_FIELD_NUMBER: _ClassVar[int]
    DATASET_NAME_FIELD_NUMBER: _ClassVar[int]
    GRADER_FIELD_NUMBER: _ClassVar[int]
    SUBMISSION_ID_FIELD_NUMBER: _ClassVar[int]
    CONFIG_HASH_FIELD_NUMBER: _ClassVar[int]
    PLAN_JSON_FIELD_NUMBER: _ClassVar[int]
    CONFIG_JSON_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_JSON_FIELD_NUMBER: _ClassVar[int]
    ENVIRONMENT_JSON_FIELD_NUMBER: _ClassVar[int]
    STATED_FIELD_NUMBER: _ClassVar[int]
    DIVISION_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    OBSERVED_STEP_FIELD_NUMBER: _ClassVar[int]
    SAVED_STEP_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    LOSS_FIELD_NUMBER: _ClassVar[int]
    VALIDATION_LOSS_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CODE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_REASON_FIELD_NUMBER: _ClassVar[int]
    RESUMABLE_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    STARTED_AT_FIELD_NUMBER: _ClassVar[int]
    ENDED_AT_FIELD_NUMBER: _ClassVar[int]
    FOLDER_FIELD_NUMBER: _ClassVar[int]
    TRAINING_ROWS_FIELD_NUMBER: _ClassVar[int]
    VALIDATION_ROWS_FIELD_NUMBER: _ClassVar[int]
    SKIPPED_ROWS_FIELD_NUMBER: _ClassVar[int]
    PARENT_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SOURCE_SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    RESTORE_FIELD_NUMBER: _ClassVar[int]
    CHANGES_JSON_FIELD_NUMBER: _ClassVar[int]
    SOURCE_STEP_FIELD_NUMBER: _ClassVar[int]
    PAUSE_FIELD_NUMBER: _ClassVar[int]
    BEST_SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    BEST_STEP_FIELD_NUMBER: _ClassVar[int]
    BEST_VALIDATION_LOSS_FIELD_NUMBER: _ClassVar[int]
    LAST_SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    REPLACED_STEPS_FIELD_NUMBER: _ClassVar[int]
    EVENTS_JSON_FIELD_NUMBER: _ClassVar[int]
    CHANGED_JSON_FIELD_NUMBER: _ClassVar[int]
    REPEATS_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_JSON_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    name: str
    purpose: str
    description: str
    config_name: str
    phase: str
    workload: str
    workload_id: str
    method: str
    base_model: str
    dataset: str
    dataset_name: str
    grader: str
    submission_id: str
    config_hash: str
    plan_json: str
    config_json: str
    execution_json: str
    environment_json: str
    stated: _containers.RepeatedScalarFieldContainer[str]
    division: Division
    seed: int
    steps: int
    observed_step: int
    saved_step: int
    attempt: int
    loss: float
    validation_loss: float
    failure_code: str
    failure_reason: str
    resumable: bool
    created_at: str
    started_at: str
    ended_at: str
    folder: str
    training_rows: int
    validation_rows: int
    skipped_rows: int
    parent_run_id: str
    source_snapshot_id: str
    restore: str
    changes_json: str
    source_step: int
    pause: Pause
    best_snapshot_id: str
    best_step: int
    best_validation_loss: float
    last_snapshot_id: str
    replaced_steps: int
    events_json: str
    changed_json: str
    repeats: str
    origin_json: str
    def __init__(self, run_id: _Optional[str] = ..., name: _Optional[str] = ..., purpose: _Optional[str] = ..., description: _Optional[str] = ..., config_name: _Optional[str] = ..., phase: _Optional[str] = ..., workload: _Optional[str] = ..., workload_id: _Optional[str] = ..., method: _Optional[str] = ..., base_model: _Optional[str] = ..., dataset: _Optional[str] = ..., dataset_name: _Optional[str] = ..., grader: _Optional[str] = ..., submission_id: _Optional[str] = ..., config_hash: _Optional[str] = ..., plan_json: _Optional[str] = ..., config_json: _Optional[str] = ..., execution_json: _Optional[str] = ..., environment_json: _Optional[str] = ..., stated: _Optional[_Iterable[str]] = ..., division: _Optional[_Union[Division, _Mapping]] = ..., seed: _Optional[int] = ..., steps: _Optional[int] = ..., observed_step: _Optional[int] = ..., saved_step: _Optional[int] = ..., attempt: _Optional[int] = ..., loss: _Optional[float] = ..., validation_loss: _Optional[float] = ..., failure_code: _Optional[str] = ..., failure_reason: _Optional[str] = ..., resumable: _Optional[bool] = ..., created_at: _Optional[str] = ..., started_at: _Optional[str] = ..., ended_at: _Optional[str] = ..., folder: _Optional[str] = ..., training_rows: _Optional[int] = ..., validation_rows: _Optional[int] = ..., skipped_rows: _Optional[int] = ..., parent_run_id: _Optional[str] = ..., source_snapshot_id: _Optional[str] = ..., restore: _Optional[str] = ..., changes_json: _Optional[str] = ..., source_step: _Optional[int] = ..., pause: _Optional[_Union[Pause, _Mapping]] = ..., best_snapshot_id: _Optional[str] = ..., best_step: _Optional[int] = ..., best_validation_loss: _Optional[float] = ..., last_snapshot_id: _Optional[str] = ..., replaced_steps: _Optional[int] = ..., events_json: _Optional[str] = ..., changed_json: _Optional[str] = ..., repeats: _Optional[str] = ..., origin_json: _Optional[str] = ...) -> None: ...

class Pause(_message.Message):
    __slots__ = ("checkpoint", "requested_at", "saved_step", "reason", "resources_released")
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_AT_FIELD_NUMBER: _ClassVar[int]
    SAVED_STEP_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    RESOURCES_RELEASED_FIELD_NUMBER: _ClassVar[int]
    checkpoint: str
    requested_at: str
    saved_step: int
    reason: str
    resources_released: bool
    def __init__(self, checkpoint: _Optional[str] = ..., requested_at: _Optional[str] = ..., saved_step: _Optional[int] = ..., reason: _Optional[str] = ..., resources_released: _Optional[bool] = ...) -> None: ...

class PauseRunRequest(_message.Message):
    __slots__ = ("run_id", "checkpoint")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    CHECKPOINT_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    checkpoint: str
    def __init__(self, run_id: _Optional[str] = ..., checkpoint: _Optional[str] = ...) -> None: ...

class ResumeRunRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class RepeatRunRequest(_message.Message):
    __slots__ = ("run_id", "times", "submission_id", "origin")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    TIMES_FIELD_NUMBER: _ClassVar[int]
    SUBMISSION_ID_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    times: int
    submission_id: str
    origin: Origin
    def __init__(self, run_id: _Optional[str] = ..., times: _Optional[int] = ..., submission_id: _Optional[str] = ..., origin: _Optional[_Union[Origin, _Mapping]] = ...) -> None: ...

class RepeatRunReply(_message.Message):
    __slots__ = ("runs", "notes")
    RUNS_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[Run]
    notes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, runs: _Optional[_Iterable[_Union[Run, _Mapping]]] = ..., notes: _Optional[_Iterable[str]] = ...) -> None: ...

class AnnotateRunRequest(_message.Message):
    __slots__ = ("run_id", "comment", "description", "config_name")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    COMMENT_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    CONFIG_NAME_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    comment: str
    description: str
    config_name: str
    def __init__(self, run_id: _Optional[str] = ..., comment: _Optional[str] = ..., description: _Optional[str] = ..., config_name: _Optional[str] = ...) -> None: ...

class VerifyRunRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class Verification(_message.Message):
    __slots__ = ("folder", "run_id", "config_hash", "files", "bytes", "mismatches")
    FOLDER_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    CONFIG_HASH_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    MISMATCHES_FIELD_NUMBER: _ClassVar[int]
    folder: str
    run_id: str
    config_hash: str
    files: int
    bytes: int
    mismatches: _containers.RepeatedCompositeFieldContainer[Mismatch]
    def __init__(self, folder: _Optional[str] = ..., run_id: _Optional[str] = ..., config_hash: _Optional[str] = ..., files: _Optional[int] = ..., bytes: _Optional[int] = ..., mismatches: _Optional[_Iterable[_Union[Mismatch, _Mapping]]] = ...) -> None: ...

class Mismatch(_message.Message):
    __slots__ = ("file", "problem")
    FILE_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    file: str
    problem: str
    def __init__(self, file: _Optional[str] = ..., problem: _Optional[str] = ...) -> None: ...

class ExportRunRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class ExportPart(_message.Message):
    __slots__ = ("folder", "path", "size", "data")
    FOLDER_FIELD_NUMBER: _ClassVar[int]
    PATH_FIELD_NUMBER: _ClassVar[int]
    SIZE_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    folder: str
    path: str
    size: int
    data: bytes
    def __init__(self, folder: _Optional[str] = ..., path: _Optional[str] = ..., size: _Optional[int] = ..., data: _Optional[bytes] = ...) -> None: ...

class ImportRunsRequest(_message.Message):
    __slots__ = ("folders",)
    FOLDERS_FIELD_NUMBER: _ClassVar[int]
    folders: _containers.RepeatedCompositeFieldContainer[ImportedFolder]
    def __init__(self, folders: _Optional[_Iterable[_Union[ImportedFolder, _Mapping]]] = ...) -> None: ...

class ImportedFolder(_message.Message):
    __slots__ = ("name", "files")
    NAME_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    name: str
    files: _containers.RepeatedCompositeFieldContainer[ImportedFile]
    def __init__(self, name: _Optional[str] = ..., files: _Optional[_Iterable[_Union[ImportedFile, _Mapping]]] = ...) -> None: ...

class ImportedFile(_message.Message):
    __slots__ = ("path", "upload_id", "sha256")
    PATH_FIELD_NUMBER: _ClassVar[int]
    UPLOAD_ID_FIELD_NUMBER: _ClassVar[int]
    SHA256_FIELD_NUMBER: _ClassVar[int]
    path: str
    upload_id: str
    sha256: str
    def __init__(self, path: _Optional[str] = ..., upload_id: _Optional[str] = ..., sha256: _Optional[str] = ...) -> None: ...

class ImportRunsReply(_message.Message):
    __slots__ = ("runs", "notes")
    RUNS_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[Run]
    notes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, runs: _Optional[_Iterable[_Union[Run, _Mapping]]] = ..., notes: _Optional[_Iterable[str]] = ...) -> None: ...

class GetEngineConfigRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class EngineConfig(_message.Message):
    __slots__ = ("run_id", "requested_json", "resolved_json")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    REQUESTED_JSON_FIELD_NUMBER: _ClassVar[int]
    RESOLVED_JSON_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    requested_json: str
    resolved_json: str
    def __init__(self, run_id: _Optional[str] = ..., requested_json: _Optional[str] = ..., resolved_json: _Optional[str] = ...) -> None: ...

class GetEngineRuntimeRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class EngineRuntime(_message.Message):
    __slots__ = ("run_id", "attempt", "runtime_json")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    RUNTIME_JSON_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    attempt: int
    runtime_json: str
    def __init__(self, run_id: _Optional[str] = ..., attempt: _Optional[int] = ..., runtime_json: _Optional[str] = ...) -> None: ...

class ListRunsRequest(_message.Message):
    __slots__ = ("phase", "workload", "limit", "offset")
    PHASE_FIELD_NUMBER: _ClassVar[int]
    WORKLOAD_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    phase: str
    workload: str
    limit: int
    offset: int
    def __init__(self, phase: _Optional[str] = ..., workload: _Optional[str] = ..., limit: _Optional[int] = ..., offset: _Optional[int] = ...) -> None: ...

class ListRunsReply(_message.Message):
    __slots__ = ("runs", "total")
    RUNS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    runs: _containers.RepeatedCompositeFieldContainer[Run]
    total: int
    def __init__(self, runs: _Optional[_Iterable[_Union[Run, _Mapping]]] = ..., total: _Optional[int] = ...) -> None: ...

class GetRunRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class CancelRunRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class WatchRunRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class RunEvent(_message.Message):
    __slots__ = ("run_id", "phase", "step", "steps", "loss", "at", "terminal", "failure_code", "failure_reason")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    LOSS_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    TERMINAL_FIELD_NUMBER: _ClassVar[int]
    FAILURE_CODE_FIELD_NUMBER: _ClassVar[int]
    FAILURE_REASON_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    phase: str
    step: int
    steps: int
    loss: float
    at: str
    terminal: bool
    failure_code: str
    failure_reason: str
    def __init__(self, run_id: _Optional[str] = ..., phase: _Optional[str] = ..., step: _Optional[int] = ..., steps: _Optional[int] = ..., loss: _Optional[float] = ..., at: _Optional[str] = ..., terminal: _Optional[bool] = ..., failure_code: _Optional[str] = ..., failure_reason: _Optional[str] = ...) -> None: ...

class GetRunLogRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class LogChunk(_message.Message):
    __slots__ = ("data",)
    DATA_FIELD_NUMBER: _ClassVar[int]
    data: bytes
    def __init__(self, data: _Optional[bytes] = ...) -> None: ...

class GetMetricsRequest(_message.Message):
    __slots__ = ("run_id", "columns", "last_steps")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    LAST_STEPS_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    columns: _containers.RepeatedScalarFieldContainer[str]
    last_steps: int
    def __init__(self, run_id: _Optional[str] = ..., columns: _Optional[_Iterable[str]] = ..., last_steps: _Optional[int] = ...) -> None: ...

class MetricsChunk(_message.Message):
    __slots__ = ("attempt", "steps", "columns", "first_step")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    COLUMNS_FIELD_NUMBER: _ClassVar[int]
    FIRST_STEP_FIELD_NUMBER: _ClassVar[int]
    attempt: int
    steps: _containers.RepeatedScalarFieldContainer[int]
    columns: _containers.RepeatedCompositeFieldContainer[MetricsColumn]
    first_step: int
    def __init__(self, attempt: _Optional[int] = ..., steps: _Optional[_Iterable[int]] = ..., columns: _Optional[_Iterable[_Union[MetricsColumn, _Mapping]]] = ..., first_step: _Optional[int] = ...) -> None: ...

class MetricsColumn(_message.Message):
    __slots__ = ("name", "values", "steps")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    name: str
    values: _containers.RepeatedScalarFieldContainer[float]
    steps: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, name: _Optional[str] = ..., values: _Optional[_Iterable[float]] = ..., steps: _Optional[_Iterable[int]] = ...) -> None: ...

class GetHparamsRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class Hparams(_message.Message):
    __slots__ = ("run_id", "hparams_json", "sha")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    HPARAMS_JSON_FIELD_NUMBER: _ClassVar[int]
    SHA_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    hparams_json: str
    sha: str
    def __init__(self, run_id: _Optional[str] = ..., hparams_json: _Optional[str] = ..., sha: _Optional[str] = ...) -> None: ...

class ListSnapshotsRequest(_message.Message):
    __slots__ = ("run_id", "limit", "offset")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    limit: int
    offset: int
    def __init__(self, run_id: _Optional[str] = ..., limit: _Optional[int] = ..., offset: _Optional[int] = ...) -> None: ...

class ListSnapshotsReply(_message.Message):
    __slots__ = ("snapshots", "total")
    SNAPSHOTS_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    snapshots: _containers.RepeatedCompositeFieldContainer[Snapshot]
    total: int
    def __init__(self, snapshots: _Optional[_Iterable[_Union[Snapshot, _Mapping]]] = ..., total: _Optional[int] = ...) -> None: ...

class Snapshot(_message.Message):
    __slots__ = ("snapshot_id", "run_id", "attempt", "step", "epoch", "artifacts", "status", "validation_loss", "created_at", "best", "held_by")
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    STEP_FIELD_NUMBER: _ClassVar[int]
    EPOCH_FIELD_NUMBER: _ClassVar[int]
    ARTIFACTS_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    VALIDATION_LOSS_FIELD_NUMBER: _ClassVar[int]
    CREATED_AT_FIELD_NUMBER: _ClassVar[int]
    BEST_FIELD_NUMBER: _ClassVar[int]
    HELD_BY_FIELD_NUMBER: _ClassVar[int]
    snapshot_id: str
    run_id: str
    attempt: int
    step: int
    epoch: float
    artifacts: _containers.RepeatedCompositeFieldContainer[Artifact]
    status: str
    validation_loss: float
    created_at: str
    best: bool
    held_by: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, snapshot_id: _Optional[str] = ..., run_id: _Optional[str] = ..., attempt: _Optional[int] = ..., step: _Optional[int] = ..., epoch: _Optional[float] = ..., artifacts: _Optional[_Iterable[_Union[Artifact, _Mapping]]] = ..., status: _Optional[str] = ..., validation_loss: _Optional[float] = ..., created_at: _Optional[str] = ..., best: _Optional[bool] = ..., held_by: _Optional[_Iterable[str]] = ...) -> None: ...

class Artifact(_message.Message):
    __slots__ = ("kind", "manifest_digest", "size_bytes", "swept")
    KIND_FIELD_NUMBER: _ClassVar[int]
    MANIFEST_DIGEST_FIELD_NUMBER: _ClassVar[int]
    SIZE_BYTES_FIELD_NUMBER: _ClassVar[int]
    SWEPT_FIELD_NUMBER: _ClassVar[int]
    kind: str
    manifest_digest: str
    size_bytes: int
    swept: bool
    def __init__(self, kind: _Optional[str] = ..., manifest_digest: _Optional[str] = ..., size_bytes: _Optional[int] = ..., swept: _Optional[bool] = ...) -> None: ...

class GetSnapshotRequest(_message.Message):
    __slots__ = ("snapshot",)
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    snapshot: str
    def __init__(self, snapshot: _Optional[str] = ...) -> None: ...

class PinSnapshotRequest(_message.Message):
    __slots__ = ("snapshot", "kinds")
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    snapshot: str
    kinds: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, snapshot: _Optional[str] = ..., kinds: _Optional[_Iterable[str]] = ...) -> None: ...

class DeleteRunRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...

class CancelSubmissionRequest(_message.Message):
    __slots__ = ("submission_id",)
    SUBMISSION_ID_FIELD_NUMBER: _ClassVar[int]
    submission_id: str
    def __init__(self, submission_id: _Optional[str] = ...) -> None: ...

class BranchesRequest(_message.Message):
    __slots__ = ("parent", "snapshot", "steps", "restore", "submission_id", "points", "description", "origin", "continues")
    PARENT_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    RESTORE_FIELD_NUMBER: _ClassVar[int]
    SUBMISSION_ID_FIELD_NUMBER: _ClassVar[int]
    POINTS_FIELD_NUMBER: _ClassVar[int]
    DESCRIPTION_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    CONTINUES_FIELD_NUMBER: _ClassVar[int]
    parent: str
    snapshot: str
    steps: int
    restore: str
    submission_id: str
    points: _containers.RepeatedCompositeFieldContainer[BranchPoint]
    description: str
    origin: Origin
    continues: bool
    def __init__(self, parent: _Optional[str] = ..., snapshot: _Optional[str] = ..., steps: _Optional[int] = ..., restore: _Optional[str] = ..., submission_id: _Optional[str] = ..., points: _Optional[_Iterable[_Union[BranchPoint, _Mapping]]] = ..., description: _Optional[str] = ..., origin: _Optional[_Union[Origin, _Mapping]] = ..., continues: _Optional[bool] = ...) -> None: ...

class BranchPoint(_message.Message):
    __slots__ = ("changes_json",)
    CHANGES_JSON_FIELD_NUMBER: _ClassVar[int]
    changes_json: str
    def __init__(self, changes_json: _Optional[str] = ...) -> None: ...

class Branches(_message.Message):
    __slots__ = ("parent_run_id", "snapshot_id", "restore", "steps", "submission_id", "points", "fan", "notes")
    PARENT_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_ID_FIELD_NUMBER: _ClassVar[int]
    RESTORE_FIELD_NUMBER: _ClassVar[int]
    STEPS_FIELD_NUMBER: _ClassVar[int]
    SUBMISSION_ID_FIELD_NUMBER: _ClassVar[int]
    POINTS_FIELD_NUMBER: _ClassVar[int]
    FAN_FIELD_NUMBER: _ClassVar[int]
    NOTES_FIELD_NUMBER: _ClassVar[int]
    parent_run_id: str
    snapshot_id: str
    restore: str
    steps: int
    submission_id: str
    points: _containers.RepeatedCompositeFieldContainer[Branch]
    fan: Fan
    notes: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, parent_run_id: _Optional[str] = ..., snapshot_id: _Optional[str] = ..., restore: _Optional[str] = ..., steps: _Optional[int] = ..., submission_id: _Optional[str] = ..., points: _Optional[_Iterable[_Union[Branch, _Mapping]]] = ..., fan: _Optional[_Union[Fan, _Mapping]] = ..., notes: _Optional[_Iterable[str]] = ...) -> None: ...

class Branch(_message.Message):
    __slots__ = ("index", "label", "changes_json", "child_run_id", "existing", "config_hash", "config_json", "execution_json", "phase", "resumable", "restore_error")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    CHANGES_JSON_FIELD_NUMBER: _ClassVar[int]
    CHILD_RUN_ID_FIELD_NUMBER: _ClassVar[int]
    EXISTING_FIELD_NUMBER: _ClassVar[int]
    CONFIG_HASH_FIELD_NUMBER: _ClassVar[int]
    CONFIG_JSON_FIELD_NUMBER: _ClassVar[int]
    EXECUTION_JSON_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    RESUMABLE_FIELD_NUMBER: _ClassVar[int]
    RESTORE_ERROR_FIELD_NUMBER: _ClassVar[int]
    index: int
    label: str
    changes_json: str
    child_run_id: str
    existing: bool
    config_hash: str
    config_json: str
    execution_json: str
    phase: str
    resumable: bool
    restore_error: float
    def __init__(self, index: _Optional[int] = ..., label: _Optional[str] = ..., changes_json: _Optional[str] = ..., child_run_id: _Optional[str] = ..., existing: _Optional[bool] = ..., config_hash: _Optional[str] = ..., config_json: _Optional[str] = ..., execution_json: _Optional[str] = ..., phase: _Optional[str] = ..., resumable: _Optional[bool] = ..., restore_error: _Optional[float] = ...) -> None: ...

class Fan(_message.Message):
    __slots__ = ("existing", "new", "total", "limit")
    EXISTING_FIELD_NUMBER: _ClassVar[int]
    NEW_FIELD_NUMBER: _ClassVar[int]
    TOTAL_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    existing: int
    new: int
    total: int
    limit: int
    def __init__(self, existing: _Optional[int] = ..., new: _Optional[int] = ..., total: _Optional[int] = ..., limit: _Optional[int] = ...) -> None: ...

class ListBranchesRequest(_message.Message):
    __slots__ = ("parent", "submission_id", "limit", "offset")
    PARENT_FIELD_NUMBER: _ClassVar[int]
    SUBMISSION_ID_FIELD_NUMBER: _ClassVar[int]
    LIMIT_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    parent: str
    submission_id: str
    limit: int
    offset: int
    def __init__(self, parent: _Optional[str] = ..., submission_id: _Optional[str] = ..., limit: _Optional[int] = ..., offset: _Optional[int] = ...) -> None: ...

class ListDescendantsRequest(_message.Message):
    __slots__ = ("run_id", "depth")
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    depth: int
    def __init__(self, run_id: _Optional[str] = ..., depth: _Optional[int] = ...) -> None: ...

class ListAncestryRequest(_message.Message):
    __slots__ = ("run_id",)
    RUN_ID_FIELD_NUMBER: _ClassVar[int]
    run_id: str
    def __init__(self, run_id: _Optional[str] = ...) -> None: ...
