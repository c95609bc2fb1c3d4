"""Chat rows as tokens."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from akka_optimize.errors import Invalid
from akka_optimize.trainer.engines import engine
from akka_optimize.trainer.engines.decoder import tokens

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
CHATS = st.lists(st.tuples(st.sampled_from(["system", "user", "assistant", "tool"]), TEXT), min_size=1, max_size=6)


def chat(turns):
    """A row of (role, content) turns."""
    return {"messages": [{"role": role, "content": content} for role, content in turns]}


def naive(turns):
    """Ids and marks, written out one by one from the template."""
    ids, trained = [tokens.BEGIN], [False]
    for role, content in turns:
        ids.append({"system": 259, "user": 260, "assistant": 261, "tool": 262}[role])
        trained.append(False)
        for byte in content.encode("utf-8"):
            ids.append(byte)
            trained.append(role == "assistant")
        ids.append(tokens.END)
        trained.append(role == "assistant")
    return ids, trained


@given(CHATS)
def test_encoding_follows_the_template(turns):
    """Ids and marks are those of the template written out; one id per byte, uint16, and one mark per id."""
    row = tokens.encode(chat(turns))
    assert (row.ids.dtype, row.trained.dtype) == (np.uint16, bool)
    assert (row.ids.tolist(), row.trained.tolist()) == naive(turns)


@given(CHATS, CHATS)
def test_no_two_chats_have_one_encoding(a, b):
    """Whatever a text holds, it cannot pass for a turn's mark."""
    assert (a == b) == (tokens.encode(chat(a)).ids.tolist() == tokens.encode(chat(b)).ids.tolist())


def test_an_assistants_end_is_trained_and_its_beginning_is_not():
    """A model learns to stop; whose turn it is, it is told."""
    row = tokens.encode(chat([("user", "a"), ("assistant", "b")]))
    assert row.ids[row.trained].tolist() == [ord("b"), tokens.END]


@given(TEXT)
def test_text_comes_back(content):
    """What was encoded is read back up to the end of the turn, whatever comes after it."""
    ids = [*content.encode(), tokens.END, *b"more"]
    assert tokens.text(ids) == content


def test_broken_bytes_are_shown_as_such():
    """A model may write bytes that are no text."""
    assert tokens.text([0xFF, ord("a"), tokens.ROLES["user"]]) == "\ufffda"


def test_a_prompt_leaves_the_turn_to_the_assistant():
    """What a model is given ends in an opened assistant turn."""
    row = chat([("user", "a")])
    assert tokens.prompt(row).tolist() == [*tokens.encode(row).ids.tolist(), tokens.ROLES["assistant"]]


@pytest.mark.parametrize(
    ("length", "fits"),
    [
        pytest.param(4, False, id="cut-before-the-answer"),
        pytest.param(5, False, id="only-the-role-is-left"),
        pytest.param(6, True, id="one-byte-of-the-answer-is-left"),
        pytest.param(512, True, id="uncut"),
    ],
)
def test_a_row_fits_while_any_of_its_answer_is_left(length, fits):
    """`<begin> <user> a <end> <assistant> b <end>`: the sixth token is the first that is trained."""
    assert tokens.encode(chat([("user", "a"), ("assistant", "b")])).fits(length) is fits


@pytest.mark.parametrize(
    ("row", "field"),
    [
        pytest.param({}, "messages", id="no-messages"),
        pytest.param({"messages": []}, "messages", id="empty"),
        pytest.param({"messages": "hi"}, "messages", id="no-list"),
        pytest.param({"messages": ["hi"]}, "messages[0].role", id="no-message"),
        pytest.param(chat([("user", "a"), ("robot", "b")]), "messages[1].role", id="unknown-role"),
        pytest.param({"messages": [{"role": ["user"], "content": "a"}]}, "messages[0].role", id="role-no-text"),
        pytest.param({"messages": [{"role": "user", "content": None}]}, "messages[0].content", id="content-no-text"),
    ],
)
def test_what_is_no_chat_is_refused_with_its_place(row, field):
    """The error names the message that is at fault."""
    with pytest.raises(Invalid) as caught:
        tokens.encode(row)
    assert caught.value.field == field


def test_the_engine_encodes_without_torch():
    """Datasets are tokenised by commands that must not wait for torch."""
    code = (
        "import sys; from akka_optimize.trainer.engines import engine;"
        "engine('decoder').encode({'messages': [{'role': 'user', 'content': 'a'}]}); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    assert engine("decoder").encode(chat([("user", "a")])).ids.tolist() == [257, 260, 97, 258]
