"""The YAML reader: the 1.2 core schema, the same documents as JSON, and refusals that say what and where."""

from __future__ import annotations

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from akka_optimize import documents
from akka_optimize.documents.limits import MOST_NODES
from akka_optimize.errors import AkkaError, Invalid

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20)
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
)
PARSERS = [pytest.param(True, id="in-c"), pytest.param(False, id="in-python")]


@pytest.fixture(params=PARSERS)
def either_parser(request, monkeypatch):
    """PyYAML with its parser in C, and without it as it is where no wheel was built."""
    if request.param:
        assert hasattr(yaml, "CSafeLoader")
    else:
        monkeypatch.delattr(yaml, "CSafeLoader")


def parse(text):
    """The value of a YAML text."""
    return documents.parse(text, source="run.yaml")


def outcome(text):
    """The value and no message, or no value and the message of a refusal."""
    try:
        return parse(text), None
    except AkkaError as error:
        return None, str(error)


SCALARS = [
    ("null", None),
    ("Null", None),
    ("NULL", None),
    ("~", None),
    ("", None),
    ("nULL", "nULL"),
    ("true", True),
    ("True", True),
    ("TRUE", True),
    ("tRUE", "tRUE"),
    ("false", False),
    ("yes", "yes"),
    ("no", "no"),
    ("on", "on"),
    ("off", "off"),
    ("y", "y"),
    ("0", 0),
    ("012", 12),
    ("-12", -12),
    ("+12", 12),
    ("0o17", 15),
    ("0xfF", 255),
    ("-0x1", "-0x1"),
    ("0b11", "0b11"),
    ("1_000", "1_000"),
    ("190:20:30", "190:20:30"),
    ("1e-5", 1e-5),
    ("1E5", 1e5),
    ("8.0", 8.0),
    ("8.", 8.0),
    (".5", 0.5),
    ("-.5e1", -5.0),
    ("+1.5", 1.5),
    ("-0.0", -0.0),
    (".", "."),
    ("1e", "1e"),
    ("e5", "e5"),
    ("1.2.3", "1.2.3"),
    ("١", "١"),
    ("inf", "inf"),
    ("NaN", "NaN"),
    ("2024-01-01", "2024-01-01"),
    ("2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z"),
    ("=", "="),
    ("'8'", "8"),
    ('"1e-5"', "1e-5"),
    ('""', ""),
    ('"\\x41\\u00e9\\U0001f600"', "Aé😀"),
    ("|\n  no\n", "no\n"),
    (">-\n  12\n  13\n", "12 13"),
]


@pytest.mark.usefixtures("either_parser")
@pytest.mark.parametrize(("word", "value"), SCALARS, ids=[word.split("\n")[0] or "empty" for word, _ in SCALARS])
def test_core_schema(word, value):
    """An unquoted word means what the 1.2 core schema says; anything quoted is text."""
    assert repr(parse(f"a: {word}")) == repr({"a": value})


DOCUMENTS = [
    pytest.param("kind: run\nconfig:\n  seed: 1 # why\n", {"kind": "run", "config": {"seed": 1}}, id="block"),
    pytest.param("{kind: run, list: [1, {a: b}]}", {"kind": "run", "list": [1, {"a": "b"}]}, id="flow"),
    pytest.param("%YAML 1.2\n---\na: 1\n...\n", {"a": 1}, id="directive-and-markers"),
    pytest.param("\ufeffa: 1", {"a": 1}, id="byte-order-mark"),
    pytest.param("a: 1\r\nb: 2\r\n", {"a": 1, "b": 2}, id="carriage-returns"),
    pytest.param("a: &x {b: [1]}\nc: *x\n", {"a": {"b": [1]}, "c": {"b": [1]}}, id="alias"),
    pytest.param("a: &x 1\nb: &x 2\nc: *x\n", {"a": 1, "b": 2, "c": 2}, id="anchor-again"),
    pytest.param("&k a: 1\nb: *k\n", {"a": 1, "b": "a"}, id="anchored-key"),
    pytest.param("a: &k b\n*k : 1\n", {"a": "b", "b": 1}, id="alias-as-key"),
    pytest.param("no: off\n", {"no": "off"}, id="words-as-keys"),
    pytest.param('"<<": 1\n', {"<<": 1}, id="quoted-merge-key-is-text"),
    pytest.param("? a\n: 1\n", {"a": 1}, id="explicit-key"),
    pytest.param("# nothing\n---\n", None, id="null-document"),
    pytest.param("[" * 64 + "]" * 64, None, id="deepest"),
]


