"""The trainer: the service, its catalog, the runs' folders, the worker and the engines."""
