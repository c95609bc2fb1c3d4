"""Every service is asked, once and at the same time, and whatever it says is an answer of ours."""

from __future__ import annotations

from threading import Barrier, Event

import pytest
from support.commands_fake import INFO

from akka_optimize import errors
from akka_optimize.actions.status import Service, status


class Fake:
    """A client of one service: says what it is told to, or raises it; remembers how often, and that it was closed."""

    def __init__(self, answer, *, before=lambda: None) -> None:
        self.answer, self.before = answer, before
        self.asked = self.closed = 0

    def _say(self):
        self.asked += 1
        self.before()
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer

    def close(self) -> None:
        self.closed += 1


class FakeTrainer(Fake):
    """The trainer."""

    def info(self):
        return self._say()


class FakeHealth(Fake):
    """The other one."""

    def check(self, *, timeout):
        return self._say()


def service(client, name="trainer"):
    """A service whose client is made when it is asked."""
    return Service(name, "http://x", "TRAINER_URL", None, lambda: client)


def only(client):
    """What is told of one service."""
    (told,) = status([service(client)], timeout=5.0)
    return told


def test_a_trainer_that_answers():
    """Its release, what it is, and how long that took."""
    client = FakeTrainer(INFO)
    told = only(client)
    assert (told.answers, told.version, told.message) == (True, "0.1.0", "embedded, start complete")
    assert (told.name, told.address, told.source) == ("trainer", "http://x", "TRAINER_URL")
    assert told.milliseconds is not None
    assert (client.asked, client.closed) == (1, 1)


def test_the_other_service_tells_how_it_is():
    """Its health check has no release."""
    told = only(FakeHealth("serving"))
    assert (told.answers, told.version, told.message) == (True, None, "serving")


@pytest.mark.parametrize("error", [errors.Unreachable("nobody"), errors.TimedOut("late")])
def test_nobody_there(error):
    """One try, no exception: the sentence stands in the record, and there is no time."""
    client = FakeTrainer(error)
    told = only(client)
    assert (told.answers, told.milliseconds, told.message) == (False, None, error.message)
    assert (client.asked, client.closed) == (1, 1)


@pytest.mark.parametrize("kind", [errors.Unauthenticated, errors.Unsupported, errors.Internal, errors.Refused])
def test_a_refusal_is_an_answer(kind):
    """Whoever says no is there."""
    told = only(FakeTrainer(kind("no")))
    assert (told.answers, told.message) == (True, "no")
    assert told.milliseconds is not None


def test_a_client_that_cannot_be_made_is_told_of():
    """A token file that is missing, an extra that is not installed: nothing was asked, and the reason is said."""

    def connect():
        raise errors.Unauthenticated("no such file")

    (told,) = status([Service("trainer", "http://x", "y", None, connect)], timeout=5.0)
    assert (told.answers, told.message) == (False, "no such file")


@pytest.mark.parametrize("error", [errors.WrongUsage("ca"), RuntimeError("a fault of ours")])
def test_wrong_usage_and_faults_go_through(error):
    """A bad certificate file, or something that must not happen, is not a service's answer."""

    def connect():
        raise error

    with pytest.raises(type(error), match=str(error)):
        status([Service("trainer", "http://x", "y", None, connect)], timeout=5.0)


def test_all_are_asked_at_the_same_time():
    """Each waits for the other to have been asked; their order is kept."""
    together = Barrier(2, timeout=5.0)
    clients = [FakeTrainer(INFO, before=together.wait), FakeHealth("serving", before=together.wait)]
    told = status([service(clients[0]), service(clients[1], "optimize")], timeout=5.0)
    assert [(each.name, each.answers) for each in told] == [("trainer", True), ("optimize", True)]


def test_one_that_never_answers_holds_nobody_up(monkeypatch):
    """The time is over for all together; the others have their answers."""
    monkeypatch.setattr("akka_optimize.actions.status.SPARE", 0.0)
    let_go = Event()
    stuck = FakeTrainer(INFO, before=lambda: let_go.wait(10.0))
    told = status([service(stuck), service(FakeHealth("serving"), "optimize")], timeout=0.2)
    let_go.set()
    assert [(each.answers, each.message) for each in told] == [(False, "it did not answer in time"), (True, "serving")]