@pytest.mark.usefixtures("either_parser")
@pytest.mark.parametrize(("text", "value"), DOCUMENTS)
def test_structure(text, value):
    """Blocks, flows, aliases and markers make the document that they stand for."""
    found = documents.parse(text, source="run.yaml")
    assert found == value or text.startswith("[[")


def test_an_alias_is_a_copy():
    """Changing one of two equal parts leaves the other as it was."""
    found = parse("a: &x [1]\nb: *x\n")
    found["a"].append(2)
    assert found["b"] == [1]


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, 9)
)
STAIRS = "a0: &a0 []\n" + "".join(f"a{level}: &a{level} [*a{level - 1}]\n" for level in range(1, 70))

REFUSED = [
    ("", "1:1: the document is empty"),
    ("a: 1\nb: 2\na: 3", '3:1: the key "a" appears twice; it was first on line 1'),
    ('{a: 1, "a": 2}', '1:8: the key "a" appears twice; it was first on line 1'),
    ("a: !!int 3", "1:4: a tag; write the value without it, in quotes where it is text"),
    ("!mine {a: 1}", "1:1: a tag; write the value without it, in quotes where it is text"),
    ("- !!python/name:os.system x", "1:3: a tag; write the value without it, in quotes where it is text"),
    ("- ! x", "1:3: a tag; write the value without it, in quotes where it is text"),
    ("8: a", "1:1: a key that is not text; write it in quotes"),
    ("true: a", "1:1: a key that is not text; write it in quotes"),
    ("~: a", "1:1: a key that is not text; write it in quotes"),
    ("? [a]\n: 1", "1:3: a mapping or list as a key; write text"),
    ("{{a: 1}: 2}", "1:2: a mapping or list as a key; write text"),
    ("a: &k [1]\n*k : 2", "2:1: a key that is not text; write it in quotes"),
    ("<<: {a: 1}", '1:1: the merge key "<<" is not part of YAML 1.2; write the fields out'),
    ("a: *b", "1:4: the alias *b names nothing before it"),
    ("a: &b [*b]", "1:8: the alias *b stands within what it names"),
    (BOMB, f"5:45: the document holds more than {MOST_NODES} values"),
    (STAIRS, "64:12: nested more than 64 deep"),
    ("a: .inf", "1:4: .inf is not a finite number"),
    ("a: -.INF", "1:4: -.INF is not a finite number"),
    ("a: .nan", "1:4: .nan is not a finite number"),
    ("a: 1e400", "1:4: 1e400 is beyond the largest float"),
    ("a: 1e-400", "1:4: 1e-400 is below the smallest float"),
    ("a: " + "9" * 5000, "1:4: an integer of 5000 digits; at most 640 are read"),
    ("a: 0x" + "f" * 5000, "1:4: an integer of 5000 digits; at most 640 are read"),
    ("[" * 65 + "]" * 65, "1:65: nested more than 64 deep"),
    ("a: 1\n---\nb: 2", "2:1: a second document begins; write one"),
    ("%YAML 1.1\n--- a", "1:1: a %YAML directive of another version; documents are read as YAML 1.2"),
    ("%TAG ! tag:x,2000:\n--- a", "1:1: a %TAG directive; write the document without tags"),
    ("a: \ud800", "1:4: the lone surrogate \\ud800 is half a character"),
    ("a: \0", "1:4: a NUL character"),
    ("a: \x07", "1:4: the character U+0007; write it as an escape in double quotes"),
    ("a: \u2028", "1:4: the character U+2028; write it as an escape in double quotes"),
    ("a: \x85", "1:4: the character U+0085; write it as an escape in double quotes"),
    ("é: \ufeff", "1:4: the character U+FEFF; write it as an escape in double quotes"),
    ("a:\n\t- b", "2:1: a tab where YAML wants spaces"),
    ("a: b: c", "1:5: not YAML: mapping values are not allowed in this context"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[f"{number}" for number in range(len(REFUSED))])
def test_refuses(text, message):
    """Each fault is told in a sentence, with line and column."""
    with pytest.raises(Invalid) as caught:
        parse(text)
    assert str(caught.value) == f"run.yaml:{message}"


@pytest.mark.parametrize("text", [text for text, _ in REFUSED], ids=[f"{number}" for number in range(len(REFUSED))])
def test_refuses_without_the_parser_in_c(text, monkeypatch):
    """The slower parser refuses the same documents."""
    monkeypatch.delattr(yaml, "CSafeLoader")
    with pytest.raises(Invalid, match=r"^run.yaml:\d+:\d+: "):
        parse(text)


BROKEN = [
    "a: [",
    "a: 'x",
    "- a\nb: c",
    "äö: }",
    "a: @x",
    "a: `x",
    '"\\ud800"',
    "&",
    "*",
    "a: |x",
    "%",
    "%YAML 9.9.9\n---",
]


@pytest.mark.usefixtures("either_parser")
@pytest.mark.parametrize("text", BROKEN)
def test_broken_yaml_is_placed(text):
    """What PyYAML itself refuses comes out with line and column, as its own reason."""
    with pytest.raises(Invalid, match=r"^run.yaml:\d+:\d+: (not YAML: \w|the lone surrogate)"):
        parse(text)


@pytest.mark.parametrize("repeated", ["{}", "[{}]", "{{k: {}}}"], ids=["text", "in-a-list", "in-a-mapping"])
def test_an_alias_of_long_text_counts_by_its_length(repeated):
    """Repeating a long text by aliases cannot make a document that is far larger than what was read."""
    text = f"a: &a {repeated.format('x' * 1_000_000)}\nb: [{', '.join(['*a'] * 1000)}]\n"
    with pytest.raises(Invalid, match="more than 100000 values"):
        parse(text)


@given(VALUES)
def test_reads_json(value):
    """A JSON text is the same document to both readers."""
    text = json.dumps(value, ensure_ascii=False)
    found, message = outcome(text)
    if message:
        assert "write it as an escape" in message
        assert not text.isprintable()
    else:
        assert repr(found) == repr(documents.parse(text, source="run.json"))


class Quoting(yaml.SafeDumper):
    """A writer of YAML 1.1 that quotes all text, as the two versions take unquoted words differently."""


Quoting.add_representer(str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"'))


@given(VALUES, st.sampled_from([None, False, True]), st.booleans())
def test_reads_what_a_yaml_writer_writes(value, flow, escaped):
    """Documents that PyYAML writes, in whichever style, come back whole, floats bit for bit."""
    text = yaml.dump(value, Dumper=Quoting, allow_unicode=not escaped, default_flow_style=flow, sort_keys=False)
    assert repr(parse(text)) == repr(value)


@given(st.text(st.sampled_from("{}[]:,\"'\\ \n\t01.e-+ab&*!|>%@?#~<\ud800\0é\r"), max_size=40) | st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    """Nothing but an error of ours comes out, and what is accepted can be written as JSON and read back."""
    value, message = outcome(text)
    if message:
        assert message.startswith("run.yaml:")
    else:
        assert documents.parse(documents.dumps(value), source="run.json") == value


@given(st.text(st.sampled_from("{}[]:,\"' \n01.e-ab&*|?#"), max_size=25))
def test_both_parsers_agree(text):
    """Where both of PyYAML's parsers read a text, they make one document of it."""
    in_c, refused_in_c = outcome(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(yaml, "CSafeLoader")
        in_python, refused_in_python = outcome(text)
    assert refused_in_c or refused_in_python or repr(in_c) == repr(in_python)
