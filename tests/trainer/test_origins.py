"""What a run's record keeps of the folder that it was asked for in."""

from __future__ import annotations

import hashlib
import json

import pytest
from support import life, parents
from support.branching import snapshot_of

from akka_optimize import errors
from akka_optimize.protocol import convert
from akka_optimize.records import Origin
from akka_optimize.trainer import branches, origins, start

COMMIT = "c0ffee" + "0" * 34
DIFF = b"diff --git a/x b/x\n\xff"
DIGEST = hashlib.sha256(DIFF).hexdigest()
ORIGIN = Origin(COMMIT, DIGEST, DIFF)


@pytest.fixture
def trainer(tmp_path):
    """A catalog and a home with 40 short rows."""
    home, catalog = life.open_home(tmp_path)
    with catalog:
        yield catalog, home


@pytest.mark.parametrize(
    ("origin", "error"),
    [
        pytest.param(Origin("HEAD", None), errors.Invalid, id="no-commit"),
        pytest.param(Origin(COMMIT.upper(), None), errors.Invalid, id="not-lower-case"),
        pytest.param(Origin(f"{COMMIT}\n", None), errors.Invalid, id="line-end"),
        pytest.param(Origin(COMMIT, "0" * 63), errors.Invalid, id="no-hash"),
        pytest.param(Origin(COMMIT, None, DIFF), errors.Invalid, id="diff-without-hash"),
        pytest.param(Origin(COMMIT, "0" * 64, DIFF), errors.Invalid, id="diff-of-another-hash"),
        pytest.param(
            Origin(COMMIT, hashlib.sha256(bytes(2**20 + 1)).hexdigest(), bytes(2**20 + 1)),
            errors.Exhausted,
            id="over-1-MiB",
        ),
    ],
)
def test_what_git_cannot_have_said_is_refused(trainer, origin, error):
    """Before anything is stored, and whichever way a run is asked for."""
    with pytest.raises(error) as caught:
        start.start(*trainer, life.descriptor(), origin=origin)
    assert caught.value.field == "origin"
    assert trainer[0].runs().total == 0
    assert list(trainer[1].runs.iterdir()) == []


@pytest.mark.parametrize("origin", [None, Origin("a" * 64, None), Origin(COMMIT, DIGEST), ORIGIN])
def test_what_git_says_is_kept(trainer, origin):
    """Commit and hash in run.json and in the catalog; the diff, where it is brought, byte for byte as a file."""
    run = start.start(*trainer, life.descriptor(), origin=origin)
    folder = trainer[1].path / run.folder
    assert json.loads((folder / "run.json").read_text())["origin"] == run.origin == origins.document(origin)
    kept = folder / "origin.diff"
    assert (kept.read_bytes() if kept.exists() else None) == (origin and origin.diff)


def test_the_diff_is_never_served(trainer):
    """What a client gets of a run has the hash, and not the diff."""
    message = convert.to_run(start.start(*trainer, life.descriptor(), origin=ORIGIN)).SerializeToString()
    assert DIGEST.encode() in message
    assert b"diff --git" not in message


def test_another_folder_is_the_same_submission(trainer):
    """From where it was asked for is no part of what was asked for; the first one is kept."""
    first = start.start(*trainer, life.descriptor({"submissionId": "t"}), origin=ORIGIN)
    assert start.start(*trainer, life.descriptor({"submissionId": "t"})) == first


def test_children_have_an_origin_too(trainer, monkeypatch):
    """Each of them, with the diff in its folder; and a bad one is refused before any exists."""
    monkeypatch.setenv("AKKA_ARITHMETIC_STEP_SECONDS", "0")
    snapshot = snapshot_of(trainer[0], parents.trained(*trainer), 10)
    with pytest.raises(errors.Invalid):
        branches.submit(*trainer, parents.asked(snapshot, *parents.rates(2), origin=Origin("HEAD", None)))
    made = branches.submit(*trainer, parents.asked(snapshot, *parents.rates(2), origin=ORIGIN)).points
    for child in (trainer[0].run(point.child_run_id) for point in made):
        assert child.origin == {"commit": COMMIT, "diffSha256": DIGEST}
        assert (trainer[1].path / child.folder / "origin.diff").read_bytes() == DIFF
