"""gRPC on a real socket: what goes with a call, what comes back, and where a call goes."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
import threading
from contextlib import closing, contextmanager

import pytest
from grpc import StatusCode
from support.peers import (
    EMPTY,
    GRPC,
    SETTINGS,
    TAKEN,
    close,
    drain,
    failing,
    http1,
    http2,
    peer,
    replying,
    says,
    tls,
    unused,
)
from support.service import served

from akka_optimize import __version__, errors
from akka_optimize.client.transport import grpc as module
from akka_optimize.client.transport.grpc import GrpcTransport
from akka_optimize.protocol import status
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer.service.options import Options

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "grpc_proxy")
SPELLINGS = [*PROXIES, *map(str.upper, PROXIES)]


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch):
    """The variables of whoever runs the tests do not count."""
    for variable in os.environ:
        if variable.lower().endswith("_proxy"):
            monkeypatch.delenv(variable)


@contextmanager
def client(host, **options):
    """A transport to an address of this machine."""
    with closing(GrpcTransport(host, tls=False, address=f"http://{host}", **options)) as transport:
        yield transport


def info(transport, timeout=5.0):
    """One call."""
    return transport.unary("GetInfo", pb.GetInfoRequest(), pb.Info, timeout=timeout)


def test_what_goes_with_a_call():
    """The token, a request id of 16 hex digits, the program and its version; another id with the next call."""
    seen: list[dict[str, str]] = []
    with (
        peer(http2(GRPC, EMPTY, (("grpc-status", "0"),), seen=seen)) as host,
        client(host, token="secret") as transport,
    ):
        info(transport)
        info(transport)
    assert [head["authorization"] for head in seen] == ["Bearer secret"] * 2
    assert seen[0]["user-agent"].startswith(f"akka-optimize/{__version__} ")
    ids = {head["x-request-id"] for head in seen}
    assert len(ids) == 2
    assert all(len(i) == 16 and int(i, 16) >= 0 for i in ids)


def test_without_a_token_none_is_sent():
    """Nothing stands in the place of a token."""
    seen: list[dict[str, str]] = []
    with peer(http2(GRPC, EMPTY, (("grpc-status", "0"),), seen=seen)) as host, client(host) as transport:
        info(transport)
    assert "authorization" not in seen[0]


@pytest.mark.parametrize("host", ["trainer.example:80", "10.0.0.1:80", "[2001:db8::1]:80", "localhost.example:80"])
def test_a_token_is_never_sent_over_an_open_network(host):
    """Over plain http to another machine, the call is refused before anything is sent; exit code 4."""
    with pytest.raises(errors.Unauthenticated, match="because others could read it on the way") as caught:
        GrpcTransport(host, tls=False, address=f"http://{host}", token="secret")
    assert "secret" not in f"{caught.value.message} {caught.value.hint}"
    assert (caught.value.hint, caught.value.exit_code) == ("use https://, or unset the token", 4)


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1:1", "127.9.9.9:1", "[::1]:1", "LOCALHOST:1"])
def test_a_token_goes_to_this_machine_itself(host):
    """Loopback is no network that others read."""
    with client(host, token="secret") as transport, pytest.raises(errors.Unreachable):
        info(transport)


@pytest.mark.parametrize("token", ["two\nlines", "two words", "umlaut-ü", "nul\0"])
def test_a_token_that_no_header_can_carry(token):
    """It is refused in words, and not shown."""
    with pytest.raises(errors.Unauthenticated, match="characters that a token cannot have") as caught:
        GrpcTransport("127.0.0.1:1", tls=False, address="http://127.0.0.1:1", token=token)
    assert token not in caught.value.message


@pytest.mark.parametrize("variable", SPELLINGS)
@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_this_machine_is_never_asked_through_a_proxy(monkeypatch, variable, name):
    """A proxy of the environment, in any spelling, does not stand between the command and this machine."""
    monkeypatch.setenv(variable, f"http://{unused()}")
    with (
        peer(replying(pb.Info(backend="here").SerializeToString())) as host,
        client(f"{name}:{host.rpartition(':')[2]}") as transport,
    ):
        assert info(transport).backend == "here"


@pytest.mark.parametrize("variable", [name for name in SPELLINGS if "https" not in name.lower()])
def test_another_machine_is_asked_through_the_proxy(monkeypatch, variable):
    """The proxy is obeyed, and named, without its password, when it does not do."""
    dead = unused()
    monkeypatch.setenv(variable, f"http://me:secret@{dead}")
    with client("trainer.example:80") as transport, pytest.raises(errors.Unreachable, match="no trainer ans") as caught:
        info(transport)
    assert caught.value.hint == f"it was asked through the proxy at {dead}; NO_PROXY exempts it"


def test_a_proxy_that_refuses(monkeypatch):
    """The proxy's own refusal is told as the proxy's."""
    with peer(http1("407 Proxy Authentication Required")) as proxy:
        monkeypatch.setenv("http_proxy", proxy)
        told = pytest.raises(errors.Unreachable, match=r"^the proxy on the way to http://trainer\.example:80 refused")
        with client("trainer.example:80") as transport, told:
            info(transport)


@pytest.mark.parametrize("variable", ["no_proxy", "NO_PROXY"])
def test_no_proxy_exempts(monkeypatch, variable):
    """A host that is named there is asked directly."""
    monkeypatch.setenv("http_proxy", f"http://{unused()}")
    monkeypatch.setenv(variable, ".invalid,other")
    with client("host.invalid:80", hint="h") as transport, pytest.raises(errors.Unreachable, match="no such name"):
        info(transport)


def test_the_trainers_own_unavailable_is_shown():
    """A trainer that is starting says so, with its hint, rather than that nobody answers."""
    starting = errors.Unreachable("the trainer is starting: opening its home", hint="try again in a moment")

    class Servicer:
        def GetInfo(self, request, call):
            raise starting

    with (
        served(Servicer()) as host,
        client(host, hint="other") as transport,
        pytest.raises(errors.Unreachable) as caught,
    ):
        info(transport)
    assert (caught.value.message, caught.value.hint) == (starting.message, starting.hint)


@pytest.mark.parametrize("number", range(1, 17))
def test_every_status_becomes_an_error_of_ours(number):
    """Each of gRPC's statuses, said by somebody who knows nothing of our trailer, is one error of ours."""
    with peer(failing(number, "said so")) as host, client(host) as transport, pytest.raises(errors.AkkaError) as caught:
        info(transport)
    name = next(code.name for code in StatusCode if code.value[0] == number)
    expected = errors.Unreachable if name == "CANCELLED" else status.FROM_STATUS.get(name, errors.Internal)
    assert type(caught.value) is expected


