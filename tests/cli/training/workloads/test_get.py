"""`training workloads get`."""

from __future__ import annotations

from unittest.mock import call

from support.commands_fake import WORKLOAD, carry_out


def test_one_workload_is_shown():
    """By whatever reference was typed."""
    done = carry_out("training workloads get triage")
    assert (done.code, done.emitted, done.calls) == (0, [WORKLOAD], [call.workload("triage")])
