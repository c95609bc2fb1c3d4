"""Trains the same small model twice from one configuration, puts both runs on record, and checks the records.

    python examples/reproduce/reproduce.py [FOLDER]

Leaves a folder for each run below FOLDER (by default `runs`). Exits with 1 unless the configuration's hash is
`e14ea5ff5f88`, both losses are 0.008153 after rounding, and every file of both records is what it says it is.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import nn

from akka_optimize.core.plans import plan_hash
from akka_optimize.record.verify import verify
from akka_optimize.trainer.alone import Record

CONFIG = {"benih": 0, "dim": 4, "lr": 0.05, "langkah": 200}  # seed, width, learning rate, updates
PURPOSE = "show that one configuration and one seed give one loss, to the last digit"
HASH, LOSS = "e14ea5ff5f88", 0.008153
ROWS = 64


def train(config: dict[str, Any], record: Record) -> float:
    """Fit a linear model to noisy lines, as the configuration says; its last loss, rounded to six digits."""
    torch.manual_seed(config["benih"])
    w = torch.randn(1, config["dim"])
    inputs = torch.randn(ROWS, config["dim"])
    targets = inputs @ w.T + 0.1 * torch.randn(ROWS, 1)
    model = nn.Linear(config["dim"], 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"])
    for step in range(1, config["langkah"] + 1):
        optimizer.zero_grad()
        loss = ((model(inputs) - targets) ** 2).mean()
        loss.backward()
        optimizer.step()
        record.add(step, loss=loss.item())
    with torch.no_grad():
        last = float(((model(inputs) - targets) ** 2).mean())
    record.add(config["langkah"], validationLoss=last)  # over the same rows: this training holds none out
    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "config": config}
    record.save(
        config["langkah"],
        weights=lambda path: save_file(model.state_dict(), path),
        training_state=lambda path: torch.save(state, path),
        epoch=float(config["langkah"]),
        validation_loss=last,
    )
    return round(last, 6)


def run(runs: Path, name: str) -> tuple[float, Path]:
    """One training on record; its last loss and its folder."""
    found = {"threads": torch.get_num_threads(), "device": "cpu"}
    record = Record(runs, CONFIG, name=name, purpose=PURPOSE, seeds={"torch": CONFIG["benih"]}, found=found)
    loss = train(CONFIG, record)
    return loss, record.close()


def main(folder: str = "runs") -> int:
    """Run twice, print what came out, and say 1 if any of it is not what it has to be."""
    runs = Path(folder)
    runs.mkdir(parents=True, exist_ok=True)
    right = True
    for name in ("first", "second"):
        loss, place = run(runs, name)
        found = verify(place)
        print(f"{name} run: configuration {found.config_hash}, loss {loss:.6f}")
        print(f"  {place.name}: {'sound' if not found.mismatches else 'does not match'}")
        for each in found.mismatches:
            print(f"  {each.file or 'the folder'} {each.problem}")
        right = right and (plan_hash(CONFIG)[:12], found.config_hash, loss) == (HASH, HASH, LOSS)
        right = right and not found.mismatches
    if not right:
        print(f"expected configuration {HASH}, a loss of {LOSS:.6f} twice, and two sound records", file=sys.stderr)
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
