"""A folder is held against itself: whatever was changed is named, and nothing else."""

from __future__ import annotations

import json
import os
import shutil
import socket
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import recorded

from akka_optimize import errors
from akka_optimize.record import files, findings, jsonfile
from akka_optimize.record.verify import verify

EVERY = [
    *("checksums.txt", "config.json", "data.jsonl", "metrics.csv", "run.json"),
    *(f"snapshots/{step}/{name}" for step in (10, 20) for name in ("manifest.json", "training-state.pt")),
    *("snapshots/10/weights.safetensors", "snapshots/20/weights.safetensors", "summary.json", "worker.log"),
]
LISTED = [name for name in EVERY if name != "checksums.txt"]


class Touch:
    """Makes a folder when it is loaded."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        """For the pickle."""
        return os.mkdir, (self.path,)


@pytest.fixture
def folder(tmp_path):
    """A sound folder."""
    return recorded.write(tmp_path)


@pytest.fixture(scope="module")
def lasting(tmp_path_factory):
    """One sound folder for many small changes that are each taken back."""
    return recorded.write(tmp_path_factory.mktemp("runs"))


def named(folder):
    """The files that do not match, each as often as it is named."""
    return [each.file for each in verify(folder).mismatches]


def problems(folder):
    """Everything that does not match, as text."""
    return [f"{each.file}: {each.problem}" for each in verify(folder).mismatches]


def test_a_sound_folder_has_nothing_to_name(folder):
    """All files are read, and the run and its configuration are told from the folder."""
    found = verify(folder)
    assert found.mismatches == ()
    assert (found.run_id, found.config_hash) == tuple(folder.name.split("-"))
    assert found.folder == str(folder)
    assert (found.files, found.bytes) == (len(EVERY), sum((folder / name).stat().st_size for name in EVERY))


@pytest.mark.parametrize("name", EVERY)
def test_one_flipped_bit_names_the_file(lasting, name):
    """Whichever byte of whichever file is another one, that file is named, and no other."""
    path = lasting / name
    content = path.read_bytes()

    @settings(max_examples=40, deadline=None, database=None)
    @given(st.integers(0, len(content) - 1), st.integers(0, 7))
    def flipped(at, bit):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1 :])
        assert set(named(lasting)) == {name}

    try:
        flipped()
    finally:
        path.write_bytes(content)


def test_every_byte_of_the_list_is_covered(lasting):
    """The list accounts for itself, to the last line break."""
    path = lasting / "checksums.txt"
    content = path.read_bytes()
    try:
        for at in range(len(content)):
            path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
            assert set(named(lasting)) == {"checksums.txt"}, at
    finally:
        path.write_bytes(content)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("share", [0, 0.5, 1])
def test_a_truncated_file_is_named(folder, name, share):
    """Nothing left, a half, or all but the last byte."""
    path = folder / name
    os.truncate(path, int(share * (path.stat().st_size - 1)))
    found = named(folder)
    assert set(found) == {name}
    assert len(found) == 1 or name == "checksums.txt"  # of which several things may be wrong


@pytest.mark.parametrize("name", EVERY)
def test_a_missing_file_is_named(folder, name):
    """Once, whoever asks for it."""
    (folder / name).unlink()
    assert named(folder) == [name]


@pytest.mark.parametrize("name", ["notes.txt", "snapshots/10/extra", ".hidden", "snapshots/30/weights.safetensors"])
def test_a_file_that_was_added_is_named(folder, name):
    """The list holds in both directions."""
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text("more")
    assert name in named(folder)


def test_what_a_writer_left_is_told_apart(folder):
    """A file that was never finished is called that."""
    (folder / ".tmp-1-summary.json").write_text("{")
    assert problems(folder) == [".tmp-1-summary.json: was left by a writer that did not finish"]


def test_the_sizes_and_all_who_differ_are_told(folder):
    """One sentence names what the file is and what each other file says."""
    os.truncate(folder / "snapshots/20/weights.safetensors", 3)
    (told,) = problems(folder)
    assert "has 3 bytes, and 16 in snapshots/20/manifest.json" in told
    assert "in checksums.txt and snapshots/20/manifest.json" in told


# where the list was made to fit


def relisted(folder):
    """What is named once checksums.txt was made to fit what was changed."""
    recorded.relist(folder)
    return problems(folder)


def test_a_configuration_of_another_hash_is_named(folder):
    """By run.json, and by the folder's own name where run.json was made to fit as well."""
    text = json.dumps({"seed": 8})
    (folder / "config.json").write_text(text)
    (told,) = [each for each in relisted(folder) if each.startswith("config.json")]
    assert "in the folder's name" in told
    assert "run.json" in told
    digest = recorded.sha256(text.encode())
    recorded.edit(folder / "run.json", lambda run: run.update(configSha256=digest, configHash=digest[:12]))
    told = [each for each in relisted(folder) if each.startswith("config.json")]
    assert len(told) == 1
    assert "in the folder's name" in told[0]


