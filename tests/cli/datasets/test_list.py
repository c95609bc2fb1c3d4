"""`datasets list`."""

from __future__ import annotations

import json
from unittest.mock import call

from support.commands_fake import DATASET, HASH, carry_out

from akka_optimize.records import Page


def test_all_datasets_are_one_page():
    """One request, one page emitted."""
    done = carry_out("datasets list")
    assert (done.code, done.emitted, done.calls) == (0, [Page((DATASET,), 0, 1)], [call.datasets()])


def test_its_json_has_the_plural_as_key():
    """A list document is `{"datasets": […]}`, with the fields asked for."""
    assert json.loads(carry_out("datasets list --json hash,names").out)["datasets"] == [
        {"hash": HASH, "names": ["triage"]}
    ]
