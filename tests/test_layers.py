"""Who may import whom. The table is the architecture."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import akka_optimize

PACKAGE = Path(akka_optimize.__file__).parent
OURS = "akka_optimize"

# layer -> (layers of ours it may import, third-party packages it may import)
MAY_IMPORT: dict[str, tuple[set[str], set[str]]] = {
    "errors": (set(), set()),
    "records": (set(), {"numpy"}),
    "core": ({"errors", "records"}, {"numpy"}),
    "record": ({"core", "errors", "records"}, {"numpy"}),
    "documents": ({"errors"}, {"yaml"}),
    "protocol": ({"errors", "records"}, {"google", "numpy"}),
    "client": ({"documents", "protocol", "records", "errors"}, {"google", "grpc", "httpcore", "httpx", "tenacity"}),
    "actions": ({"client", "core", "documents", "record", "records", "errors"}, {"tensorboardX"}),
    "output": ({"records", "errors"}, {"jq", "rich"}),
    "cli": ({"actions", "client", "output", "errors", "wiring"}, {"click", "durationpy"}),
    "trainer": (
        {"protocol", "record", "records", "errors", "core", "documents"},
        {
            *("click", "google", "grpc", "numpy", "safetensors", "sqlalchemy", "torch"),
            *("connectrpc", "grpc_health", "grpc_reflection", "h2", "hypercorn", "prometheus_client", "protobuf"),
        },
    ),
}


def layer_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> Iterator[tuple[str, int]]:
    """Every module that a file imports, at any depth, but for those under TYPE_CHECKING."""
    for node in runtime_nodes(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            if node.module == OURS:
                yield from ((f"{OURS}.{alias.name}", node.lineno) for alias in node.names)
            else:
                yield node.module or "", node.lineno


def runtime_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from runtime_nodes(child)


def outsiders(path: Path, layers: set[str], packages: set[str]) -> Iterator[str]:
    own = layer_of(path)
    for name, line in imported(path):
        top, _, rest = name.partition(".")
        layer = rest.split(".")[0]
        if top == OURS:
            allowed = layer in layers | {own} or layer == "__version__"
        else:
            allowed = top in packages or top in sys.stdlib_module_names
        if not allowed:
            yield f"{path.relative_to(PACKAGE)}:{line} imports {name}"


def hand_written(layer: str) -> list[Path]:
    return [p for p in PACKAGE.rglob("*.py") if layer_of(p) == layer and "_pb2" not in p.name]


@pytest.mark.parametrize("layer", MAY_IMPORT)
def test_a_layer_imports_only_what_it_may(layer):
    """The arrows of the architecture hold, for our own layers and for the packages of others."""
    files = hand_written(layer)
    assert files
    assert [line for path in files for line in outsiders(path, *MAY_IMPORT[layer])] == []


def test_every_module_belongs_to_a_layer():
    """No file stands outside the table but `wiring`, which may import everything."""
    layers = {layer_of(path) for path in PACKAGE.rglob("*.py")}
    assert layers - set(MAY_IMPORT) == {"__init__", "wiring"}


def test_the_check_sees_an_outsider(tmp_path, monkeypatch):
    """An import inside a function is found as well as one at the top."""
    monkeypatch.setitem(globals(), "PACKAGE", tmp_path)
    bad = tmp_path / "core" / "bad.py"
    bad.parent.mkdir()
    bad.write_text("def f():\n    import click\n    from akka_optimize.client import trainer\n")
    assert list(outsiders(bad, *MAY_IMPORT["core"])) == [
        "core/bad.py:2 imports click",
        "core/bad.py:3 imports akka_optimize.client",
    ]
