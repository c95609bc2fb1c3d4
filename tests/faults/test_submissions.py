"""A submission whose reply is lost is sent again under its token, and makes nothing twice."""

from __future__ import annotations

import secrets

import pytest
from support import life, parents
from support.network_faults import PATIENCE
from support.proxy import Fault, proxy
from support.service import served
from support.transports import CLIENTS

from akka_optimize import errors
from akka_optimize.client.trainer import Trainer
from akka_optimize.client.transport.retrying import RetryingTransport
from akka_optimize.trainer import launch
from akka_optimize.trainer.servicer import Servicer

PARTS = 5  # cuts in each exchange, from before its first byte to after its last


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with one trained run, behind the service; nothing works off its queue. The catalog, the run, host:port."""
    monkeypatch.setattr(launch, "ensure_worker", lambda *_args, **_options: None)
    opened, catalog = life.open_home(tmp_path)
    parent = parents.trained(catalog, opened)
    with served(Servicer(opened, catalog, backend="server")) as host:
        yield catalog, parent, host
    catalog.close()


def start(token, trainer, _catalog, _parent):
    """One run; its id."""
    return {trainer.start_run(life.descriptor({"submissionId": token})).run_id}


def fan(token, trainer, catalog, parent):
    """Three children; their ids."""
    snapshot = catalog.snapshots(parent.run_id, limit=1).items[0]
    asked = parents.asked(snapshot, *parents.rates(3), submission_id=token)
    return {point.child_run_id for point in trainer.submit_branches(asked).points}


def repeat(token, trainer, _catalog, parent):
    """Two repeats; their ids."""
    return {run.run_id for run in trainer.repeat_run(parent.run_id, times=2, submission_id=token).runs}


def length(client, host, submit, *known):
    """Bytes each way of one submission that goes well."""
    with proxy(host) as passing, CLIENTS[client](passing.host) as transport:
        submit(secrets.token_hex(16), Trainer(transport, timeout=PATIENCE), *known)
        return dict(passing.carried)


SUBMISSIONS = {"a run": (start, 1), "three branches": (fan, 3), "two repeats": (repeat, 2)}


@pytest.fixture(params=SUBMISSIONS)
def submission(request):
    return SUBMISSIONS[request.param]


@pytest.mark.parametrize("side", ["up", "down"])
@pytest.mark.parametrize("client", CLIENTS)
def test_a_submission_that_is_cut_is_tried_again_and_made_once(home, submission, client, side):
    """Wherever the connection ends: the command succeeds, and there is each thing once."""
    (catalog, parent, host), (submit, count) = home, submission
    whole = length(client, host, submit, catalog, parent)[side]
    for part in range(PARTS):
        token, before = secrets.token_hex(16), catalog.runs().total
        fault = Fault("cut", side, whole * part // (PARTS - 1), times=1)
        with proxy(host, fault) as failing, CLIENTS[client](failing.host) as transport:
            made = submit(token, Trainer(RetryingTransport(transport), timeout=PATIENCE), catalog, parent)
        assert len(made) == count
        assert catalog.runs().total == before + count
        assert {run.run_id for run in catalog.runs(limit=count).items} == made


@pytest.mark.parametrize("client", CLIENTS)
def test_a_submission_that_was_given_up_is_made_once_by_the_next(home, submission, client):
    """Nobody knows whether a lost reply had a submission behind it; the same one again leaves each thing once."""
    (catalog, parent, host), (submit, count) = home, submission
    unknown, whole = [], length(client, host, submit, catalog, parent)["down"]
    for part in range(PARTS):
        token, before = secrets.token_hex(16), catalog.runs().total
        fault = Fault("cut", "down", whole * part // PARTS)
        lost = pytest.raises(errors.Unreachable)
        with proxy(host, fault) as failing, CLIENTS[client](failing.host) as transport, lost:
            submit(token, Trainer(transport, timeout=PATIENCE), catalog, parent)
        with CLIENTS[client](host) as transport:
            made = submit(token, Trainer(transport, timeout=PATIENCE), catalog, parent)
        unknown.append(catalog.runs().total - before)
        assert len(made) == count
    assert unknown == [count] * PARTS
