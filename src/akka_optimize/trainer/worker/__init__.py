"""The process that trains: it takes queued runs, one after the other, and ends when none is left.

* `drain`: the queue, and when to leave
* `attempt`: one attempt at one run
* `curves`: what the steps recorded, on its way to the catalog
* `source`: what a child starts from
* `save`: snapshots
* `ending`: how an attempt ended, and what an exception means
* `log`: what is printed goes to the run's own log
"""

from akka_optimize.trainer.worker.drain import main

__all__ = ["main"]
