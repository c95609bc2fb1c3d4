"""Which proxy the environment names for an address: https_proxy, http_proxy, all_proxy, no_proxy, in any spelling."""

from __future__ import annotations

import os

from akka_optimize import errors
from akka_optimize.client.transport.told import is_loopback


def proxy_for(host: str, *, tls: bool, also: str | None = None) -> str | None:
    """The http:// address of the proxy for HOST:PORT, with its credentials; None for this machine itself.

    `also`: a scheme whose variable comes before the others, as `grpc` in grpc_proxy. Raises WrongUsage: a proxy of
    another kind, which would otherwise be passed by in silence.
    """
    name = host.rpartition(":")[0].strip("[]").rstrip(".").lower()
    if is_loopback(host) or name == "localhost" or name.endswith(".localhost"):
        return None
    if not any(variable.lower().endswith("_proxy") for variable in os.environ):
        return None
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    named = proxies.get(also or "") or proxies.get("https" if tls else "http") or proxies.get("all")
    if not named or proxy_bypass(name):
        return None
    url = named if "://" in named else f"http://{named}"
    if not url.lower().startswith("http://"):
        raise errors.WrongUsage(
            f"the environment names the proxy {without_credentials(url)}, which is not an http:// proxy",
            hint="name an HTTP proxy in HTTPS_PROXY or HTTP_PROXY, or exempt the trainer with NO_PROXY",
        )
    return url


def without_credentials(url: str) -> str:
    """Host and port of a proxy, which may be printed."""
    return url.partition("://")[2].partition("/")[0].rpartition("@")[2]
