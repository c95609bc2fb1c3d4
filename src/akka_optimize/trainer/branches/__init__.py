"""Children of a run: what each point of a fan resolves to, and their submission, all or none.

* `asked`: what can be told wrong with a fan before anything is looked up
* `source`: the snapshot that all of them start from, as their plans name it
* `children`: one point -> one resolved child
* `faults`: what is wrong with points, all of it in one error
* `fan`: all points together, and the two entrances `validate` and `submit`
"""

from akka_optimize.trainer.branches.fan import submit, validate

__all__ = ["submit", "validate"]
