"""`datasets create`."""

from __future__ import annotations

from unittest.mock import ANY, call

import pytest
from support.commands_fake import DATASET, carry_out

from akka_optimize.errors import Invalid

ROW = '{"messages": []}\n'


def uploaded(sent: list[bytes]):
    """An answer that keeps what it was given to upload."""

    def create_dataset(source, *, name):
        sent.append(source.read())
        return DATASET

    return create_dataset


def test_a_file_is_handed_to_the_client(tmp_path):
    """The bytes of the file are uploaded under the name given, and the dataset is the one record emitted."""
    (tmp_path / "rows.jsonl").write_text(ROW)
    sent: list[bytes] = []
    argv = ["datasets", "create", "-f", str(tmp_path / "rows.jsonl"), "--name", "x"]
    done = carry_out(argv, create_dataset=uploaded(sent))
    assert (done.code, done.emitted, sent) == (0, [DATASET], [ROW.encode()])
    assert done.calls == [call.create_dataset(ANY, name="x")]


def test_a_dash_is_standard_input():
    """`-f -` uploads what is piped in; without --name it gets no name."""
    sent: list[bytes] = []
    done = carry_out("datasets create -f -", stdin=ROW, create_dataset=uploaded(sent))
    assert (done.code, sent, done.calls) == (0, [ROW.encode()], [call.create_dataset(ANY, name=None)])


@pytest.mark.parametrize(("path", "reason"), [("nowhere", "No such file"), (".", "Is a directory")])
def test_a_file_that_cannot_be_read_costs_no_request(path, reason):
    """It is wrong usage, told by its name."""
    done = carry_out(["datasets", "create", "-f", path])
    assert (done.code, done.out, done.calls) == (2, "", [])
    assert f"{path}: the file of examples cannot be read: {reason}" in done.err


def test_a_row_that_is_refused_is_told_by_its_line():
    """What the service finds wrong is the command's error; nothing is emitted."""
    done = carry_out("datasets create -f -", stdin=ROW, create_dataset=Invalid("line 1: no messages"))
    assert (done.code, done.out, done.emitted) == (1, "", [])
    assert "line 1: no messages" in done.err


def test_without_a_file_it_is_wrong_usage():
    """-f is required, and said to be."""
    done = carry_out("datasets create --name x")
    assert (done.code, done.calls) == (2, [])
    assert "--file is missing" in done.err
