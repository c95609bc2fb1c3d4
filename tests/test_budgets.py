"""Sizes that keep a reader's bearings; raised only by a decision."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import akka_optimize

PACKAGE = Path(akka_optimize.__file__).parent
TESTS = Path(__file__).parent
FILES = sorted(p for p in PACKAGE.rglob("*.py") if "_pb2" not in p.name)
FILE_LINES, COMMAND_LINES, FUNCTION_LINES = 400, 120, 50


def functions(path: Path) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]


def broad_excepts(path: Path) -> list[int]:
    broad = {"Exception", "BaseException", None}
    return [
        node.lineno
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ExceptHandler)
        and (ast.unparse(node.type) if node.type else None) in broad
        and ast.unparse(node.body[-1]) != "raise"  # one that cleans up and hands on swallows nothing
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_file_stays_readable(path):
    """No hand-written file is over 400 lines, no command file over 120."""
    parts = path.relative_to(PACKAGE).parts
    command = parts[0] == "cli" and len(parts) > 2 and path.name != "__init__.py"
    assert len(path.read_text().splitlines()) <= (COMMAND_LINES if command else FILE_LINES)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_a_function_fits_a_screen(path):
    """No function is over 50 lines, decorators and docstring left out."""
    long = []
    for function in functions(path):
        body = function.body[1:] if ast.get_docstring(function) and len(function.body) > 1 else function.body
        lines = (function.end_lineno or 0) - body[0].lineno + 1
        if lines > FUNCTION_LINES:
            long.append(f"{function.name}: {lines}")
    assert long == []


def test_only_the_outermost_frame_catches_everything():
    """A broad except stands in the command line's frame alone."""
    found = {str(path.relative_to(PACKAGE)) for path in FILES if broad_excepts(path)}
    assert found == {"cli/main.py"}


@pytest.mark.parametrize("path", sorted(TESTS.rglob("test_*.py")), ids=lambda p: str(p.relative_to(TESTS)))
def test_every_test_says_what_it_promises(path):
    """A test's docstring is a sentence of the specification."""
    silent = [f.name for f in functions(path) if f.name.startswith("test_") and not ast.get_docstring(f)]
    assert silent == []
