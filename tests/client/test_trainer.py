"""What the client adds to a request of its own."""

from __future__ import annotations

import json

from support.curves import a_run

from akka_optimize.client.trainer import Trainer
from akka_optimize.protocol import convert


class Starting:
    """A transport that starts a run, and keeps the descriptors that it was sent."""

    def __init__(self):
        self.sent = []

    def unary(self, method, request, reply, *, timeout):
        assert method == "StartRun"
        self.sent.append(json.loads(request.descriptor_json))
        return convert.to_run(a_run("7d496e82c3a15f04"))


def test_a_descriptor_without_a_token_gets_one():
    """A new one for each start; one that it has is sent as it is, and the document itself stays what it was."""
    transport, document = Starting(), {"kind": "run"}
    for wanted in (document, document, {**document, "submissionId": None}, {**document, "submissionId": "mine"}):
        Trainer(transport, timeout=5).start_run(wanted)
    tokens = [sent["submissionId"] for sent in transport.sent]
    assert tokens[3] == "mine"
    assert len(set(tokens)) == 4
    assert all(len(token) == 32 for token in tokens[:3])
    assert document == {"kind": "run"}


def test_a_token_that_is_none_is_sent_to_be_refused():
    """An empty one is not taken for a missing one."""
    transport = Starting()
    Trainer(transport, timeout=5).start_run({"submissionId": ""})
    assert transport.sent == [{"submissionId": ""}]