def test_a_configuration_that_is_written_another_way_is_named(folder):
    """The same settings in other words would have another hash; the text itself is what counts."""
    plan = json.loads((folder / "config.json").read_text())
    text = json.dumps(plan, indent=1).encode()
    (folder / "config.json").write_bytes(text)
    digest = recorded.sha256(text)
    recorded.edit(folder / "run.json", lambda run: run.update(configSha256=digest, configHash=digest[:12]))
    assert "config.json: is not the text that is hashed" in "\n".join(relisted(folder))


def test_other_rows_are_named(folder):
    """The rows are those that run.json and the plan name."""
    (folder / "data.jsonl").write_bytes(recorded.ROWS * 2)
    (told,) = relisted(folder)
    assert told.startswith("data.jsonl: ")
    assert "config.json and run.json" in told or "run.json and config.json" in told


@pytest.mark.parametrize("name", ["weights.safetensors", "training-state.pt"])
def test_another_snapshot_than_its_manifest_is_named(folder, name):
    """The manifest names the sha256 of both files."""
    (folder / "snapshots/10" / name).write_bytes(recorded.archive("else"))
    (told,) = relisted(folder)
    assert told.startswith(f"snapshots/10/{name}: ")


def test_a_swept_artifact_is_no_mismatch(folder):
    """What the manifest names, and neither the disk nor the list has, was given up; a manifest itself stays."""
    (folder / "snapshots/10/training-state.pt").unlink()
    (folder / "snapshots/10/weights.safetensors").unlink()
    assert relisted(folder) == []
    (folder / "snapshots/10/manifest.json").unlink()
    assert relisted(folder) == []
    (folder / "snapshots/20/manifest.json").unlink()
    assert [each for each in relisted(folder) if "snapshots/20/manifest.json: is missing" in each]


@pytest.mark.parametrize(
    ("file", "change", "told"),
    [
        ("run.json", {"runId": "0" * 16}, "run.json: has the runId 0000000000000000"),
        ("run.json", {"runId": "../../etc"}, 'run.json: has "../../etc" for runId'),
        ("run.json", {"configSha256": "0"}, "run.json: has no configSha256"),
        ("run.json", {"steps": 21}, "run.json: has 21 for steps"),
        ("run.json", {"seeds": {"config": 8}}, "run.json: has 8 for seeds.config"),
        ("run.json", {"dataset": {"hash": 5}}, "run.json: has 5 for dataset.hash"),
        ("run.json", {"formatVersion": 2}, "run.json: has format 2"),
        ("run.json", {"formatVersion": "1"}, 'run.json: has "1" for formatVersion'),
        ("summary.json", {"formatVersion": 2}, "summary.json: has format 2"),
        ("summary.json", {"runId": "0" * 16}, 'summary.json: has "0000000000000000" for runId'),
        ("summary.json", {"final": {}}, "summary.json: has other final values than metrics.csv: clipped, gradNorm"),
        ("summary.json", {"final": 3}, "summary.json: has other final values"),
        ("summary.json", {"best": {"step": 30}}, "summary.json: names update 30 as the best snapshot"),
        ("summary.json", {"best": {"step": 20}}, "summary.json: names another snapshot as the best one"),
        ("snapshots/20/manifest.json", {"step": 10}, "snapshots/20/manifest.json: has 10 for step"),
        ("snapshots/20/manifest.json", {"files": {}}, "snapshots/20/manifest.json: does not say sha256 and sizeBytes"),
        ("snapshots/20/manifest.json", {"configHash": "0"}, 'snapshots/20/manifest.json: has "0" for configHash'),
        ("snapshots/20/manifest.json", {"formatVersion": 9}, "snapshots/20/manifest.json: has format 9"),
    ],
)
def test_documents_that_do_not_fit_each_other_are_named(folder, file, change, told):
    """Identity, plan, manifests, curves and summary tell one story."""
    recorded.edit(folder / file, lambda document: document.update(change))
    assert [each for each in relisted(folder) if each.startswith(told)]


