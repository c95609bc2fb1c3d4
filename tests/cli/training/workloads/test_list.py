"""`training workloads list`."""

from __future__ import annotations

from unittest.mock import call

from support.commands_fake import WORKLOAD, carry_out

from akka_optimize.records import Page


def test_all_workloads_are_one_page():
    """One request, one page emitted."""
    done = carry_out("training workloads list")
    assert (done.code, done.emitted, done.calls) == (0, [Page((WORKLOAD,), 0, 1)], [call.workloads()])
