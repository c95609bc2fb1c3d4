"""What a program writes is what it would write now."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_protocol_is_generated_from_its_proto(tmp_path):
    """The committed modules are those that protoc makes of the committed .proto."""
    proto = "protos/akka_optimize/protocol/trainer.proto"
    outputs = [f"--python_out={tmp_path}", f"--pyi_out={tmp_path}"]
    subprocess.run(
        [sys.executable, "-m", "grpc_tools.protoc", "--proto_path=protos", *outputs, proto], cwd=ROOT, check=True
    )
    made = tmp_path / "akka_optimize" / "protocol"
    for name in ("trainer_pb2.py", "trainer_pb2.pyi"):
        assert (made / name).read_text() == (ROOT / "src/akka_optimize/protocol" / name).read_text()


def test_the_command_reference_is_generated_from_the_tree():
    """The committed page is the one that the live command tree makes."""
    program = "import generate_reference; print(generate_reference.page(), end='')"
    made = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT / "scripts", check=True, capture_output=True, text=True
    )
    assert made.stdout == (ROOT / "docs/reference/cli.md").read_text()


def test_every_rpc_names_its_errors():
    """The comment above each rpc says which errors it may return."""
    lines = (ROOT / "protos/akka_optimize/protocol/trainer.proto").read_text().splitlines()
    for number, line in enumerate(lines):
        if line.strip().startswith("rpc "):
            above = []
            while lines[number - 1 - len(above)].strip().startswith("//"):
                above.append(lines[number - 1 - len(above)])
            assert any("Errors:" in comment for comment in above), line
