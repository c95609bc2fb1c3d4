"""The mathematics: arrays and documents in, frozen dataclasses out, no I/O."""
