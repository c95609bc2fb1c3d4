"""What is typed for a home and for a service, and what is refused before anything is done."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from support.trainer_program import PROGRAM, TrainerProgram

from akka_optimize import errors
from akka_optimize.trainer.commands import flags
from akka_optimize.trainer.service import background

OTHERS = {"port": 0, "workers": None, "token_file": None, "tls_cert": None, "tls_key": None}
COMMANDS = ("serve", "start", "stop", "status", "logs", "work")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("text", ["", "a\0b"], ids=["nothing", "NUL"])
def test_what_is_no_path_is_refused(command, text, capsys):
    """Every command says so in one sentence, with exit code 2."""
    ended = TrainerProgram(text)(command, capsys=capsys)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"Error: --home: {text!r} is not the path of a folder\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_home_folder_that_nobody_has_is_refused(command, capsys):
    """`~` of a user that is not there is not taken for a folder of that name."""
    ended = TrainerProgram("~nobody-has-this-name/home")(command, capsys=capsys)
    assert (ended.code, ended.out) == (2, "")
    assert "there is no home folder for ~" in ended.err


def test_without_home_the_system_knows(monkeypatch, tmp_path):
    """`~` is HOME; without it, what the system says; where that says nothing either, one sentence."""
    monkeypatch.setenv("HOME", str(tmp_path))
    assert flags.folder("~/trainer") == tmp_path / "trainer"
    monkeypatch.delenv("HOME")
    assert flags.folder("~/trainer").is_absolute()

    def unknown(_self):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", unknown)
    with pytest.raises(errors.WrongUsage, match="no home folder for ~"):
        flags.folder("~/trainer")
    with pytest.raises(errors.WrongUsage, match="no home folder for ~"):
        flags.folder(flags.DEFAULT_HOME)


@pytest.mark.parametrize("flag", ["--token-file", "--tls-cert", "--tls-key"])
@pytest.mark.parametrize("text", ["", "a\0b"], ids=["nothing", "NUL"])
def test_a_file_that_has_no_path_is_refused(flag, text, tmp_path, capsys):
    """As with the home: the flag is named, and nothing is made."""
    ended = TrainerProgram(tmp_path / "home")("serve", "--port", "0", flag, text, capsys=capsys)
    assert (ended.code, ended.err) == (2, f"Error: {flag}: {text!r} is not the path of a file\n")
    assert not (tmp_path / "home").exists()


def test_a_tilde_before_a_file_is_the_home_folder(monkeypatch, tmp_path):
    """Where the shell left it, as in --token-file=~/token."""
    monkeypatch.setenv("HOME", str(tmp_path))
    asked = flags.asked(home="~/trainer", host="127.0.0.1", **OTHERS | {"token_file": "~/token"})
    assert (asked.home, asked.token_file) == (tmp_path / "trainer", tmp_path / "token")


@pytest.mark.parametrize("host", ["", "a\0b", "two words", "http://127.0.0.1", "[::1]"])
def test_a_host_that_is_none_is_refused(host, tmp_path, capsys):
    """One sentence, and no home is made."""
    ended = TrainerProgram(tmp_path / "home")("serve", "--port", "0", "--host", host, capsys=capsys)
    assert (ended.code in (1, 2), ended.out, len(ended.err.splitlines())) == (True, "", 2)
    assert ended.err.startswith("Error: ")
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("port", ["-1", "65536", "http", "1.5", ""])
def test_a_port_that_is_none_is_refused(port, tmp_path, capsys):
    """0 to 65535, and nothing else."""
    ended = TrainerProgram(tmp_path / "home")("serve", "--port", port, capsys=capsys)
    assert (ended.code, "--port" in ended.err) == (2, True)


@pytest.mark.parametrize("name", ["plain", "two words", "it's", "$HOME", "-dash", "ü"])
def test_what_is_to_be_typed_names_the_home(name, tmp_path):
    """A shell reads it back as the same folder; the default home needs no word."""
    typed = flags.typed_home(tmp_path / name)
    assert shlex.split(typed) == ["--home", str(tmp_path / name)]
    assert flags.typed_home(flags.folder(flags.DEFAULT_HOME)) == ""


def test_control_characters_are_shown_and_not_carried_out(capsys):
    """A path from elsewhere cannot repaint the terminal."""
    flags.warn("home \x1b[31m\r is \udcff bad")
    assert capsys.readouterr().err == "Warning: home \\x1b[31m\\r is \\udcff bad\n"


def test_a_home_with_a_control_character_in_an_error(tmp_path, capsys):
    """Errors are printed the same way."""
    ended = TrainerProgram(tmp_path / "a\x1b[31mb")("logs", capsys=capsys)
    assert ended.code == 1
    assert "\x1b" not in ended.err
    assert "a\\x1b[31mb" in ended.err


def test_an_output_that_cannot_be_written_is_told(tmp_path):
    """A full disk behind stdout is one sentence, and exit code 1."""
    (tmp_path / background.LOG).write_text("one\n" * 100_000)
    with open("/dev/full", "wb") as full:
        command = [*PROGRAM, "logs", "--home", str(tmp_path)]
        ended = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, check=False)
    assert (ended.returncode, ended.stderr) == (1, b"Error: the output could not be written: no space left on device\n")


def test_status_prints_one_line_for_each_thing(tmp_path, monkeypatch, capsys):
    """Also where the home's path has a line end in it."""
    record = background.Record(7, "?", "http://127.0.0.1:9", "2026-01-01T00:00:00Z", background.STARTING)
    monkeypatch.setattr(background, "running", lambda _folder: record)
    ended = TrainerProgram(tmp_path / "a\nb\x1b")("status", capsys=capsys)
    assert [line.split()[0] for line in ended.out.splitlines()] == ["State", "Address", "Process", "Home", "Since"]
    assert "\x1b" not in ended.out
