"""Folders of runs that come from another home.

* `taking`: from the files that arrived to runs in the catalog, all or none
* `recorded`, `results`: what a folder tells of its run, and of how that went
* `said`: documents of somebody else, read with care
"""

from akka_optimize.trainer.intake.taking import take

__all__ = ["take"]
