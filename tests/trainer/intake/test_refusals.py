"""Folders that a trainer does not take into its catalog, and of which nothing stays."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import records

from akka_optimize import errors
from akka_optimize.records import UploadedFile, UploadedFolder
from akka_optimize.trainer import arrivals, intake
from akka_optimize.trainer.catalog import Catalog


def cut(path: Path) -> None:
    """Leave the last byte of a file away."""
    os.truncate(path, path.stat().st_size - 1)


def flip(path: Path) -> None:
    """Change one bit in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def newer(path: Path) -> None:
    """Let a document be of a later format."""
    folder = next(parent for parent in path.parents if (parent / "checksums.txt").exists())
    records.rewritten(folder, path.relative_to(folder).as_posix(), lambda document: document.update(formatVersion=2))


def evil(path: Path) -> None:
    """Put a pickle there that would run a command."""
    import pickle

    class Evil:
        def __reduce__(self) -> tuple[Any, ...]:
            return os.system, ("touch /tmp/evil",)

    path.write_bytes(pickle.dumps(Evil()))
    folder = path.parents[2]
    manifest = (path.parent / "manifest.json").relative_to(folder).as_posix()
    import hashlib

    told = {"sha256": hashlib.sha256(path.read_bytes()).hexdigest(), "sizeBytes": path.stat().st_size}
    records.rewritten(folder, manifest, lambda document: document["files"].update({"training-state.pt": told}))


SPOILED: dict[str, tuple[str, Callable[[Path], Any], str]] = {
    "a file is missing": ("metrics.csv", Path.unlink, "metrics.csv"),
    "a file is cut off": ("summary.json", cut, "summary.json"),
    "one bit is flipped": ("snapshots/10/weights.safetensors", flip, "weights.safetensors"),
    "the list is cut off": ("checksums.txt", cut, "checksums.txt"),
    "a file too many": ("run.json", lambda path: (path.parent / "more").touch(), "more"),
    "a newer snapshot": ("snapshots/10/manifest.json", newer, "upgrade akka-optimize"),
    "a newer run": ("run.json", newer, "upgrade akka-optimize"),
    "a pickle that runs code": ("snapshots/10/training-state.pt", evil, "system"),
    "another plan": (
        "config.json",
        lambda path: (
            path.write_bytes(path.read_bytes().replace(b'"seed": 0', b'"seed": 7')),
            records.listed(path.parent),
        ),
        "config.json",
    ),
}


@pytest.mark.parametrize(("name", "spoil", "said"), SPOILED.values(), ids=SPOILED.keys())
def test_what_does_not_match_is_refused_and_nothing_changed(
    lineage: records.Lineage, copy: Path, tmp_path: Path, name: str, spoil: Callable[[Path], Any], said: str
) -> None:
    """Whoever sends it, what does not hold together is named, and of the sound folders beside it none is taken."""
    home = records.fresh(tmp_path / "home")
    spoil(records.place(copy, lineage.parent) / name)
    before = records.state(home)
    with pytest.raises((errors.Invalid, errors.Refused), match=said):
        records.taken(home, copy)
    assert records.state(home) == before


def lies(name: str, change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], None]:
    """A change of a document that the folder's checksums agree with."""
    return lambda folder: records.rewritten(folder, name, change)


