"""An import of a run and its child, killed at each kind of thing that it does, and then made again.

    PYTHONPATH=tests python -m support.intake_faults

prints a line for each kill: where, how many runs were there when the home was opened next, and what was wrong.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from support import records
from support.submission_faults import disagreements, kills, quietly

from akka_optimize.record.verify import verify
from akka_optimize.trainer import arrivals, intake, recover, uploads
from akka_optimize.trainer.catalog import Catalog
from akka_optimize.trainer.home import Home

RUNS = 2
Found = tuple[str, int, list[str]]


def imports(folder: Path) -> list[Found]:
    """Kill an import at every stage; then open the home as the next command does, and import again."""
    lineage = records.lineage(folder / "source")
    exported = records.exported(lineage, folder / "records")
    home = records.fresh(folder / "base")
    sent = records.sent(home, exported)

    def task(catalog: Catalog, home: Home) -> None:
        intake.take(catalog, home, sent)

    return [_look(stage, copy, exported) for stage, copy in kills(folder, home.path, task)]


def _look(stage: str, copy: Path, exported: Path) -> Found:
    home = Home.open(copy)
    with Catalog.open(home) as catalog:
        recover.recover(catalog, home)
        after, wrong = catalog.runs().total, disagreements(catalog, home)
        wrong += [f"{after} of {RUNS} runs"] * (after not in (0, RUNS))
        found = intake.take(catalog, home, records.sent(home, exported))
        wrong += [f"then {len(found.runs)} runs"] * (len(found.runs) != RUNS) + disagreements(catalog, home)
        wrong += [str(found) for place in home.runs.iterdir() for found in verify(place).mismatches]
    return stage, after, [*wrong, *_left(home)]


def _left(home: Home) -> list[str]:
    """What an import that was killed left among the uploads, and a day later still does."""
    day = time.time() - uploads.STALE_SECONDS - 60
    for path in arrivals.folder(home).iterdir():
        os.utime(path, (day, day))
    arrivals.sweep(home)
    return [f"{path.name} is left" for path in arrivals.folder(home).iterdir()]


if __name__ == "__main__":
    outcomes: Any = quietly(imports)
    print(json.dumps(outcomes) if "--json" in sys.argv else "\n".join(map(str, outcomes)))
