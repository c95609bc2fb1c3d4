"""A record as text, as JSON, or as what a jq program makes of it."""