def test_a_newer_format_asks_for_an_upgrade(folder):
    """What is to be done is said."""
    recorded.edit(folder / "snapshots/20/manifest.json", lambda document: document.update(formatVersion=2))
    assert any("upgrade akka-optimize" in each for each in relisted(folder))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("step,loss\n", "line 1 is not the heading"),
        (recorded.CURVES.replace("2.5", "2,5"), "line 2 does not have the 9 cells"),
        (recorded.CURVES.replace("1.5", "1.50"), "line 3 has no number in the column loss"),
        (recorded.CURVES.replace("20,1", "10,1"), "line 3 does not begin with a step above"),
        (recorded.CURVES[:-1], "line 3 does not have"),
    ],
)
def test_curves_that_cannot_be_read_are_named(folder, text, told):
    """By the line."""
    (folder / "metrics.csv").write_text(text)
    assert relisted(folder) == [each for each in relisted(folder) if each.startswith("metrics.csv: ") and told in each]


def test_curves_that_are_no_text_are_named(folder):
    """Bytes that are no UTF-8 are no line."""
    (folder / "metrics.csv").write_bytes(recorded.CURVES.encode() + b"\xff\n")
    assert relisted(folder) == ["metrics.csv: is not UTF-8"]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is no JSON from line 1, column 1 on"),
        (b'{"a": 1', "is no JSON"),
        (b"\xff{}", "is not UTF-8, from byte 0 on"),
        (b'{"a": NaN}', "holds NaN, which is no JSON"),
        (b'{"a": -Infinity}', "holds -Infinity"),
        (b"[1]", "is not a JSON object"),
        (b'{"a": 1, "a": 2}', 'has the key "a" twice'),
        (b'{"a": ' + b"[" * 100 + b"]" * 100 + b"}", "is nested more than 64 deep"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "is nested more than 64 deep"),
        (b'{"a": ' + b"9" * 5000 + b"}", "Exceeds the limit"),
    ],
    ids=["empty", "cut", "bytes", "nan", "infinity", "list", "twice", "deep", "very-deep", "digits"],
)
@pytest.mark.parametrize("file", ["run.json", "config.json", "summary.json", "snapshots/20/manifest.json"])
def test_a_document_that_cannot_be_read_is_named(folder, file, content, told):
    """Whatever is in it, nothing is raised, and the rest of the folder is checked."""
    (folder / file).write_bytes(content)
    assert [each for each in relisted(folder) if each.startswith(f"{file}: ") and told in each]


def test_a_huge_document_is_not_read_into_memory(folder, monkeypatch):
    """Past a bound it is only hashed."""
    monkeypatch.setattr(jsonfile, "MOST_BYTES", 1000)
    (folder / "run.json").write_text(json.dumps({"a": "x" * 2000}))
    assert "run.json: is larger than" in "\n".join(relisted(folder))
    (folder / "checksums.txt").write_text("0" * 2000)
    assert any(each.startswith("checksums.txt: is larger than") for each in problems(folder))


def test_a_diff_may_have_stayed_behind(folder):
    """It never leaves the home in which the run was asked for; where it is, it is the one that run.json names."""
    (folder / "origin.diff").write_bytes(b"--- a\n+++ b\n")
    digest = recorded.sha256(b"--- a\n+++ b\n")
    recorded.edit(folder / "run.json", lambda run: run.update(origin={"commit": "0" * 40, "diffSha256": digest}))
    assert relisted(folder) == []
    (folder / "origin.diff").write_bytes(b"+++ b\n--- a\n")
    assert named(folder) == ["origin.diff"]
    assert [each.split(":")[0] for each in relisted(folder)] == ["origin.diff"]
    (folder / "origin.diff").unlink()
    assert problems(folder) == []


@pytest.mark.parametrize("step", [10, 20])
def test_a_state_that_would_call_something_is_named(folder, step):
    """Whether or not the list was made to fit: what it would call is told, and it is not called."""
    path = folder / f"snapshots/{step}/training-state.pt"
    path.write_bytes(recorded.archive({"state": Touch(folder / "called")}))
    told = f"snapshots/{step}/training-state.pt: would call posix.mkdir when it is loaded"
    for found in (problems(folder), relisted(folder)):
        assert any(each.startswith(told) for each in found)
    assert not (folder / "called").exists()


# what is no plain file


@pytest.mark.parametrize("name", LISTED)
def test_a_link_is_named_and_never_followed(folder, tmp_path, name):
    """Not even where what it leads to is what the list has."""
    (folder / name).rename(tmp_path / "outside")
    (folder / name).symlink_to(tmp_path / "outside")
    assert problems(folder) == [f"{name}: is a link, which is not followed"]


