"""Where the certificates of the system are looked for."""

from __future__ import annotations

import pytest
import trustme

from akka_optimize.client.transport.certificates import trusted


@pytest.fixture
def elsewhere(monkeypatch, tmp_path):
    """A folder, and an environment in which the system's certificates are nowhere else."""
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "no.pem"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    return tmp_path


def test_one_file(elsewhere, monkeypatch):
    """The file that the environment names is the answer, and no folder is read then."""
    (elsewhere / "all.pem").write_bytes(trustme.CA().cert_pem.bytes())
    (elsewhere / "other.pem").write_bytes(trustme.CA().cert_pem.bytes())
    monkeypatch.setenv("SSL_CERT_FILE", str(elsewhere / "all.pem"))
    assert trusted(None) == (elsewhere / "all.pem").read_bytes()


def test_a_folder_of_files(elsewhere):
    """Every certificate in it; what is none, a folder, and a link to nothing are passed over."""
    found = [trustme.CA().cert_pem.bytes() for _ in range(2)]
    (elsewhere / "a.pem").write_bytes(found[0])
    (elsewhere / "b.crt").write_bytes(found[1])
    (elsewhere / "README").write_text("certificates")
    (elsewhere / "sub").mkdir()
    (elsewhere / "gone.0").symlink_to(elsewhere / "gone.pem")
    assert trusted(None) == b"\n".join(found)


def test_a_folder_with_a_bundle(elsewhere):
    """Where the folder holds all of them in one file, that one is read rather than hundreds."""
    (elsewhere / "a.pem").write_bytes(trustme.CA().cert_pem.bytes())
    (elsewhere / "ca-certificates.crt").write_bytes(bundle := trustme.CA().cert_pem.bytes())
    assert trusted(None) == bundle


def test_a_system_without_certificates(elsewhere):
    """grpc's own are left to hold then."""
    assert trusted(None) is None


def test_the_contexts_own(tmp_path):
    """Only the named file counts."""
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    assert trusted(tmp_path / "ca.pem") == authority.cert_pem.bytes()