LIES: dict[str, tuple[Callable[[Path], None], str]] = {
    "a setting that the plan has otherwise": (
        lies("run.json", lambda run: run["config"]["model"].update(precision="BF16")),
        "config is not the one",
    ),
    "a configuration that is none": (lies("run.json", lambda run: run.update(config={})), "config is not the one"),
    "no configuration": (lies("run.json", lambda run: run.pop("config")), "an earlier version wrote it"),
    "a phase that no folder has": (lies("summary.json", lambda own: own.update(phase="TRAINING")), "phase"),
    "a phase that there is not": (lies("summary.json", lambda own: own.update(phase=["COMPLETED"])), "phase"),
    "a negative attempt": (lies("summary.json", lambda own: own.update(attempt=-1)), "attempt"),
    "events that are none": (lies("summary.json", lambda own: own.update(events=[1])), "events"),
    "an event without a time": (lies("summary.json", lambda own: own.update(events=[{"kind": "x"}])), "at is missing"),
    "a number as a name": (lies("run.json", lambda run: run.update(name=7)), "name"),
    "a name like an id": (lies("run.json", lambda run: run.update(name="0" * 16)), "looks like an ID"),
    "a name of two lines": (lies("run.json", lambda run: run.update(name="a\nb")), "name"),
    "a lone surrogate": (lies("run.json", lambda run: run.update(purpose="\ud800")), "surrogate"),
    "a workload that is no name": (lies("run.json", lambda run: run["workload"].update(name="../x")), "cannot name"),
    "a division that is not even": (lies("run.json", lambda run: run["division"].update(devices=3)), "division"),
    "no device": (lies("run.json", lambda run: run["division"].update(devices=0)), "devices"),
    "steps beyond 64 bits": (lies("summary.json", lambda own: own.update(observedStep=2**70)), "observedStep"),
    "a time that is a number": (lies("run.json", lambda run: run.update(submittedAt=0)), "submittedAt"),
    "execution as a text": (lies("run.json", lambda run: run.update(execution="fast")), "execution"),
}


@pytest.mark.parametrize(("lie", "said"), LIES.values(), ids=LIES.keys())
def test_a_record_that_lies_is_refused_and_nothing_changed(
    lineage: records.Lineage, copy: Path, tmp_path: Path, lie: Callable[[Path], None], said: str
) -> None:
    """Checksums that fit do not make a record: every field is read with care, and the first that is wrong is named."""
    home = records.fresh(tmp_path / "home")
    lie(records.place(copy, lineage.other))
    before = records.state(home)
    with pytest.raises((errors.Invalid, errors.Refused), match=said):
        records.taken(home, copy)
    assert records.state(home) == before


def test_a_parent_that_is_nowhere_is_named(lineage: records.Lineage, copy: Path, tmp_path: Path) -> None:
    """A child without its parent is not taken in."""
    home = records.fresh(tmp_path / "home")
    shutil.rmtree(records.place(copy, lineage.parent))
    before = records.state(home)
    with pytest.raises(errors.NotFound, match=lineage.parent.run_id) as caught:
        records.taken(home, copy)
    assert caught.value.field == "parent"
    assert records.state(home) == before


def test_a_snapshot_that_the_parent_has_not_is_refused(lineage: records.Lineage, copy: Path, tmp_path: Path) -> None:
    """A child whose source its parent never saved is not taken in, whatever its own record says."""
    home = records.fresh(tmp_path / "home")
    shutil.rmtree(records.place(copy, lineage.parent) / "snapshots" / "10")
    records.listed(records.place(copy, lineage.parent))
    with pytest.raises((errors.Refused, errors.Invalid), match=r"has not saved|best"):
        records.taken(home, copy)


def test_runs_that_descend_from_each_other_are_refused(lineage: records.Lineage, copy: Path, tmp_path: Path) -> None:
    """A circle has no root to begin with."""
    home = records.fresh(tmp_path / "home")
    own = {"runId": lineage.child.run_id, "snapshotId": "0" * 64, "step": 10, "restore": "weights"}
    records.rewritten(records.place(copy, lineage.parent), "run.json", lambda run: run.update(parent=own, changes={}))
    with pytest.raises(errors.Invalid, match="descend from each other"):
        records.taken(home, copy)


def test_other_content_under_an_id_is_a_conflict(lineage: records.Lineage, copy: Path, tmp_path: Path) -> None:
    """A run that is here with other files than the folder's is named with what differs, and nothing changes."""
    home = records.fresh(tmp_path / "home")
    records.taken(home, copy)
    records.rewritten(
        records.place(copy, lineage.child), "summary.json", lambda own: own["events"].append({"kind": "x"})
    )
    before = records.state(home)
    with pytest.raises(errors.Conflict, match=rf"{lineage.child.run_id} is here already.*: summary\.json$") as caught:
        records.taken(home, copy)
    assert caught.value.field == "runId"
    assert records.state(home) == before


