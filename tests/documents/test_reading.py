"""Documents from files, standard input and command lines."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akka_optimize import documents
from akka_optimize.errors import AkkaError, Invalid, WrongUsage


def test_the_suffix_decides_the_syntax(tmp_path):
    """The same text is JSON in one file and YAML in another, in any spelling of the suffix."""
    for name, value in [("a.yaml", {"a": 1}), ("b.YML", {"a": 1})]:
        (tmp_path / name).write_text("{a: 1}")
        assert documents.read(str(tmp_path / name)) == value
    (tmp_path / "c.JSON").write_text("{a: 1}")
    with pytest.raises(Invalid, match=r"c.JSON:1:2: 'a' where a key in double quotes belongs"):
        documents.read(str(tmp_path / "c.JSON"))


@pytest.mark.parametrize(
    ("data", "value"),
    [
        pytest.param(b'{"a": 1e5}', {"a": 1e5}, id="a-bracket-is-json"),
        pytest.param(b" \n[1]", [1], id="after-white-space"),
        pytest.param(b"a: 012", {"a": 12}, id="else-yaml"),
        pytest.param(b"\xef\xbb\xbfa: \xc3\xa9", {"a": "é"}, id="byte-order-mark"),
    ],
)
def test_standard_input_is_read_by_its_first_character(data, value):
    """Without a suffix, a document that begins with a bracket is JSON and any other is YAML."""
    assert documents.read("-", stdin=io.BytesIO(data)) == value


def test_the_process_own_standard_input():
    """`-` alone means the standard input of the process."""
    code = "from akka_optimize import documents; print(documents.read('-'))"
    assert subprocess.check_output([sys.executable, "-c", code], input=b"a: 1") == b"{'a': 1}\n"


UNREADABLE = [
    pytest.param(b"", "the descriptor is empty", id="empty"),
    pytest.param(b"  \n", "1:1: the document is empty", id="blank"),
    pytest.param(b"a: 1\nb: \xff\n", "2:4: the byte 0xff is not UTF-8", id="not-utf-8"),
    pytest.param(b"a: \xc3", "1:4: the byte 0xc3 is not UTF-8", id="cut-in-a-character"),
    pytest.param("a: 1".encode("utf-16"), "1:1: UTF-16; save it as UTF-8", id="utf-16"),
    pytest.param(b" " * (10 * 2**20 + 1), "the descriptor is larger than 10 MiB", id="too-large"),
]


@pytest.mark.parametrize(("data", "message"), UNREADABLE)
def test_what_cannot_be_a_document(tmp_path, data, message):
    """Bytes that are no text, none at all, or too many, are refused with the file's name."""
    path = tmp_path / "run.yaml"
    path.write_bytes(data)
    with pytest.raises(Invalid) as caught:
        documents.read(str(path), what="descriptor")
    assert str(caught.value) in (f"{path}: {message}", f"{path}:{message}")


def test_what_cannot_be_opened(tmp_path):
    """A file that is not there, a directory, and names that are none, are wrong usage."""
    (tmp_path / "run.yaml").write_text("a: 1")
    cases = {
        str(tmp_path / "missing"): "no such file",
        str(tmp_path): "a directory, where the file of the grid belongs",
        str(tmp_path / "run.yaml" / "x"): "the grid cannot be read: Not a directory",
        "a\0b": "no name of a file",
        str(tmp_path / ("x" * 300)): "the grid cannot be read: File name too long",
    }
    for path, message in cases.items():
        with pytest.raises(WrongUsage, match=message):
            documents.read(path, what="grid")


def test_an_endless_file_ends():
    """No more is read than is allowed."""
    with pytest.raises(Invalid, match="larger than 10 MiB"):
        documents.read("/dev/zero")


SCALARS = [
    ("16", 16),
    ("1e-5", 1e-5),
    ("8.0", 8.0),
    (" 8 ", 8),
    ("true", True),
    ("null", None),
    ("", None),
    ('"8"', "8"),
    ("'null'", "null"),
    ("BF16", "BF16"),
    ("my run: the second # one", "my run: the second # one"),
    ("*x", "*x"),
    ("!x", "!x"),
    ("- a", "- a"),
    ("no", "no"),
    ("[1, 2.0, x]", [1, 2.0, "x"]),
    ('{"a": 1}', {"a": 1}),
    ("{a: 1}", {"a": 1}),
    ("x [1]", "x [1]"),
]


@pytest.mark.parametrize(("text", "value"), SCALARS)
def test_a_word_on_the_command_line(text, value):
    """A value keeps its type, and text needs no quotes whatever punctuation it holds."""
    assert repr(documents.parse_scalar(text)) == repr(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (".nan", "value:1:1: .nan is not a finite number"),
        (" 1e400", "value:1:2: 1e400 is beyond the largest float"),
        ("[1", "value:1:3: not YAML: did not find expected ',' or ']'"),
        ("{a: 1, a: 2}", 'value:1:8: the key "a" appears twice; it was first on line 1'),
        ('"a" b', "value:1:5: not YAML: did not find expected <document start>"),
        ("a\udcff", "value:1:2: the lone surrogate \\udcff is half a character"),
    ],
)
def test_a_word_that_is_refused(text, message):
    """A value on the command line is refused for the same reasons as one in a document."""
    with pytest.raises(Invalid) as caught:
        documents.parse_scalar(text)
    assert str(caught.value) == message


@given(st.text(max_size=30))
def test_any_word_is_read_or_refused(text):
    """Nothing but an error of ours comes out, and what is text stays as it was typed."""
    try:
        value = documents.parse_scalar(text)
    except AkkaError:
        return
    if isinstance(value, str) and not text.lstrip().startswith(("'", '"')):
        assert value == text.strip()


def test_reading_json_loads_no_yaml():
    """PyYAML is paid for only by who reads YAML."""
    code = "import sys, akka_optimize.documents as d; d.parse('{}', source='x'); print('yaml' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code]) == b"False\n"
