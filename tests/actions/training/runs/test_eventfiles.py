"""Event files hold what was written, once, whatever happened between."""

from __future__ import annotations

import json
import math
import resource
import signal
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.boards import RUN_ID, scalars

from akka_optimize import errors
from akka_optimize.actions.training.runs import eventfiles
from akka_optimize.actions.training.runs.eventfiles import EventFolder
from akka_optimize.core.mirror import Curve

NEVER = Curve(np.empty(0, np.int64), np.empty(0))
TAG = eventfiles.TAGS["loss"]


def curve(values, steps=None):
    """A curve with steps from 1 on, unless stated."""
    ordinal = np.arange(1, len(values) + 1) if steps is None else np.array(steps, np.int64)
    return Curve(ordinal, np.array(values, float))


def write(folder, curves, done_at=NEVER):
    """Bring a folder up to these curves, as a process of its own does; how many steps were written."""
    with EventFolder(folder, RUN_ID) as into:
        return into.write(curves, done_at)


def losses(folder):
    """Step and value of the training loss in a folder."""
    return [(step, value) for step, value, _ in scalars(folder).get(TAG, [])]


def single(values):
    """The nearest float32 of each."""
    with np.errstate(over="ignore"):
        return np.array(values, float).astype(np.float32).astype(float).tolist()


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_a_value_is_its_nearest_float32(tmp_path_factory, values):
    """What TensorBoard reads back is the recorded number rounded to 32 bits: an infinity where that is too small."""
    folder = tmp_path_factory.mktemp("events")
    write(folder, {"loss": curve(values)})
    assert losses(folder) == list(zip(range(1, len(values) + 1), single(values), strict=True))


def test_every_column_has_its_tag_and_its_own_steps(tmp_path):
    """A step that a column has no value for has none in the files either; other columns are left out."""
    columns = {name: curve([1.5, 2.5, 3.5], [2, 4, 6 + i]) for i, name in enumerate(eventfiles.TAGS)}
    assert write(tmp_path, columns | {"clipped": curve([1.0])}) == 8
    found = scalars(tmp_path)
    assert {tag: [step for step, _, _ in points] for tag, points in found.items()} == {
        "loss/training": [2, 4, 6],
        "loss/validation": [2, 4, 7],
        "optimizer/gradNorm": [2, 4, 8],
        "optimizer/learningRate": [2, 4, 9],
        "update/tokens": [2, 4, 10],
        "update/seconds": [2, 4, 11],
    }


def test_what_is_no_finite_number_is_written_as_it_is(tmp_path):
    """NaN and both infinities are read back."""
    write(tmp_path, {"loss": curve([math.nan, math.inf, -math.inf])})
    values = [value for _, value in losses(tmp_path)]
    assert math.isnan(values[0])
    assert values[1:] == [math.inf, -math.inf]


def test_a_known_time_is_written_with_its_step(tmp_path):
    """To the last digit; a step whose time is not known has 0."""
    write(tmp_path, {"loss": curve([3.0, 2.0, 1.0])}, curve([1764547200.125, 1764547201.5], [1, 3]))
    assert [(step, wall) for step, _, wall in scalars(tmp_path)[TAG]] == [
        (1, 1764547200.125),
        (2, 0.0),
        (3, 1764547201.5),
    ]


def test_only_what_is_new_is_appended(tmp_path):
    """By one process or by several: no step twice, and nothing at all where nothing is new."""
    assert write(tmp_path, {"loss": curve([3.0, 2.0])}) == 2
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert write(tmp_path, {"loss": curve([3.0, 2.0])}) == 0
    assert {path.name: path.stat().st_size for path in tmp_path.iterdir()} == sizes
    with EventFolder(tmp_path, RUN_ID) as folder:
        assert folder.write({"loss": curve([3.0, 2.0, 1.0])}, NEVER) == 1
        assert folder.write({"loss": curve([3.0, 2.0, 1.0, 0.5]), "validationLoss": curve([2.5], [2])}, NEVER) == 2
        assert folder.steps == 4
    assert losses(tmp_path) == [(1, 3.0), (2, 2.0), (3, 1.0), (4, 0.5)]
    assert [step for step, _, _ in scalars(tmp_path)["loss/validation"]] == [2]
    assert len(list(tmp_path.glob("*tfevents*"))) == 2


@pytest.mark.parametrize("together", [True, False], ids=["one-process", "two-processes"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param([3.0, 2.0, 1.0, 0.5], [3.0, 2.0, 1.5, 0.75], id="trained-again"),
        pytest.param([3.0, 2.0, 1.0, 0.5], [3.0, 2.0], id="cut"),
        pytest.param([3.0, 2.0, 1.0], [3.0, 2.5, 1.0, 0.5], id="one-in-the-middle"),
        pytest.param([3.0, math.nan], [3.0, math.nan, 1.0], id="not-a-number-stays"),
        pytest.param([0.0, 1.0], [-0.0, 1.0], id="the-other-zero"),
        pytest.param([3.0], [], id="nothing-left"),
    ],
)
def test_steps_that_were_replaced_are_forgotten(tmp_path, before, after, together):
    """What TensorBoard shows in the end is the curve as it is now, each step once."""
    if together:
        with EventFolder(tmp_path, RUN_ID) as folder:
            folder.write({"loss": curve(before)}, NEVER)
            folder.write({"loss": curve(after)}, NEVER)
    else:
        write(tmp_path, {"loss": curve(before)})
        write(tmp_path, {"loss": curve(after)})
    assert repr(losses(tmp_path)) == repr(list(zip(range(1, len(after) + 1), after, strict=True)))