@pytest.mark.parametrize("broken", ["!!!!", "////", base64.b64encode(b"\x0a\xffabc").decode().rstrip("=")])
def test_a_detail_that_cannot_be_read(broken):
    """Whatever stands in the detail's place, the call ends with an error of ours."""
    with (
        peer(failing(5, "no run", (status.DETAIL_TRAILER, broken))) as host,
        client(host) as transport,
        pytest.raises(errors.AkkaError) as caught,
    ):
        info(transport)
    assert caught.value.hint is None


def test_a_long_list_of_faults_arrives():
    """An error longer than gRPC takes by default is told in full."""
    long = "\n".join(f"point {n}: config.seed: out of range" for n in range(500))

    class Servicer:
        def GetInfo(self, request, call):
            raise errors.Invalid(long)

    with served(Servicer()) as host, client(host) as transport, pytest.raises(errors.Invalid) as caught:
        info(transport)
    assert caught.value.message == long


def test_an_endless_message_is_cut():
    """A message longer than anybody reads is cut, and the call ends with its error."""
    with (
        peer(failing(5, "x" * 100_000)) as host,
        client(host) as transport,
        pytest.raises(errors.NotFound) as caught,
    ):
        info(transport, timeout=10)
    assert len(caught.value.message) == status.MOST_TEXT


def test_a_method_that_the_trainer_lacks():
    """A real trainer without the rpc is told as an older one, with the rpc's name."""
    with (
        served(object()) as host,
        client(host) as transport,
        pytest.raises(errors.Unsupported, match="GetNothing") as caught,
    ):
        transport.unary("GetNothing", pb.GetInfoRequest(), pb.Info, timeout=5)
    assert "older" in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize("token", [None, "wrong"])
def test_a_token_that_the_trainer_does_not_take(token):
    """Missing or wrong, it is told as that, in the trainer's words; exit code 4."""
    with (
        served(object(), options=Options(token="right")) as host,
        client(host, token=token) as transport,
        pytest.raises(errors.Unauthenticated, match="token") as caught,
    ):
        info(transport)
    assert caught.value.hint


def test_a_newer_trainer():
    """Fields that this client does not know are passed over, and a phase that it does not know is shown."""
    newer = pb.Run(run_id="a", phase="HIBERNATING").SerializeToString() + b"\xfa\x3f\x03new"  # field 1023
    with peer(replying(newer)) as host, client(host) as transport:
        run = transport.unary("GetRun", pb.GetRunRequest(), pb.Run, timeout=5)
    assert (run.run_id, run.phase) == ("a", "HIBERNATING")


