"""The JSON reader: what it accepts is what json accepts, and every refusal says what and where."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akka_optimize import documents
from akka_optimize.errors import AkkaError, Invalid

LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20).filter(lambda text: "\0" not in text)
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
)


def parse(text):
    """The value of a JSON text."""
    return documents.parse(text, source="run.json")


def outcome(text):
    """The value and no message, or no value and the message of a refusal."""
    try:
        return parse(text), None
    except AkkaError as error:
        return None, str(error)


@given(VALUES, st.booleans(), st.sampled_from([None, 2]))
def test_reads_what_json_writes(value, ascii_only, indent):
    """Every document survives, with every number's type and bits, however it was written."""
    assert repr(parse(json.dumps(value, ensure_ascii=ascii_only, indent=indent))) == repr(value)


@given(VALUES)
def test_dumps_is_read_back(value):
    """What `dumps` writes stands for the same document, on one line."""
    text = documents.dumps(value)
    assert "\n" not in text
    assert repr(parse(text)) == repr(value)


ACCEPTED = [
    pytest.param("\ufeff{}", {}, id="byte-order-mark"),
    pytest.param(" \t\r\n[ 1 , 2 ] \n", [1, 2], id="white-space"),
    pytest.param('"\\ud83d\\ude00"', "😀", id="surrogate-pair"),
    pytest.param('"\\u0000\\/"', "\0/", id="escapes"),
    pytest.param("8.0", 8.0, id="float-stays-float"),
    pytest.param("1e5", 1e5, id="exponent-is-float"),
    pytest.param("-0", 0, id="minus-zero-integer"),
    pytest.param("[" * 64 + "]" * 64, None, id="deepest"),
    pytest.param("9" * 640, int("9" * 640), id="longest-integer"),
    pytest.param("0.0e-999", 0.0, id="zero-with-an-exponent"),
]


@pytest.mark.parametrize(("text", "value"), ACCEPTED)
def test_accepts(text, value):
    """Unusual but legal documents are read."""
    found = parse(text)
    assert value is None or repr(found) == repr(value)


REFUSED = [
    ("", "1:1: the document is empty"),
    (" \n ", "1:1: the document is empty"),
    ('{"a": 1,\n "a": 2}', '2:2: the key "a" appears twice; it was first on line 1'),
    ('{"a": {"b": 1, "b": 1}}', '1:16: the key "b" appears twice; it was first on line 1'),
    ("[NaN]", "1:2: NaN is no JSON"),
    ("[Infinity]", "1:2: Infinity is no JSON"),
    ("[-Infinity]", "1:2: -Infinity is no JSON"),
    ("[1e400]", "1:2: 1e400 is beyond the largest float"),
    ("[-1e400]", "1:2: -1e400 is beyond the largest float"),
    ("[1e-400]", "1:2: 1e-400 is below the smallest float"),
    ('["\\ud800"]', "1:2: the lone surrogate \\ud800 is half a character"),
    ('{"\\udc00x": 1}', "1:2: the lone surrogate \\udc00 is half a character"),
    ('["\ud800"]', "1:3: the lone surrogate \\ud800 is half a character"),
    ('["\0"]', "1:3: a NUL character"),
    ("[" * 65 + "]" * 65, "1:65: nested more than 64 deep"),
    ('{"a":' * 65 + "1" + "}" * 65, "1:321: nested more than 64 deep"),
    ("[" * 100_000, "1:65: nested more than 64 deep"),
    ("9" * 641, "1:1: an integer of 641 digits; at most 640 are read"),
    ("9" * 5000, "1:1: an integer of 5000 digits; at most 640 are read"),
    ('{"a": 1} x', "1:10: 'x' after the end of the document"),
    ("{}{}", "1:3: '{' after the end of the document"),
    ('{"a": 1,}', "1:8: a comma before '}'"),
    ("[1,]", "1:3: a comma before ']'"),
    ("[1,,2]", "1:4: ',' where a value belongs"),
    ("[1 2]", "1:4: '2' where ',' or ']' belongs"),
    ("[1\n2]", "2:1: '2' where ',' or ']' belongs"),
    ("{kind: run}", "1:2: 'kind' where a key in double quotes belongs"),
    ("{1: 2}", "1:2: '1' where a key in double quotes belongs"),
    ('{"a" 1}', "1:6: '1' where ':' belongs"),
    ("{'a': 1}", '1:2: "\'" where a key in double quotes belongs'),
    ("// no\n{}", "1:1: '/' where a value belongs"),
    ("[01]", "1:2: '01' where a value belongs"),
    ("[+1]", "1:2: '+1' where a value belongs"),
    ("[.5]", "1:2: '.5' where a value belongs"),
    ("[1.]", "1:2: '1.' where a value belongs"),
    ("[0x10]", "1:2: '0x10' where a value belongs"),
    ("[True]", "1:2: True is no JSON; write true"),
    ("[None]", "1:2: None is no JSON; write null"),
    ("nul", "1:1: 'nul' where a value belongs"),
    ("١", "1:1: '١' where a value belongs"),
    ("\x07", "1:1: the character U+0007 where a value belongs"),
    ('{"a": 1', "1:8: the document ends where ',' or '}' belongs"),
    ('{"a":', "1:6: the document ends where a value belongs"),
    ("{", "1:2: the document ends where a key in double quotes belongs"),
    ('["abc', "1:2: a string that is not closed"),
    ('["a\nb"]', "1:4: a control character in a string; write it as an escape"),
    ('["\\x"]', "1:3: an escape that JSON does not have"),
    ('["\\u12"]', "1:4: an escape without its four hex digits"),
    ("[" + "0," * 100_000 + "0]", "1:200000: the document holds more than 100000 values"),
    (" " * (10 * 2**20) + "{}", "1:1: the document is larger than 10 MiB"),
]


@pytest.mark.parametrize(("text", "message"), REFUSED, ids=[f"{number}" for number in range(len(REFUSED))])
def test_refuses(text, message):
    """Each fault is told in a sentence, with line and column."""
    with pytest.raises(Invalid) as caught:
        parse(text)
    assert str(caught.value) == f"run.json:{message}"


@given(st.text(st.sampled_from('{}[]:,"\\ \n\t0123.eE+-aunltrfs\ud800\0é'), max_size=40) | st.text(max_size=40))
def test_any_text_is_read_or_refused(text):
    """Nothing but an error of ours comes out, and what is accepted is what json makes of it."""
    value, message = outcome(text)
    if message:
        assert message.startswith("run.json:")
    else:
        assert repr(value) == repr(json.loads(text.removeprefix("\ufeff")))


@given(st.text(st.sampled_from('{}[]:,"0123.e-a'), max_size=12))
def test_refuses_only_what_json_refuses_or_what_is_written_down(text):
    """A text that json reads is read, but for repeated keys and numbers out of reach."""
    try:
        json.loads(text)
    except ValueError:
        return
    _, message = outcome(text)
    assert not message or any(reason in message for reason in ("appears twice", "largest float", "smallest float"))


@pytest.mark.parametrize(
    "value", [float("nan"), [float("inf")], {"a": {1, 2}}, [10**5000]], ids=["nan", "inf", "set", "wide"]
)
def test_dumps_refuses_what_is_no_json(value):
    """A document that no reader could take is an error of ours, and never half a text."""
    with pytest.raises(Invalid, match="cannot be written as JSON"):
        documents.dumps(value)
