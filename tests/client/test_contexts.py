"""Named contexts: which one holds, what it means, and what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from akka_optimize import errors
from akka_optimize.client.contexts import Context, expanded, load, require_region

TWO = """
currentContext: team
contexts:
  team: {trainerUrl: https://trainer.example, tokenFile: team.token, ca: /etc/ca.pem, region: eu-1}
  mine: {trainerUrl: "local:", optimizeUrl: http://localhost:9010}
"""


@pytest.fixture
def config(tmp_path):
    """A file with two contexts."""
    file = tmp_path / "config.yaml"
    file.write_text(TWO)
    return file


@pytest.mark.parametrize(
    ("typed", "variable", "expected"),
    [
        pytest.param(None, None, "team", id="currentContext"),
        pytest.param(None, "", "team", id="an-empty-variable-is-unset"),
        pytest.param(None, "mine", "mine", id="the-variable-beats-the-file"),
        pytest.param("team", "mine", "team", id="what-was-typed-beats-the-variable"),
    ],
)
def test_which_context_holds(config, typed, variable, expected):
    """--context, AKKA_CONTEXT, currentContext: in this order."""
    environ = {} if variable is None else {"AKKA_CONTEXT": variable}
    assert load(str(config), typed, environ).name == expected


def test_a_context_has_what_was_stated(config, tmp_path):
    """Relative paths are relative to the file, absolute ones stay; what is not stated is None; the source is told."""
    assert load(str(config), None, {}) == Context(
        name="team",
        source=f"context team in {config}",
        trainer_url="https://trainer.example",
        token_file=tmp_path / "team.token",
        ca=Path("/etc/ca.pem"),
        region="eu-1",
    )
    mine = load(str(config), "mine", {})
    assert (mine.trainer_url, mine.optimize_url, mine.token_file) == ("local:", "http://localhost:9010", None)


def test_a_tilde_is_the_home_folder(tmp_path, monkeypatch):
    """In the paths of a context, in --config, and in the default."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".akka").mkdir()
    (tmp_path / ".akka" / "config.yaml").write_text("currentContext: a\ncontexts: {a: {tokenFile: ~/t}}\n")
    for config in (None, "~/.akka/config.yaml"):
        found = load(config, None, {})
        assert found.token_file == tmp_path / "t"
        assert found.source == "context a in ~/.akka/config.yaml"


@pytest.mark.parametrize("home", ["", "/nowhere", "/dev/null"])
def test_no_default_file_is_no_context(home, monkeypatch):
    """Without the file, or without a home folder, there is none, and that is no error."""
    monkeypatch.setenv("HOME", home)
    assert load(None, None, {}) == Context()


def test_a_context_that_was_named_needs_the_file(monkeypatch, tmp_path):
    """--context and AKKA_CONTEXT name a context of a file that has to be there."""
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(errors.WrongUsage, match=r"^--context: there is no context 'x', because there is no ~/"):
        load(None, "x", {})
    with pytest.raises(errors.WrongUsage, match=r"^AKKA_CONTEXT: there is no context 'x'"):
        load(None, None, {"AKKA_CONTEXT": "x"})


@pytest.mark.parametrize("text", ["", " \n", "# nothing yet\n", "{}", "contexts: {}\n"])
def test_an_empty_file_has_no_contexts(tmp_path, text):
    """Whether it is really empty, or says nothing."""
    file = tmp_path / "config.yaml"
    file.write_text(text)
    assert load(str(file), None, {}) == Context()


def test_a_context_that_is_not_there_lists_those_that_are(config):
    """With the nearest one; nothing is guessed silently."""
    with pytest.raises(errors.WrongUsage, match=r"there is no context 'taem' in .*; did you mean team\?$") as caught:
        load(str(config), "taem", {})
    assert caught.value.hint == "the contexts there: mine, team"


FAULTS = {
    "currentContext: x\ncontexts: {}": "1:1: there is no context 'x'",
    "currentContext: tem\ncontexts: {team: {}}": "1:1: there is no context 'tem'; did you mean team?",
    "currentContext: 3": "1:1: currentContext is no text of one line",
    "context: {}": "1:1: the configuration knows no 'context'; did you mean contexts?",
    "contexts:\n  a: {trainer_url: x}": "2:7: the context a knows no 'trainer_url'; did you mean trainerUrl?",
    "contexts:\n  a: {zzz: x}": "2:7: the context a knows no 'zzz'",
    "contexts: []": "1:1: contexts is no mapping",
    "contexts:\n  a:\n": "2:3: the context a is no mapping",
    "- a": "1:1: the configuration is no mapping",
    "contexts: {a: {trainerUrl: 1}}": "1:16: trainerUrl is no text",
    'contexts: {a: {tokenFile: ""}}': "1:16: tokenFile is no text",
    'contexts: {a: {ca: "a\\0b"}}': "1:16: ca is no text",
    'contexts: {a: {region: "e u"}}': "1:16: 'e u' is no name of a region",
    'contexts: {"": {}}': "1:12: '' is no name of a context",
    "contexts: {a: {}, a: {}}": '1:19: the key "a" appears twice',
    "contexts: {a: {}": "",
    "\ta: 1": "",
}


@pytest.mark.parametrize("text", FAULTS)
def test_a_fault_is_wrong_usage_with_its_place(tmp_path, text):
    """File, line and column, and what is wrong there."""
    file = tmp_path / "config.yaml"
    file.write_text(text)
    with pytest.raises(errors.WrongUsage) as caught:
        load(str(file), None, {})
    assert caught.value.message.startswith(f"{file}:")
    assert FAULTS[text] in caught.value.message


def test_a_file_that_is_none_is_refused(tmp_path):
    """Missing, a folder, a pipe, over 1 MiB, not UTF-8, unreadable by its name: each in one sentence that names it."""
    (tmp_path / "large").write_bytes(b"#" * ((1 << 20) + 1))
    (tmp_path / "latin").write_bytes(b"contexts: {caf\xe9: {}}")
    os.mkfifo(tmp_path / "pipe")
    for name, said in {
        "missing": "no such file",
        "large/inside": "no such file",
        ".": "a directory",
        "pipe": "no regular file",
        "large": "larger than 1 MiB",
        "latin": "1:15: the byte 0xe9 is not UTF-8",
        "a\0b": "no name of a file",
        "x" * 300: "cannot be read: File name too long",
    }.items():
        shown = f"{tmp_path}/{name}"
        with pytest.raises(errors.WrongUsage) as caught:
            load(shown, None, {})
        assert shown in caught.value.message
        assert said in caught.value.message


def test_a_relative_config_is_one_too(tmp_path, monkeypatch):
    """Its own paths stay right, and faults name it as it was typed; one called - is a file, and not stdin."""
    monkeypatch.chdir(tmp_path)
    for name in ("c.yaml", "-"):
        Path(name).write_text("currentContext: a\ncontexts: {a: {ca: b.pem}}")
        assert load(name, None, {}).ca == tmp_path / "b.pem"
        Path(name).write_text("contexts: 1")
        with pytest.raises(errors.WrongUsage, match=f"^{name}:1:1: "):
            load(name, None, {})


WORDS = st.sampled_from(
    ["contexts", "currentContext", "a", "trainerUrl", "tokenFile", "region", ": ", ":", "{", "}", "\n", "  ", "- ",
     "&x", "*x", "'", '"', "\\0", "~", "1e400", "!!str", "? ", "|", "\x7f", "é", "#", ", ", "---\n", "[", "]"]
)  # fmt: skip
WELL_FORMED = st.dictionaries(
    st.sampled_from(["contexts", "currentContext", "x"]) | st.text(max_size=3),
    st.recursive(st.none() | st.integers() | st.text(max_size=4), lambda inner: st.dictionaries(st.text(), inner)),
)


def loads_or_is_refused(file):
    """Whether there is a context, or wrong usage that names the file; anything else that is raised goes through."""
    try:
        return isinstance(load(str(file), None, {}), Context)
    except errors.WrongUsage as error:
        return str(file) in error.message


@given(st.text() | st.lists(WORDS).map("".join) | WELL_FORMED.map(str))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
def test_any_text_loads_or_is_refused_by_name(tmp_path, text):
    """Whatever a configuration holds, it is a context or wrong usage that names the file, and never anything else."""
    file = tmp_path / "config.yaml"
    file.write_text(text, encoding="utf-8", errors="replace")
    assert loads_or_is_refused(file)


@given(st.binary(max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_load_or_are_refused_by_name(tmp_path, content):
    """Also where they are no text at all."""
    file = tmp_path / "config.yaml"
    file.write_bytes(content)
    assert loads_or_is_refused(file)


def test_a_home_that_is_not_known_is_no_path(monkeypatch):
    """An empty HOME is no home, and neither is that of a user who does not exist."""
    assert expanded("~no-such-user-here/x") is None
    monkeypatch.setenv("HOME", "")
    assert expanded("~/x") is None
    assert expanded("/x") == Path("/x")


@pytest.mark.parametrize("text", ["eu", "eu-1", "A.b_c", "0"])
def test_the_name_of_a_region(text):
    """What a header can carry."""
    assert require_region(text, "--region") == text


@pytest.mark.parametrize("text", ["", "e u", "-x", "é", "a\n", "x" * 64])
def test_what_is_no_name_of_a_region(text):
    """Is wrong usage, whose sentence begins with where it was said."""
    with pytest.raises(errors.WrongUsage, match=r"^--region: "):
        require_region(text, "--region")
