"""What a command needs more than one call for: fetching, joined with the core."""
