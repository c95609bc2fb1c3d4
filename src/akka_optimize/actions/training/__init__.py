"""Actions below `training`."""
