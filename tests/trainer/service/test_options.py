"""What holds when nobody says anything."""

from __future__ import annotations

from akka_optimize.trainer.service.options import Limits, Options


def test_the_defaults_leave_room_for_our_own_client():
    """An upload's part, a full fan of points, and as many followers as one page of runs."""
    limits = Options().limits
    assert limits.message_bytes >= 2 << 20
    assert limits.list_items >= 50
    assert limits.streams > limits.connection_streams >= 100
    assert limits == Limits()


def test_a_token_is_not_shown():
    """Neither the options nor what holds them print it."""
    assert "hush" not in repr([Options(token="hush")])
