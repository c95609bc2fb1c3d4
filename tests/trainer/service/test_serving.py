"""The servicer that answers now, from the start to the end of a service."""

from __future__ import annotations

import pytest

from akka_optimize import errors
from akka_optimize.protocol import convert
from akka_optimize.protocol import trainer_pb2 as pb
from akka_optimize.trainer.service.serving import Serving, Starting


class Call:
    """A caller that stays."""

    def time_remaining(self):
        return None

    def is_active(self):
        return True


class Servicer:
    """A method of each kind; `during` is called while they are at work."""

    def __init__(self, during=lambda: None):
        self.during = during

    def GetRun(self, request, call):
        self.during()
        return pb.Run(run_id=request.run_id)

    def WatchRun(self, request, call):
        while call.is_active():
            yield pb.RunEvent(run_id=request.run_id)

    def GetMetrics(self, request, call):
        for attempt in (1, 2, 3):
            yield pb.MetricsChunk(attempt=attempt)


def test_a_method_answers():
    """Each kind, as the servicer has it; one that it has not is told as such."""
    serving = Serving(Servicer())
    assert serving.method("GetRun")(pb.GetRunRequest(run_id="a"), Call()).run_id == "a"
    assert [chunk.attempt for chunk in serving.method("GetMetrics")(pb.GetMetricsRequest(), Call())] == [1, 2, 3]
    with pytest.raises(errors.Unsupported, match="GetWorkload"):
        serving.method("GetWorkload")


def test_a_service_that_ends_takes_no_call():
    """Every method, also one that it has not, is refused as for now."""
    serving = Serving(Servicer())
    serving.stop()
    for name in ("GetRun", "WatchRun", "NoSuchMethod"):
        with pytest.raises(errors.Unreachable, match="the trainer is stopping"):
            serving.method(name)
    assert serving.stopping


def test_a_call_in_flight_ends_by_itself():
    """A method that is at work when the service is told to end gives its answer, and counts until then."""
    seen = []

    def during():
        seen.append(serving.active)
        serving.stop()

    serving = Serving(Servicer(during))
    assert serving.method("GetRun")(pb.GetRunRequest(run_id="a"), Call()).run_id == "a"
    assert (seen, serving.active) == ([1], 0)


def test_a_stream_that_only_waits_is_cut():
    """The caller is told that the service ends, so that it asks again elsewhere."""
    serving = Serving(Servicer())
    events = serving.method("WatchRun")(pb.WatchRunRequest(run_id="a"), Call())
    assert next(events).run_id == "a"
    assert serving.active == 1
    serving.stop()
    with pytest.raises(errors.Unreachable, match="stopping"):
        next(events)
    assert serving.active == 0


def test_a_stream_with_an_end_comes_to_it():
    """What is being read whole is not cut in the middle."""
    serving = Serving(Servicer())
    chunks = serving.method("GetMetrics")(pb.GetMetricsRequest(), Call())
    first = next(chunks)
    serving.stop()
    assert [chunk.attempt for chunk in (first, *chunks)] == [1, 2, 3]


def test_a_caller_that_left_is_no_fault():
    """A stream whose caller is gone ends in peace, also while the service ends."""

    class Gone(Call):
        def is_active(self):
            return False

    serving = Serving(Servicer())
    events = serving.method("WatchRun")(pb.WatchRunRequest(run_id="a"), Gone())
    serving.stop()
    assert list(events) == []


def test_a_service_that_starts_says_so(tmp_path):
    """What it is at, under GetInfo; every other method is refused as for now, streams included."""
    serving = Serving(Starting(tmp_path, "counting its runs"))
    assert serving.starting
    told = convert.info(serving.method("GetInfo")(pb.GetInfoRequest(), Call()))
    assert (told.startup, told.home, told.backend) == ("counting its runs", str(tmp_path), "server")
    with pytest.raises(errors.Unreachable, match="starting: counting its runs"):
        serving.method("GetRun")(pb.GetRunRequest(), Call())
    with pytest.raises(errors.Unreachable, match="starting: counting its runs"):
        list(serving.method("WatchRun")(pb.WatchRunRequest(), Call()))
    serving.servicer = Servicer()
    assert not serving.starting