def test_a_link_in_place_of_a_folder_is_not_entered(folder, tmp_path):
    """Everything below it is out of the folder."""
    (folder / "snapshots").rename(tmp_path / "outside")
    (folder / "snapshots").symlink_to(tmp_path / "outside")
    found = named(folder)
    assert found[0] == "snapshots"
    assert set(found) == {"snapshots", *(name for name in LISTED if name.startswith("snapshots/"))}


def test_a_link_that_leads_nowhere_or_in_circles_is_named(folder):
    """Neither ends the check."""
    (folder / "snapshots" / "circle").symlink_to("..")
    (folder / "gone").symlink_to("nowhere")
    assert named(folder) == ["gone", "snapshots/circle"]


def test_pipes_and_sockets_are_named(folder, monkeypatch):
    """Nothing waits for a writer."""
    os.mkfifo(folder / "pipe")
    monkeypatch.chdir(folder)  # a socket's path has to be short
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        assert {each: "neither a plain file" in each for each in problems(folder)} == dict.fromkeys(
            [f"{name}: is neither a plain file nor a folder" for name in ("pipe", "socket")], True
        )


def test_folders_within_folders_end(folder):
    """A path that is deeper than any record is named, not walked."""
    (folder / "/".join("d" * 40)).mkdir(parents=True)
    (told,) = problems(folder)
    assert "is a folder within 32 others" in told


def test_a_name_that_is_no_text_is_written_out(folder):
    """Every name can be printed and sent."""
    (folder / os.fsdecode(b"odd\xff")).write_text("")
    assert named(folder) == ["odd\\xff"]


def test_a_file_that_cannot_be_read_is_named(folder, monkeypatch):
    """The system's reason is told, and the other files are checked."""
    real = files.opened

    def opened(path):
        if path.name == "worker.log":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(files, "opened", opened)
    assert problems(folder) == ["worker.log: cannot be read: permission denied"]


# folders as a whole


def test_a_copy_elsewhere_is_as_sound(folder, tmp_path):
    """Nothing in a folder knows where it lies; a name of another form says nothing, another run's name is refused."""
    for name in (folder.name, "renamed by hand"):
        assert named(shutil.copytree(folder, tmp_path / "elsewhere" / name)) == []
    other = shutil.copytree(folder, tmp_path / f"{'0' * 16}-{folder.name.split('-')[1]}")
    assert problems(other)[0].startswith("run.json: has the runId")


def test_the_folder_itself_may_be_a_link(folder, tmp_path):
    """Whoever names it means what it leads to."""
    (tmp_path / "alias").symlink_to(folder)
    assert named(tmp_path / "alias") == []


def test_without_its_list_a_record_is_open(folder):
    """One sentence says that the run has not ended or the list was removed; the rest is still checked."""
    for name in ("checksums.txt", "metrics.csv", "summary.json"):
        (folder / name).unlink()
    assert problems(folder) == ["checksums.txt: is missing: the run has not ended, or the file was removed"]
    (folder / "data.jsonl").write_bytes(b"{}\n")
    assert named(folder) == ["checksums.txt", "data.jsonl"]


@pytest.mark.parametrize(
    ("name", "kind"), [("nothing", errors.NotFound), ("file", errors.Invalid), ("", errors.Invalid)]
)
def test_what_is_no_runs_folder_is_refused(tmp_path, name, kind):
    """Nothing there, a file, a folder of something else."""
    (tmp_path / "file").write_text("")
    with pytest.raises(kind, match=r"no such folder|belongs|is not the folder of a run"):
        verify(tmp_path / name)
    with pytest.raises(errors.NotFound):
        verify(Path("a\0b"))


def test_only_so_much_is_said(folder, monkeypatch):
    """Past a bound it is counted."""
    monkeypatch.setattr(findings, "MOST", 3)
    for number in range(5):
        (folder / f"extra-{number}").touch()
    assert [each.problem for each in verify(folder).mismatches][3:] == ["2 more problems are not shown"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("junk", "its line 1 is not a sha256"),
        (f"{'0' * 64}  ../run.json", "its line 1 is not a sha256"),
        (f"{'0' * 64}  /etc/passwd", "its line 1 is not a sha256"),
        (f"{'0' * 64}  checksums.txt", "its line 1 is not a sha256"),
    ],
)
def test_a_line_of_another_form_is_named(folder, line, told):
    """Such a list is held against no file, and leads nowhere out of the folder."""
    path = folder / "checksums.txt"
    path.write_text(f"{line}\n{path.read_text()}")
    found = problems(folder)
    assert any(told in each for each in found)
    assert {each.split(":")[0] for each in found} == {"checksums.txt"}
