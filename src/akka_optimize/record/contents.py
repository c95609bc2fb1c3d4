"""What the documents of a record say of each other and of the other files.

A document that is not the one that checksums.txt lists is no witness against any other file: it is named itself.
"""

from __future__ import annotations

import hashlib
import io
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from akka_optimize.core import plans
from akka_optimize.errors import Invalid
from akka_optimize.record import curves, files, jsonfile, layout, pickles
from akka_optimize.record.jsonfile import shown
from akka_optimize.record.paths import FOLDER

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from akka_optimize.record.files import Seen
    from akka_optimize.record.findings import Findings
    from akka_optimize.records import Document

RUN_ID = re.compile("[0-9a-f]{16}")
DIGEST = re.compile("[0-9a-f]{64}")
STEP = re.compile("0|[1-9][0-9]{0,15}")
UPGRADE = "made by a newer akka-optimize, and this one reads up to {ours}; upgrade akka-optimize to check it"


@dataclass(frozen=True, slots=True)
class Contents:
    """A folder whose files were read: by path, and by path as its list has them (None without a list that is whole)."""

    folder: Path
    name: str
    seen: Mapping[str, Seen]
    listed: Mapping[str, str] | None
    closed: bool
    findings: Findings

    def is_there(self, path: str) -> bool:
        """Is there such a file, or is there to be one?"""
        return path in self.seen or path in (self.listed or {})

    def is_whole(self, path: str) -> bool:
        """Is the file there, and the one that is listed?"""
        found = self.seen.get(path)
        return found is not None and (self.listed is None or self.listed.get(path) == found.digest)

    def document(self, path: str, *, versioned: bool = True) -> Document | None:
        """A JSON document of a format that we know; None, with what is wrong said, for any other."""
        found = self.seen.get(path)
        if found is None or not self.is_whole(path):
            return None
        if found.content is None:
            self.findings.say(path, f"is larger than {jsonfile.MOST_BYTES // 2**20} MiB")
            return None
        try:
            document = jsonfile.parsed(found.content)
            if versioned:
                _check_version(document)
        except ValueError as error:
            self.findings.say(path, str(error))
            return None
        return document


def check(contents: Contents) -> tuple[str | None, str | None]:
    """Say all that does not fit; the run's id and the 12 digits of its configuration, as far as the folder has them."""
    findings, listed = contents.findings, contents.listed or {}
    for path in (layout.RUN, layout.CONFIG, *((layout.METRICS, layout.SUMMARY) if contents.closed else ())):
        findings.want(path, None, "")
    run, plan = contents.document(layout.RUN), contents.document(layout.CONFIG, versioned=False)
    named = contents.name.split("-") if FOLDER.fullmatch(contents.name) else [None, None]
    if named[1] is not None:
        findings.want(layout.CONFIG, named[1], "the folder's name")
    if plan is not None:
        _check_plan(contents, plan)
    if run is not None:
        _check_run(contents, run, plan, named[0])
    for path in sorted({*contents.seen, *listed}):
        if path.startswith(f"{layout.SNAPSHOTS}/") and f"/{layout.UNFINISHED}" not in path:
            _check_saved(contents, path, run)
    summary = contents.document(layout.SUMMARY)
    if summary is not None:
        _check_belongs(contents, layout.SUMMARY, summary, run)
        _check_summary(contents, summary)
    known = run or {}
    return _text(known.get("runId"), RUN_ID) or named[0], _text(known.get("configHash"), None) or named[1]


def _check_plan(contents: Contents, plan: Document) -> None:
    found = contents.seen[layout.CONFIG].content
    if found != plans.plan_text(plan).encode():
        contents.findings.say(layout.CONFIG, "is not the text that is hashed: sorted keys, spaces as in JSON's default")
    dataset = plan.get("dataset")
    if isinstance(dataset, str) and DIGEST.fullmatch(dataset):
        contents.findings.want(layout.DATA, dataset, layout.CONFIG)


def _check_run(contents: Contents, run: Document, plan: Document | None, named: str | None) -> None:
    say, want = contents.findings.say, contents.findings.want
    run_id, sha256, shown_hash = (run.get(key) for key in ("runId", "configSha256", "configHash"))
    if _text(run_id, RUN_ID) is None:
        say(layout.RUN, f"has {shown(run_id)} for runId, which is 16 hex digits")
    elif named not in (None, run_id):
        say(layout.RUN, f"has the runId {run_id}, and the folder's name begins with {named}")
    if _text(sha256, DIGEST) is None or shown_hash != str(sha256)[:12]:
        say(layout.RUN, "has no configSha256 of 64 hex digits that begins with its configHash")
    else:
        want(layout.CONFIG, sha256, layout.RUN)
    if run.get("dataset") is not None:
        digest = _part(run, "dataset", "hash")
        if _text(digest, DIGEST) is None:
            say(layout.RUN, f"has {shown(digest)} for dataset.hash, which is 64 hex digits")
        else:
            want(layout.DATA, digest, layout.RUN)
    diff = _part(run, "origin", "diffSha256")
    if _text(diff, DIGEST) is not None:
        want(layout.DIFF, diff, layout.RUN, may_be_gone=True)
    for key, path in (("steps", ("hyperparams", "training", "steps")), ("seeds.config", ("seed",))):
        told, planned = _part(run, *key.split(".")), _part(plan, *path)
        if told is not None and planned is not None and told != planned:
            say(layout.RUN, f"has {shown(told)} for {key}, and {layout.CONFIG} has {shown(planned)}")