def test_a_run_that_trains_here_cannot_be_compared(lineage: records.Lineage, folders: Path, tmp_path: Path) -> None:
    """A folder of a run that goes on here is not taken for the same."""
    home = records.fresh(tmp_path / "home")
    records.taken(home, folders)
    with Catalog.open(home) as catalog:
        catalog.set_phase(lineage.other.run_id, "TRAINING", only_from=("COMPLETED",))
        with pytest.raises(errors.Conflict, match="is TRAINING: its record is open"):
            intake.take(catalog, home, records.sent(home, folders))


def test_a_folder_of_no_run_stays_where_it_is(lineage: records.Lineage, folders: Path, tmp_path: Path) -> None:
    """What lies in a run's place and belongs to no run here, as after a lost catalog, is not replaced."""
    home = records.fresh(tmp_path / "home")
    place = home.path / lineage.other.folder
    place.mkdir()
    (place / "mine").touch()
    with pytest.raises(errors.Refused, match="the folder of no run that is known here"):
        records.taken(home, folders)
    assert os.listdir(place) == ["mine"]
    assert os.listdir(home.runs) == [place.name]


ID = "0123456789abcdef" * 2
NAMES = {
    "out of the home": ("../../etc", "run.json"),
    "an absolute folder": ("/tmp/x", "run.json"),
    "no folder": ("", "run.json"),
    "out of the folder": (f"{'a' * 16}-{'b' * 12}", "../run.json"),
    "an absolute file": (f"{'a' * 16}-{'b' * 12}", "/etc/passwd"),
    "a hidden file": (f"{'a' * 16}-{'b' * 12}", "snapshots/.tmp-10"),
    "a dot": (f"{'a' * 16}-{'b' * 12}", "./run.json"),
    "two slashes": (f"{'a' * 16}-{'b' * 12}", "snapshots//x"),
    "no file": (f"{'a' * 16}-{'b' * 12}", ""),
    "a NUL": (f"{'a' * 16}-{'b' * 12}", "run\0.json"),
}


@pytest.mark.parametrize(("folder", "path"), NAMES.values(), ids=NAMES.keys())
def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, folder: str, path: str) -> None:
    """Neither the name of a folder nor that of a file leads out of where it belongs."""
    home = records.fresh(tmp_path / "home")
    with Catalog.open(home) as catalog, pytest.raises(errors.Invalid) as caught:
        intake.take(catalog, home, (UploadedFolder(folder, (UploadedFile(path, ID, "0" * 64),)),))
    assert caught.value.field in ("folder", "path")


def test_uploads_that_are_not_held_are_named(folders: Path, tmp_path: Path) -> None:
    """An upload that was never sent, or was used up, says which file it was to be."""
    home = records.fresh(tmp_path / "home")
    with Catalog.open(home) as catalog:
        sent = records.sent(home, folders)
        first = sent[0].files[0]
        arrivals.drop(home, first.upload_id)
        with pytest.raises(errors.NotFound, match=first.path):
            intake.take(catalog, home, sent)
    assert os.listdir(arrivals.folder(home)) == []


def test_an_id_that_is_no_id_is_refused(tmp_path: Path) -> None:
    """An upload's id is never part of a path as it came."""
    home = records.fresh(tmp_path / "home")
    folder = UploadedFolder(f"{'a' * 16}-{'b' * 12}", (UploadedFile("run.json", "../x", "0" * 64),))
    with Catalog.open(home) as catalog, pytest.raises(errors.Invalid, match="an upload id"):
        intake.take(catalog, home, (folder,))


@pytest.mark.parametrize(
    "folders",
    [
        (),
        (UploadedFolder(f"{'a' * 16}-{'b' * 12}", ()), UploadedFolder(f"{'a' * 16}-{'c' * 12}", ())),
        (UploadedFolder(f"{'a' * 16}-{'b' * 12}", (UploadedFile("x", "", ""), UploadedFile("x", "", ""))),),
    ],
    ids=["none", "two of one run", "a file twice"],
)
def test_requests_that_make_no_sense_are_refused(tmp_path: Path, folders: tuple[UploadedFolder, ...]) -> None:
    """Before anything is looked at."""
    home = records.fresh(tmp_path / "home")
    with Catalog.open(home) as catalog, pytest.raises(errors.Invalid):
        intake.take(catalog, home, folders)
