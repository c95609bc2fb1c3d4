"""Whose certificates are trusted, as grpc wants it told: PEM."""

from __future__ import annotations

from pathlib import Path

from akka_optimize import errors


def trusted(ca: Path | None) -> bytes | None:
    """The authorities in the file `ca`, or the system's; None where the system keeps none that can be found.

    Raises WrongUsage (the file).
    """
    return _system() if ca is None else _own(ca)


def _own(ca: Path) -> bytes:
    import ssl

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(ca)
        return ca.read_bytes()
    except (OSError, ssl.SSLError):
        raise errors.WrongUsage(f"{ca}: holds no certificates that can be read", hint="ca names a PEM file") from None


def _system() -> bytes | None:
    """One file, or a folder of files, wherever OpenSSL looks and SSL_CERT_FILE and SSL_CERT_DIR point."""
    import ssl

    paths = ssl.get_default_verify_paths()
    files = [Path(paths.cafile)] if paths.cafile else []
    if not files and paths.capath:
        folder = Path(paths.capath)
        bundle = folder / "ca-certificates.crt"
        files = [bundle] if bundle.is_file() else sorted(folder.iterdir())
    return b"\n".join(content for file in files if (content := _certificates(file))) or None


def _certificates(file: Path) -> bytes:
    try:
        content = file.read_bytes()
    except OSError:  # a folder, or a link to what is gone
        return b""
    return content if b"-----BEGIN CERTIFICATE-----" in content else b""
