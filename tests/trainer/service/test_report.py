"""How a service in the background tells how its start went."""

from __future__ import annotations

import json
import os

import pytest

from akka_optimize import errors
from akka_optimize.trainer.service.report import Report, failure


@pytest.fixture
def pipe():
    """A function that hands a pipe's end to a report, and one that reads what was told."""
    ours, theirs = os.pipe()
    reader = open(ours, "rb")  # noqa: SIM115

    def read():
        return [json.loads(line) for line in reader]

    yield theirs, read
    reader.close()


def test_an_address_is_told_once(pipe):
    """One line, after which the pipe is closed: an error that follows is nobody's to hear."""
    descriptor, read = pipe
    with Report(descriptor) as report:
        report.ready("http://127.0.0.1:9001")
        report.__exit__(errors.Refused, errors.Refused("too late"), None)
    assert read() == [{"address": "http://127.0.0.1:9001"}]


@pytest.mark.parametrize("kind", [errors.Conflict, errors.Exhausted, errors.TimedOut, errors.WrongUsage])
def test_an_error_comes_out_as_it_went_in(pipe, kind):
    """Kind (and with it the exit code), sentence, field and hint."""
    descriptor, read = pipe
    with pytest.raises(kind), Report(descriptor):
        raise kind("a “sentence” \udcff\n", field="port", hint="do this")
    (word,) = read()
    error = failure(word)
    assert type(error) is kind
    assert (error.message, error.field, error.hint) == ("a “sentence” \udcff\n", "port", "do this")


@pytest.mark.parametrize("text", ["x", "\U0001f600", "\udcff", '"', "\0"])
def test_a_long_error_is_cut_and_still_read(pipe, text):
    """Whatever the sentence is made of, what is told is whole JSON, and less than a pipe holds: nobody waits for it."""
    descriptor, read = pipe
    with pytest.raises(errors.Refused), Report(descriptor):
        raise errors.Refused(text * 100_000, hint=text * 100_000)
    (word,) = read()
    assert len(json.dumps(word)) < 1 << 16
    assert failure(word).message == text * len(failure(word).message)
    assert len(failure(word).message) >= 1000


def test_a_fault_of_ours_tells_nothing(pipe):
    """What is no error of ours is in the log, with its traceback; the pipe just ends."""
    descriptor, read = pipe
    with pytest.raises(ZeroDivisionError), Report(descriptor):
        raise ZeroDivisionError
    os.close(descriptor)
    assert read() == []


def test_nobody_may_be_waiting():
    """A reader that has left, or that never was, is no trouble."""
    ours, theirs = os.pipe()
    os.close(ours)
    Report(theirs).ready("http://127.0.0.1:9001")
    Report(None).ready("http://127.0.0.1:9001")
