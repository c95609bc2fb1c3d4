"""One view a record."""
