"""The descriptor that `runs init` prints."""

from __future__ import annotations

from akka_optimize.core.descriptor import template


def descriptor(*, workload: str, base_model: str, dataset: str, name: str | None, purpose: str | None) -> str:
    """A commented descriptor in YAML, with what is known filled in. Raises Invalid."""
    return template(workload=workload, base_model=base_model, dataset=dataset, name=name, purpose=purpose)
