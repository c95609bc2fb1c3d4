"""What a service may be asked to be: everything unsafe or impossible is refused before a port is open."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import trustme

from akka_optimize import errors
from akka_optimize.trainer.service import asked
from akka_optimize.trainer.service.asked import Asked

TOKEN = "a-token-of-many-letters"


def ask(tmp_path, **given):
    """The options of a service on loopback, but for what is given."""
    said = []
    environ = given.pop("environ", {})
    found = asked.options(Asked(**{"host": "127.0.0.1", "port": 0, "home": tmp_path} | given), environ, said.append)
    return found, said


@pytest.fixture
def certificate(tmp_path):
    """Paths of a certificate and its key."""
    made = trustme.CA().issue_cert("localhost")
    made.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    made.private_key_pem.write_to_path(tmp_path / "key.pem")
    return tmp_path / "cert.pem", tmp_path / "key.pem"


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1"])
def test_others_need_a_token_or_a_word_that_they_do_not(tmp_path, host):
    """An address that others reach is refused without a token, and served when the user says what that gives up."""
    with pytest.raises(errors.Refused, match=r"others can reach .* start and delete runs"):
        ask(tmp_path, host=host)
    assert ask(tmp_path, host=host, allow_unauthenticated=True)[0].token is None
    options, said = ask(tmp_path, host=host, environ={"AKKA_TRAINER_TOKEN": TOKEN})
    assert options.token == TOKEN
    assert ["can be read on their way" in sentence for sentence in said] == [True]


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.9.9.9"])
def test_this_machine_alone_needs_no_token(tmp_path, host):
    """On loopback nothing is asked for, and nothing is said."""
    options, said = ask(tmp_path, host=host)
    assert (options.token, said) == (None, [])


BAD_TOKENS = {
    "empty": b"",
    "blank": b" \n",
    "short": b"fifteen-letters",
    "two-words": b"a token of many letters",
    "two-lines": b"a-token-of-many\nletters-and-more",
    "not-ascii": "ein-schlüssel-für-alle".encode(),
    "not-utf8": b"\xff" * 20,
    "control": b"a-token-of-many\x07letters",
    "endless": b"a" * 5000,
}


@pytest.mark.parametrize("content", BAD_TOKENS.values(), ids=BAD_TOKENS)
def test_a_token_that_is_none_is_refused_and_not_shown(tmp_path, content):
    """What is wrong is said with the file's name; what the file holds is not."""
    path = tmp_path / "token"
    path.write_bytes(content)
    with pytest.raises(errors.Refused) as caught:
        ask(tmp_path, token_file=path)
    text = content.decode("utf-8", "replace").strip()
    assert str(path) in caught.value.message
    assert not text or text not in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize("name", ["missing", "."])
def test_a_token_file_that_cannot_be_read_is_refused(tmp_path, name):
    """Missing, or a folder: the path is named."""
    with pytest.raises(errors.Refused, match="cannot be read"):
        ask(tmp_path, token_file=tmp_path / name)


def test_a_token_that_everybody_may_read_is_warned_about(tmp_path):
    """The file is used all the same; a closed one is used without a word; the file beats the environment."""
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    for mode, warnings in ((0o644, 1), (0o600, 0)):
        os.chmod(path, mode)
        options, said = ask(tmp_path, token_file=path, environ={"AKKA_TRAINER_TOKEN": "another-token-of-letters"})
        assert (options.token, len(said)) == (TOKEN, warnings)


def test_tls_needs_both_files(tmp_path, certificate):
    """One without the other is wrong usage, and says which is missing."""
    cert, key = certificate
    with pytest.raises(errors.WrongUsage, match="--tls-cert needs --tls-key"):
        ask(tmp_path, tls_cert=cert)
    with pytest.raises(errors.WrongUsage, match="--tls-key needs --tls-cert"):
        ask(tmp_path, tls_key=key)
    options, said = ask(tmp_path, tls_cert=cert, tls_key=key)
    assert (options.tls_cert, options.tls_key, said) == (cert, key, [])


def test_files_that_are_no_pair_are_refused(tmp_path, certificate):
    """Another key, an encrypted one, files exchanged, no PEM at all, no file: one plain sentence each."""
    cert, key = certificate
    other = tmp_path / "other.pem"
    trustme.CA().issue_cert("localhost").private_key_pem.write_to_path(other)
    locked = tmp_path / "locked.pem"
    locked.write_text("-----BEGIN ENCRYPTED PRIVATE KEY-----\n")
    for pair, sentence in (
        ((cert, other), "is not the key of the certificate"),
        ((cert, locked), "is encrypted"),
        ((key, cert), "holds no certificate"),
        ((cert, cert), "holds no private key"),
        ((tmp_path / "none.pem", key), "none.pem"),
    ):
        with pytest.raises(errors.AkkaError, match=sentence):
            ask(tmp_path, tls_cert=pair[0], tls_key=pair[1])


def test_the_same_options_start_the_same_service_and_hold_no_token(tmp_path):
    """What a background process is told is what was typed, with whole paths; a token of the environment is no part."""
    given = Asked("0.0.0.0", 9, tmp_path, 2, Path("t"), None, None, ("a", "b"), True)
    words = given.argv()
    assert words[:4] == ["--host", "0.0.0.0", "--port", "9"]
    assert words[words.index("--token-file") + 1] == str(Path("t").absolute())
    assert [words[at + 1] for at, word in enumerate(words) if word == "--allow-host"] == ["a", "b"]
    assert words[-1] == "--allow-unauthenticated"
    assert "--tls-cert" not in words
