"""`datasets name`."""

from __future__ import annotations

from unittest.mock import call

from support.commands_fake import DATASET, carry_out


def test_the_name_comes_first():
    """NAME, then DATASET; the dataset with its names is the record emitted."""
    done = carry_out("datasets name triage 4b1c2f9b2ae4")
    assert (done.code, done.emitted) == (0, [DATASET])
    assert done.calls == [call.name_dataset("triage", "4b1c2f9b2ae4")]
