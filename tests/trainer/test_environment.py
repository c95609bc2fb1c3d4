"""What a run's numbers may depend on beside its plan."""

from __future__ import annotations

import json
import sys

import numpy as np

from akka_optimize.trainer import environment


def test_versions_and_machine_are_told():
    """The interpreter's and the packages' versions are the ones at work; a missing package is null, not an error."""
    known = environment.known()
    assert known["python"] == sys.version.split()[0]
    assert known["packages"]["numpy"] == np.__version__
    assert environment._version("no-such-package-anywhere") is None
    json.dumps(known, allow_nan=False)


def test_nothing_differs_between_two_moments():
    """Two runs on one machine have equal environments, so that a comparison shows what was changed and nothing else."""
    assert environment.known() == environment.known()


def test_the_engines_word_holds():
    """An engine adds to the document, inside its parts too, and knows better where both speak."""
    ours = {"python": "3", "packages": {"numpy": "2", "torch": "1"}, "device": "?"}
    theirs = {"packages": {"torch": "2"}, "device": "cpu", "threads": 1}
    assert environment.joined(ours, theirs) == {
        "python": "3",
        "packages": {"numpy": "2", "torch": "2"},
        "device": "cpu",
        "threads": 1,
    }
    assert ours["packages"]["torch"] == "1"