def test_one_column_that_parts_takes_the_others_along(tmp_path):
    """TensorBoard forgets every tag from a step on, so every tag is written again from there."""
    with EventFolder(tmp_path, RUN_ID) as folder:
        folder.write({"loss": curve([3.0, 2.0, 1.0]), "tokens": curve([8.0, 8.0, 8.0])}, NEVER)
        assert folder.write({"loss": curve([3.0, 2.0, 1.5]), "tokens": curve([8.0, 8.0, 8.0])}, NEVER) == 1
    found = scalars(tmp_path)
    assert [value for _, value, _ in found["update/tokens"]] == [8.0] * 3
    assert losses(tmp_path) == [(1, 3.0), (2, 2.0), (3, 1.5)]


KILLED = """
import os, sys
import numpy as np
from pathlib import Path
from akka_optimize.actions.training.runs import eventfiles
from akka_optimize.actions.training.runs.eventfiles import EventFolder
from akka_optimize.core.mirror import Curve
never = Curve(np.empty(0, np.int64), np.empty(0))
with EventFolder(Path(sys.argv[1]), sys.argv[2]) as folder:
    folder.write({"loss": Curve(np.arange(1, 4), np.array([3.0, 2.0, 1.0]))}, never)
    folder._keep_note = lambda columns: os._exit(9)
    folder.write({"loss": Curve(np.arange(1, 6), np.array([3.0, 2.0, 1.0, 0.5, 0.25]))}, never)
"""


def test_a_process_that_dies_leaves_no_step_twice(tmp_path):
    """Killed between the event file and the note, what it wrote is forgotten and written again by the next one."""
    import subprocess

    ended = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), RUN_ID], check=False)
    assert ended.returncode == 9
    assert write(tmp_path, {"loss": curve([3.0, 2.0, 1.0, 0.5, 0.25])}) == 5
    assert losses(tmp_path) == [(1, 3.0), (2, 2.0), (3, 1.0), (4, 0.5), (5, 0.25)]


def test_a_full_disk_is_told(tmp_path):
    """The file cannot grow: the command fails and names it, and the next one writes everything."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    steps = {"loss": curve(np.arange(5000.0))}
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 14, limit[1]))
        with pytest.raises((errors.Exhausted, errors.Refused), match=str(tmp_path)):
            write(tmp_path, steps)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, ignored)
    assert write(tmp_path, steps) == 5000
    assert len(losses(tmp_path)) == 5000


def test_another_runs_folder_is_refused(tmp_path):
    """Its id is named, and nothing is written."""
    write(tmp_path, {"loss": curve([3.0])})
    with pytest.raises(errors.Refused, match=f"holds the event files of run {RUN_ID}"), EventFolder(tmp_path, "0" * 16):
        pass
    assert losses(tmp_path) == [(1, 3.0)]


@pytest.mark.parametrize("note", [None, "{}", "not json", '{"runId": 1}'])
def test_event_files_of_something_else_are_refused(tmp_path, note):
    """Whatever wrote them, nothing is mixed into them."""
    (tmp_path / "events.out.tfevents.1764547200.host").write_bytes(b"")
    if note is not None:
        (tmp_path / eventfiles.NOTE).write_text(note)
    with pytest.raises(errors.Refused, match="did not write"), EventFolder(tmp_path, RUN_ID):
        pass
    assert not list(tmp_path.glob(f"*{RUN_ID}*"))


def test_other_files_are_left_alone(tmp_path):
    """A folder that holds anything else is as good as an empty one."""
    (tmp_path / "notes.txt").write_text("mine")
    write(tmp_path, {"loss": curve([3.0])})
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_two_at_once_are_refused(tmp_path):
    """The second is told that the folder is in use; the first goes on."""
    with EventFolder(tmp_path, RUN_ID) as first:
        with pytest.raises(errors.Refused, match="another process is writing"), EventFolder(tmp_path, RUN_ID):
            pass
        assert first.write({"loss": curve([3.0])}, NEVER) == 1
    assert losses(tmp_path) == [(1, 3.0)]


def test_a_place_that_cannot_be_a_folder_is_refused(tmp_path):
    """A file in the way is named."""
    (tmp_path / "file").write_text("")
    with pytest.raises(errors.Refused, match="file"), EventFolder(tmp_path / "file", RUN_ID):
        pass


def test_without_the_library_one_sentence_says_how_to_get_it(tmp_path, monkeypatch):
    """Nothing is made, not even the folder."""
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(errors.Unsupported) as caught, EventFolder(tmp_path / "new", RUN_ID):
        pass
    assert caught.value.hint == "pip install 'akka-optimize[tensorboard]'"
    assert not (tmp_path / "new").exists()


def test_the_note_says_what_the_files_hold(tmp_path):
    """Run, files with their sizes, and columns with how many steps."""
    write(tmp_path, {"loss": curve([3.0, 2.0])})
    note = json.loads((tmp_path / eventfiles.NOTE).read_text())
    (file,) = tmp_path.glob("*tfevents*")
    assert (note["runId"], note["files"]) == (RUN_ID, {file.name: file.stat().st_size})
    assert note["columns"]["loss"]["count"] == 2
