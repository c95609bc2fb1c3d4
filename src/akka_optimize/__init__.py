"""Compare fine-tuning runs step by step, and fan a run out over a grid of settings."""

__version__ = "0.1.0"
