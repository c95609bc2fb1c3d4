"""Actions below `training runs`."""
