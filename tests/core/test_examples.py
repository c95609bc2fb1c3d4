"""The examples in the kernels' docstrings are run."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import akka_optimize.core

MODULES = sorted(path.stem for path in Path(akka_optimize.core.__path__[0]).glob("*.py") if ">>> " in path.read_text())


@pytest.mark.parametrize("module", MODULES)
def test_examples_print_what_they_say(module):
    """A reader may trust what follows the prompt."""
    failed, tried = doctest.testmod(import_module(f"akka_optimize.core.{module}"))
    assert tried
    assert not failed
