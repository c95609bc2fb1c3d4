"""Fails when it is imported: only a command that is used may be."""

raise AssertionError("imported, though not used")