def _check_saved(contents: Contents, path: str, run: Document | None) -> None:
    """A file below snapshots/."""
    _, step, *rest = path.split("/")
    name = "/".join(rest)
    manifest = f"{layout.SNAPSHOTS}/{step}/{layout.MANIFEST}"
    if rest and STEP.fullmatch(step):
        contents.findings.want(manifest, None, "")
    if name == layout.TRAINING_STATE and path in contents.seen:
        _check_pickle(contents, path)
    if path == manifest and (document := contents.document(path)) is not None:
        _check_belongs(contents, path, document, run)
        _check_manifest(contents, path, step, document)


def _check_manifest(contents: Contents, path: str, step: str, manifest: Document) -> None:
    if type(manifest.get("step")) is not int or str(manifest["step"]) != step:
        contents.findings.say(path, f"has {shown(manifest.get('step'))} for step, and lies in the folder of {step}")
    for name in (layout.WEIGHTS, layout.TRAINING_STATE):
        digest, size = (_part(manifest, "files", name, key) for key in ("sha256", "sizeBytes"))
        if _text(digest, DIGEST) is None or type(size) is not int:
            contents.findings.say(path, f"does not say sha256 and sizeBytes of {name}")
        else:
            contents.findings.want(
                f"{layout.SNAPSHOTS}/{step}/{name}", digest, path, size=size, may_be_gone=True
            )  # what was swept is on neither the disk nor the list


def _check_pickle(contents: Contents, path: str) -> None:
    whole = contents.is_whole(path)
    try:
        with files.opened(contents.folder / path) as stream:
            found = pickles.called(stream)
    except ValueError as error:
        if whole:
            contents.findings.say(path, str(error))
        return
    except OSError:  # it could be read a moment ago; whoever took it away is changing the folder
        contents.findings.say(path, "was there, and cannot be read any more")
        return
    for name in found:
        contents.findings.say(path, f"would call {name} when it is loaded; it is not loaded, and not trusted")


def _check_summary(contents: Contents, summary: Document) -> None:
    say = contents.findings.say
    final = summary.get("final")
    told = _last_values(contents) if contents.is_whole(layout.METRICS) else None
    if told is not None and told != final:
        names = sorted(name for name in {*told, *(final if isinstance(final, dict) else ())})
        wrong = [name for name in names if not isinstance(final, dict) or told.get(name) != final.get(name)]
        say(layout.SUMMARY, f"has other final values than {layout.METRICS}: {', '.join(wrong)}")
    best = summary.get("best")
    if best is None:
        return
    step, loss = _part(best, "step"), _part(best, "validationLoss")
    path = f"{layout.SNAPSHOTS}/{step}/{layout.MANIFEST}"
    if not contents.is_there(path):
        say(layout.SUMMARY, f"names update {shown(step)} as the best snapshot, and there is none")
    elif (manifest := contents.document(path)) is not None:
        own = f"{summary.get('runId')}\n{contents.seen[path].digest}"
        if _part(best, "snapshotId") != hashlib.sha256(own.encode(errors="replace")).hexdigest():
            say(layout.SUMMARY, f"names another snapshot as the best one than that of {path}")
        if loss != manifest.get("validationLoss"):
            say(layout.SUMMARY, f"has a validation loss of {shown(loss)} for the best snapshot, and {path} another")


def _last_values(contents: Contents) -> Document | None:
    """Each column's last step and value, as a summary has them; None where the table cannot be read, which is said."""
    last: dict[str, Document] = {}
    try:
        with io.TextIOWrapper(files.opened(contents.folder / layout.METRICS), "utf-8", newline="") as lines:
            for piece in curves.read(lines):
                for name, (steps, values) in piece.columns.items():
                    value = float(values[-1])
                    last[name] = {"step": int(steps[-1]), "value": value if math.isfinite(value) else None}
        return last
    except Invalid as error:
        contents.findings.say(layout.METRICS, error.message)
    except UnicodeDecodeError:
        contents.findings.say(layout.METRICS, "is not UTF-8")
    except OSError:
        contents.findings.say(layout.METRICS, "was there, and cannot be read any more")
    return None


def _check_belongs(contents: Contents, path: str, document: Document, run: Document | None) -> None:
    """Does the document name the run that run.json names?"""
    for key in ("runId", "configHash"):
        if run is not None and document.get(key) != run.get(key):
            told = shown(document.get(key))
            contents.findings.say(path, f"has {told} for {key}, and {layout.RUN} has {shown(run.get(key))}")


def _check_version(document: Document) -> None:
    version = document.get("formatVersion")
    if type(version) is not int or version < 1:
        raise ValueError(f"has {shown(version)} for formatVersion, which is a number from 1 on")
    if version > layout.FORMAT_VERSION:
        raise ValueError(f"has format {version}, {UPGRADE.format(ours=layout.FORMAT_VERSION)}")


def _text(value: Any, form: re.Pattern[str] | None) -> str | None:
    """The value, where it is text of that form."""
    return value if isinstance(value, str) and (form is None or form.fullmatch(value)) else None


def _part(document: Any, *path: str) -> Any:
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    return document
