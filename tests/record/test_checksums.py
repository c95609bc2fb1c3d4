"""The list of a folder's files: as `sha256sum` writes it, and read with suspicion."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akka_optimize.errors import Invalid
from akka_optimize.record import checksums

DIGEST = hashlib.sha256(b"content").hexdigest()
NAMES = st.binary(min_size=1, max_size=8).filter(lambda raw: b"\0" not in raw).map(os.fsdecode)
PLAIN = NAMES.filter(lambda name: "/" not in name and name not in (".", "..", "checksums.txt"))
needs_sha256sum = pytest.mark.skipif(shutil.which("sha256sum") is None, reason="there is no sha256sum to ask")


@given(st.dictionaries(PLAIN, st.binary().map(lambda data: hashlib.sha256(data).hexdigest())))
def test_a_list_reads_back(digests):
    """Whatever the files are called, line breaks and all."""
    assert checksums.parse(checksums.written(digests)) == digests


def test_the_last_line_is_the_digest_of_the_others():
    """The list accounts for itself."""
    body, last = checksums.written({"snapshots/a b": DIGEST}).decode().splitlines()
    assert body == f"{DIGEST}  snapshots/a b"
    assert last == f"# {hashlib.sha256(f'{body}{chr(10)}'.encode()).hexdigest()}  checksums.txt"


@needs_sha256sum
@pytest.mark.parametrize("name", ["a", "two words", "back\\slash", "line\nbreak", "carriage\rreturn", "odd\udcff", "#"])
def test_sha256sum_reads_every_line(tmp_path, name):
    """The usual program passes over the last line and finds everything else right, or names what is not."""
    (tmp_path / name).write_text("content")
    (tmp_path / "checksums.txt").write_bytes(checksums.written({name: DIGEST}))
    check = ["sha256sum", "--check", "--strict", "--quiet", "checksums.txt"]
    assert subprocess.run(check, cwd=tmp_path, check=False).returncode == 0
    (tmp_path / name).write_text("contents")
    assert subprocess.run(check, cwd=tmp_path, check=False, capture_output=True).returncode == 1


@needs_sha256sum
@pytest.mark.parametrize("name", ["a", "back\\slash", "line\nbreak", "odd\udcff"])
def test_lines_are_those_of_sha256sum(tmp_path, name):
    """Byte for byte."""
    (tmp_path / name).write_text("content")
    told = subprocess.run(["sha256sum", name], cwd=tmp_path, check=True, capture_output=True).stdout
    assert checksums.written({name: DIGEST}).splitlines(keepends=True)[0] == told


def listed(*lines, end="\n"):
    """A list of these lines whose last line fits them."""
    body = "".join(f"{line}\n" for line in lines)
    return f"{body}# {hashlib.sha256(body.encode()).hexdigest()}  checksums.txt{end}".encode()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "its last line is not its own digest"),
        (b"# \n", "its last line is not its own digest"),
        (f"{DIGEST}  a\n".encode(), "its last line is not its own digest"),
        (listed(f"{DIGEST}  a", end=""), "its last line has no end"),
        (listed(f"{DIGEST} a"), "its line 1 is not a sha256"),
        (listed(f"{DIGEST}  a", f"{DIGEST[1:]}  b"), "its line 2 is not a sha256"),
        (listed(f"{DIGEST}  a", f"{DIGEST}  a"), "its line 2 lists a file again"),
        (listed(f"{DIGEST.upper()}  a"), "its line 1 is not a sha256"),
        (listed(f"{DIGEST}  ../a"), "its line 1 is not a sha256"),
        (listed(f"{DIGEST}  /a"), "its line 1 is not a sha256"),
        (listed(f"{DIGEST}  a//b"), "its line 1 is not a sha256"),
        (listed(f"{DIGEST}  ./a"), "its line 1 is not a sha256"),
        (listed(f"\\{DIGEST}  a\\qb"), "its line 1 is not a sha256"),
        (listed(f"\\{DIGEST}  a\\"), "its line 1 is not a sha256"),
        (listed(f"{DIGEST}  b", f"{DIGEST}  a"), "its lines are not in the order of their paths"),
        (listed(f"\\{DIGEST}  a"), "its lines are not in the order"),
        (listed(f"{DIGEST}  a").replace(b"a\n", b"b\n", 1), "it was changed"),
        (listed(f"{DIGEST}  a") + b"\n", "its last line is not its own digest"),
    ],
)
def test_a_list_of_another_form_is_refused(content, told):
    """Every line that is not as written here is named, and nothing leads out of the folder."""
    assert any(problem.startswith(told) for problem in checksums.read(content).problems)
    with pytest.raises(Invalid, match=r"checksums\.txt: it"):
        checksums.parse(content)


@given(st.binary(max_size=200))
def test_no_bytes_are_too_odd(content):
    """Reading never raises, and finds something wrong with everything but a list."""
    assert checksums.read(content).problems