def test_an_older_trainer():
    """Fields that the trainer does not send yet have their default."""
    with peer(replying(pb.Info(backend="server").SerializeToString())) as host, client(host) as transport:
        assert (info(transport).backend, info(transport).started_at, list(info(transport).notes)) == ("server", "", [])


def test_a_half_open_connection_is_noticed(monkeypatch):
    """A stream whose other side no longer answers to pings ends long before its deadline."""
    assert module.PING_AFTER + module.PING_ANSWER < 10_000  # the time that a call has by default
    shorter = [
        (name, 200 if value in {module.PING_AFTER, module.PING_ANSWER} else value) for name, value in module.OPTIONS
    ]
    monkeypatch.setattr(module, "OPTIONS", tuple(shorter))
    with (
        peer(says(SETTINGS + TAKEN)) as host,
        client(host) as transport,
        pytest.raises(errors.Unreachable, match="was cut before the answer was complete"),
    ):
        next(transport.stream("WatchRun", pb.WatchRunRequest(), pb.RunEvent, timeout=9))


def test_a_broken_message_ends_a_stream():
    """What cannot be decoded is told, after what could; the stream does not hang."""
    with peer(replying(pb.MetricsChunk(attempt=1).SerializeToString(), b"\xff")) as host, client(host) as transport:
        stream = transport.stream("GetMetrics", pb.GetMetricsRequest(), pb.MetricsChunk, timeout=5)
        assert next(stream).attempt == 1
        with pytest.raises(errors.Internal, match="it is no MetricsChunk"):
            next(stream)


def test_a_reader_that_leaves_ends_the_call():
    """The trainer hears that nobody reads on."""
    left = threading.Event()

    class Servicer:
        def WatchRun(self, request, call):
            try:
                while call.is_active():
                    yield pb.RunEvent(run_id="a")
            finally:
                left.set()

    with served(Servicer()) as host, client(host) as transport:
        stream = transport.stream("WatchRun", pb.WatchRunRequest(), pb.RunEvent, timeout=None)
        next(stream)
        stream.close()
        assert left.wait(5)


def test_a_call_is_observed():
    """Method, request id, seconds, one try, and how it ended."""
    seen, told = [], []
    with (
        peer(http2(GRPC, EMPTY, (("grpc-status", "0"),), seen=seen)) as host,
        client(host, observe=lambda *what: told.append(what)) as transport,
    ):
        info(transport)
    with client(unused(), observe=lambda *what: told.append(what)) as transport, pytest.raises(errors.Unreachable):
        info(transport)
    (method, request_id, seconds, tries, outcome), failed = told
    assert (method, request_id, tries, outcome) == ("GetInfo", seen[0]["x-request-id"], 1, "ok")
    assert 0 < seconds < 5
    assert (failed[0], failed[3:]) == ("GetInfo", (1, "Unreachable"))


def test_a_host_with_the_name_of_a_grpc_scheme():
    """http://unix:80 is a host called unix, and no socket in a folder."""
    with client("unix:80") as transport, pytest.raises(errors.Unreachable, match="no such name is known"):
        info(transport)


PROBE = """
import sys
from akka_optimize.client.transport.grpc import GrpcTransport
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize import errors
for scheme, host in (pair.split("://") for pair in sys.argv[1:]):
    transport = GrpcTransport(host, tls=scheme == "https", address=host)
    try:
        transport.unary("GetInfo", pb.GetInfoRequest(), pb.Info, timeout=2)
    except errors.AkkaError as error:
        print(type(error).__name__)
    import os
    if os.fork() == 0:
        os._exit(0)
    os.wait()
    transport.close()
"""


def test_grpc_itself_says_nothing():
    """Whatever goes wrong, also around a fork, stderr is left to the command."""
    import trustme

    strange = http2(GRPC, EMPTY, (("grpc-status", "abc"),))
    with (
        peer(strange) as broken,
        peer(close) as closed,
        peer(drain, context=tls(trustme.CA().issue_cert("127.0.0.1"))) as untrusted,
    ):
        addresses = [f"http://{broken}", f"http://{closed}", f"https://{untrusted}", f"https://{closed}"]
        environ = {key: value for key, value in os.environ.items() if key != "GRPC_VERBOSITY"}
        done = subprocess.run(
            [sys.executable, "-c", PROBE, *addresses], capture_output=True, text=True, check=False, env=environ
        )
    assert (done.stdout.split(), done.stderr) == (["Internal", "Unreachable", "Unreachable", "Unreachable"], "")
