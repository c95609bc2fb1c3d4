"""One command, one answer, whichever way it takes to the trainer."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.homes import CommandLine, jsonl
from support.nginx import PLAIN, needed, nginx
from support.service import served

from akka_optimize.trainer.servicer import Servicer

FETCHED = "--cache-file /dev/null"  # what one way fetched must not answer for another
COMPARE = "training runs compare hotter first --across-plans -o json"


@pytest.fixture(scope="module")
def host(shell):
    """The shell's home behind the service, beside its embedded use."""
    servicer = Servicer.opened(Path(shell.folder), backend="server")
    with served(servicer) as host:
        yield host
    servicer.close()


@pytest.fixture(params=["grpc", "web", pytest.param("nginx", marks=needed)])
def way(request, host, tmp_path):
    """The address of the trainer, and the options that go with it."""
    if request.param != "nginx":
        yield f"{FETCHED} --trainer-url http://{host}" + " --use-grpc-web" * (request.param == "web")
        return
    with nginx(tmp_path, PLAIN.format(host=host)) as proxy:
        yield f"{FETCHED} --trainer-url http://{proxy} --use-grpc-web"


@pytest.mark.parametrize(
    "command",
    [
        COMPARE,
        "training runs list -o json",
        "training runs metrics second -o json",
        "training runs get nothing-by-this-name",
        "training runs compare hotter first",
    ],
)
def test_every_way_gives_the_same_bytes(shell: CommandLine, way, command):
    """Over `local:`, gRPC, and gRPC-Web, also through a proxy: byte-identical output, messages and exit code."""
    embedded, networked = shell(command), shell(f"{way} {command}")
    assert (networked.code, networked.out, networked.err) == (embedded.code, embedded.out, embedded.err)
    assert embedded.out or embedded.err


def test_the_ways_lead_to_the_service(shell: CommandLine, way):
    """What answers is a server, and not the home read in this process."""
    assert shell.json(f"{way} training info")["backend"] == "server"
    assert shell.json("training info")["backend"] == "embedded"


def test_a_dataset_of_several_parts_goes_every_way(shell: CommandLine, way):
    """An upload's parts pass a proxy that nobody told of large requests."""
    rows = jsonl(25_000)
    assert len(rows) > 2 << 20
    made = shell.json(f"{way} datasets create -f -", stdin=rows)
    assert made["exampleCount"] == 25_000
