"""Ctrl-C while a trainer inside the process is at work."""

from __future__ import annotations

import pytest
from support.processes import PATIENCE_SECONDS, start

INTERRUPTED_IN = """
import sys
from sqlalchemy.engine.default import DefaultDialect

def interrupt(*_):
    raise KeyboardInterrupt

setattr(DefaultDialect, sys.argv[2], interrupt)
from akka_optimize.cli.main import run
sys.exit(run(["datasets", "list", "--trainer-url", f"local:{sys.argv[1]}"]))
"""


@pytest.mark.parametrize("method", ["do_close", "do_rollback", "do_commit"])
def test_an_interrupt_in_the_catalog_leaves_no_traceback(tmp_path, method):
    """While a connection closes, and while a transaction ends: exit 130, and not a word from the database's library."""
    process = start(INTERRUPTED_IN, tmp_path / "home", method)
    _, complaints = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, complaints) == (130, "")
