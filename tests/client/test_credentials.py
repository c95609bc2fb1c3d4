"""The token: where it comes from, and that it is never shown."""

from __future__ import annotations

import os

import pytest

from akka_optimize import errors
from akka_optimize.client.contexts import Context
from akka_optimize.client.credentials import token

SECRET = "s3cr3t-of-the-team"


def context(file):
    """A context with this token file."""
    return Context("team", "context team in c.yaml", token_file=file)


@pytest.fixture
def file(tmp_path):
    """A token file that only its owner may read."""
    found = tmp_path / "token"
    found.write_text(SECRET + "\n")
    found.chmod(0o600)
    return found


def refuse(text):
    """Nothing is to be warned of."""
    raise AssertionError(text)


@pytest.mark.parametrize(
    ("variable", "expected"), [("from-the-environment", "from-the-environment"), ("", SECRET), (None, SECRET)]
)
def test_the_environment_beats_the_file(file, variable, expected):
    """AKKA_TRAINER_TOKEN, then the context's file; an empty variable is unset; the line's end is no part of a token."""
    environ = {} if variable is None else {"AKKA_TRAINER_TOKEN": variable}
    assert token(context(file), environ, refuse) == expected


def test_no_token_is_none():
    """Neither place states one."""
    assert token(None, {}, refuse) is None
    assert token(Context(), {}, refuse) is None


@pytest.mark.parametrize(("mode", "warned"), [(0o600, 0), (0o400, 0), (0o640, 1), (0o644, 1), (0o604, 1), (0o620, 1)])
def test_a_file_that_others_may_read_is_warned_of(file, mode, warned):
    """Once, with the file's name and the cure; the token is used all the same."""
    file.chmod(mode)
    said: list[str] = []
    assert token(context(file), {}, said.append) == SECRET
    assert len(said) == warned
    assert all(str(file) in text and "chmod 600" in text and SECRET not in text for text in said)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "holds no token"),
        (b" \n\t\n", "holds no token"),
        (f"{SECRET}\nsecond\n".encode(), "more than one line"),
        (f"{SECRET} x".encode(), "characters that a token cannot have"),
        (f"{SECRET}\xe9".encode("latin-1"), "characters that a token cannot have"),
        (f"{SECRET}é".encode(), "characters that a token cannot have"),
        (f"{SECRET}\0".encode(), "characters that a token cannot have"),
        (SECRET.encode() * 2000, "too large"),
    ],
)
def test_a_file_without_a_token_is_refused(file, content, said):
    """Exit 4 in one sentence that names the file, and never what is in it."""
    file.write_bytes(content)
    with pytest.raises(errors.Unauthenticated, match=said) as caught:
        token(context(file), {}, refuse)
    assert str(file) in caught.value.message
    assert SECRET not in f"{caught.value!r} {caught.value.hint}"


@pytest.mark.parametrize("value", [" ", "two words", f"{SECRET}\nx", "é"])
def test_a_variable_without_a_token_is_refused(value):
    """It does not fall through to the file: somebody meant it. What it is, is not told."""
    with pytest.raises(errors.Unauthenticated, match=r"^AKKA_TRAINER_TOKEN holds ") as caught:
        token(None, {"AKKA_TRAINER_TOKEN": value}, refuse)
    assert value.strip() not in caught.value.message or not value.strip()


def test_a_file_that_cannot_be_read_is_refused(tmp_path):
    """Missing, a folder, a pipe: said at once, with the context that named it."""
    os.mkfifo(tmp_path / "pipe")
    for name, said in {"missing": "no such file", ".": "no regular file", "pipe": "no regular file"}.items():
        with pytest.raises(errors.Unauthenticated, match=f"{said}, where the token of the context team") as caught:
            token(context(tmp_path / name), {}, refuse)
        assert caught.value.exit_code == 4


def test_a_file_that_may_not_be_read_is_refused(tmp_path, monkeypatch):
    """The system's reason is told."""
    file = tmp_path / "token"
    file.write_text(SECRET)

    def refused(_self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(file), "read_bytes", refused)
    with pytest.raises(errors.Unauthenticated, match=r"cannot be read: Permission denied$"):
        token(context(file), {}, refuse)
