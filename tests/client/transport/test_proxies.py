"""Which proxy holds for which address."""

from __future__ import annotations

import os

import pytest

from akka_optimize import errors
from akka_optimize.client.transport.proxies import proxy_for, without_credentials


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch):
    """The variables of whoever runs the tests do not count."""
    for variable in os.environ:
        if variable.lower().endswith("_proxy"):
            monkeypatch.delenv(variable)


def test_none_without_variables():
    """Nothing named, nothing used."""
    assert proxy_for("trainer.example:80", tls=False) is None


@pytest.mark.parametrize(
    ("host", "environ", "tls", "expected"),
    [
        ("a.example:80", {"http_proxy": "http://p:1"}, False, "http://p:1"),
        ("a.example:80", {"http_proxy": "p:1"}, False, "http://p:1"),
        ("a.example:443", {"http_proxy": "http://p:1"}, True, None),
        ("a.example:443", {"HTTPS_PROXY": "http://p:1"}, True, "http://p:1"),
        ("a.example:443", {"ALL_PROXY": "http://p:1"}, True, "http://p:1"),
        ("a.example:443", {"all_proxy": "http://p:1", "https_proxy": "http://q:2"}, True, "http://q:2"),
        ("a.example:443", {"grpc_proxy": "http://p:1", "https_proxy": "http://q:2"}, True, "http://p:1"),
        ("a.example:443", {"https_proxy": ""}, True, None),
        ("a.example:443", {"https_proxy": "http://q:2", "no_proxy": "a.example"}, True, None),
        ("a.example:443", {"https_proxy": "http://q:2", "NO_PROXY": ".example"}, True, None),
        ("a.example:443", {"https_proxy": "http://q:2", "no_proxy": "*"}, True, None),
        ("a.example:443", {"https_proxy": "http://q:2", "no_proxy": "b.example"}, True, "http://q:2"),
        *(
            (host, {"http_proxy": "http://p:1", "all_proxy": "http://p:1"}, False, None)
            for host in (
                "localhost:9001",
                "LocalHost.:9001",
                "x.localhost:9001",
                "127.0.0.1:1",
                "127.8.0.1:1",
                "[::1]:1",
            )
        ),
        ("localhost.example:80", {"http_proxy": "http://p:1"}, False, "http://p:1"),
    ],
)
def test_the_variables_hold_in_every_spelling(monkeypatch, host, environ, tls, expected):
    """The scheme's own before all_proxy, grpc_proxy before both for gRPC, no_proxy over all; never for this machine."""
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    assert proxy_for(host, tls=tls, also="grpc") == expected


@pytest.mark.parametrize("url", ["socks5://me:secret@p:1", "https://me:secret@p:1"])
def test_a_proxy_of_another_kind_is_told(monkeypatch, url):
    """It is not passed by in silence, and its password is not shown."""
    monkeypatch.setenv("https_proxy", url)
    with pytest.raises(errors.WrongUsage, match="names the proxy p:1, which is not an http:// proxy"):
        proxy_for("a.example:443", tls=True)


def test_what_may_be_printed_of_a_proxy():
    """Host and port."""
    assert without_credentials("http://me:p@ss@proxy.example:3128/") == "proxy.example:3128"
