"""Chat rows as tokens: one per UTF-8 byte, and a few that mark the turns.

    <begin> <system> …bytes… <end> <user> …bytes… <end> <assistant> …bytes… <end>

A turn opens with its role's token and closes with <end>. Trained are the bytes of every assistant turn and its <end>,
so that a model learns what to say and when to stop. Any text has exactly one encoding, and no text can forge a marker.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from akka_optimize.errors import Invalid
from akka_optimize.trainer.engines import Tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from akka_optimize.records import Document

PAD = 256
BEGIN = 257
END = 258
ROLES = {"system": 259, "user": 260, "assistant": 261, "tool": 262}
VOCABULARY = 264  # a multiple of eight; the last id is unused


def encode(row: Document) -> Tokens:
    """The row's tokens, uncut: `ids` uint16 (tokens,), `trained` bool (tokens,). Raises Invalid.

    >>> encode({"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]}).ids.tolist()
    [257, 260, 104, 105, 258, 261, 104, 111, 258]
    """
    ids = [np.array([BEGIN], np.uint16)]
    trained = [np.zeros(1, bool)]
    for role, content in _turns(row):
        turn = np.empty(len(content) + 2, np.uint16)
        turn[0] = ROLES[role]
        turn[1:-1] = np.frombuffer(content, np.uint8)
        turn[-1] = END
        mark = np.full(len(turn), role == "assistant")
        mark[0] = False  # the trainer says whose turn it is, not the model
        ids.append(turn)
        trained.append(mark)
    return Tokens(np.concatenate(ids), np.concatenate(trained))


def prompt(row: Document) -> np.ndarray:
    """The row's tokens, uint16, with an assistant turn opened after them: what a model is given to answer."""
    return np.append(encode(row).ids, np.uint16(ROLES["assistant"]))


def text(ids: Iterable[int]) -> str:
    """The bytes among `ids`, up to the first <end>, as text; what is no UTF-8 becomes U+FFFD."""
    content = bytearray()
    for token in ids:
        if token == END:
            break
        if token < 256:
            content.append(token)
    return content.decode(errors="replace")


def _turns(row: Document) -> list[tuple[str, bytes]]:
    messages = row.get("messages")
    if not isinstance(messages, list) or not messages:
        raise Invalid("A row needs a list of messages.", field="messages")
    turns = []
    for at, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(role, str) or role not in ROLES:
            raise Invalid(f"A message's role is one of {', '.join(ROLES)}, not {role!r}.", field=f"messages[{at}].role")
        if not isinstance(message.get("content"), str):
            raise Invalid("A message's content is text.", field=f"messages[{at}].content")
        turns.append((role, message["content"].encode()))
    return turns
