"""A real nginx before a service, as its own user would run it: in the foreground, below a folder of its own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PROGRAM = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
REASON = "nginx is not installed (Debian: apt-get install nginx-light)"
needed = pytest.mark.skipif(PROGRAM is None, reason=REASON)

PLAIN = "proxy_pass http://{host};"  # and nothing else: what most people write
HTTP1 = "proxy_pass http://{host}; proxy_http_version 1.1; client_max_body_size 8m;"
HTTP2 = "grpc_pass grpc://{host};"  # takes, and passes on, HTTP/2 and nothing else
USER = "user root root;" if os.getuid() == 0 else ""  # whose folder it is; without it, root's workers are nobody's
NOBODY = "proxy_pass http://127.0.0.1:1;"

CONFIG = """
daemon off;
worker_processes 1;
{user}
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port}{http2};
    location / {{ {location} }}
  }}
}}
"""


@contextmanager
def nginx(folder: Path, location: str, *, http2: bool = False) -> Iterator[str]:
    """nginx with one location, until the block ends; yields host:port. `http2` takes HTTP/2 and nothing else.

    It is handed a socket that listens already, the way one nginx hands it to the next, so that no port is lost to
    others and nobody waits for it.
    """
    assert PROGRAM, REASON
    folder.mkdir(parents=True, exist_ok=True)
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listening:
        port = listening.getsockname()[1]
        config = folder / "nginx.conf"
        config.write_text(CONFIG.format(folder=folder, port=port, location=location, http2=" http2" * http2, user=USER))
        process = subprocess.Popen(
            [PROGRAM, "-p", str(folder), "-e", str(folder / "error.log"), "-c", str(config)],
            env=os.environ | {"NGINX": f"{listening.fileno()};"},
            pass_fds=[listening.fileno()],
        )
    try:
        yield f"127.0.0.1:{port}"
        assert process.poll() is None, (folder / "error.log").read_text()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=10)
