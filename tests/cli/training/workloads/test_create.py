"""`training workloads create`."""

from __future__ import annotations

from unittest.mock import call

from support.commands_fake import WORKLOAD, carry_out


def test_a_name_is_enough():
    """Dataset and grader are optional; the workload is the record emitted."""
    done = carry_out("training workloads create triage")
    assert (done.code, done.emitted) == (0, [WORKLOAD])
    assert done.calls == [call.create_workload("triage", dataset=None, grader=None)]


def test_dataset_and_grader_go_along():
    """Both are passed on as typed."""
    done = carry_out("training workloads create triage --dataset eval --grader model:m")
    assert done.calls == [call.create_workload("triage", dataset="eval", grader="model:m")]


def test_a_grader_needs_a_dataset():
    """--grader alone is wrong usage, found before any request."""
    done = carry_out("training workloads create triage --grader model:m")
    assert (done.code, done.out, done.calls) == (2, "", [])
    assert "add --dataset" in done.err
