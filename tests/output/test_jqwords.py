"""Which functions a jq program calls."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akka_optimize.output.jqwords import called


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("input", ["input"]),
        (". | input", ["input"]),
        ("[inputs]", ["inputs"]),
        (".[input]", ["input"]),
        ("{a: input}", ["input"]),
        ("{(input): 1}", ["input"]),
        ("{a: 1, b: input}", ["input"]),
        ("{a: [1, input]}", ["input"]),
        ('"\\(input)"', ["input"]),
        ('"a\\("b\\(input)")c"', ["input"]),
        ('@json "x\\(1 | input)"', ["input"]),
        ("reduce inputs as $i (0; .+1)", ["reduce", "inputs", "as"]),
        ("{}|input", ["input"]),
        ("{a}|[., input]", ["input"]),
        ("1 # comment\n| input", ["input"]),
        ("def f: input; f", ["def", "f", "input", "f"]),
        ("a::input", ["a::input"]),
        (".input", []),
        (".a.input?", []),
        ("..|.input", []),
        ('."input"', []),
        ('.["input"]', []),
        ("{input: 1}", []),
        ("{input}", []),
        ("{a: 1, input: 2, inputs}", []),
        ("{a:{b:1}, input}", []),
        (". as {input: $x} | $x", ["as"]),
        (". as $input | $input", ["as"]),
        ("$__loc__", []),
        ('"input"', []),
        ('"\\"input\\""', []),
        ('"\\\\(input)"', []),
        ("# input\n.", []),
        ("# one \\\n input", []),
        ("@base64", []),
        ("1e3 + .1 + 1.e3", []),
        ("", []),
        (")]}", []),
        ('"unfinished', []),
        ('"\\(', []),
    ],
)
def test_words(program, words):
    """A call is told from a field, a key, a variable, a string and a comment."""
    assert [*called(program)] == words


@given(st.text(st.sampled_from('input.,:"\\(){}[]#$@ \n1e')))
def test_any_text_is_read_to_its_end(program):
    """A broken program is left to jq to refuse: reading it neither fails nor hangs."""
    assert all(word.isidentifier() or "::" in word for word in called(program))
