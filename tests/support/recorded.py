"""A run's folder as the documentation has it, written with nothing but json, hashlib and zipfile."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

RUN_ID = "7d496e82c3a15f04"
ROWS = b'{"messages":[{"content":"hello","role":"user"},{"content":"good day","role":"assistant"}]}\n'
STATE = {"step": 10, "optimizer": {"lr": 0.5}}
STEPS = (10, 20)
CURVES = "".join(
    [
        "step,attempt,loss,gradNorm,clipped,learningRate,tokens,seconds,validationLoss\n",
        "10,1,2.5,1.0,0,0.5,24,0.25,2.25\n",
        "20,1,1.5,NaN,1,0.25,24,0.5,1.25\n",
    ]
)
FINAL = {
    "loss": {"step": 20, "value": 1.5},
    "gradNorm": {"step": 20, "value": None},
    "clipped": {"step": 20, "value": 1.0},
    "learningRate": {"step": 20, "value": 0.25},
    "tokens": {"step": 20, "value": 24.0},
    "seconds": {"step": 20, "value": 0.5},
    "validationLoss": {"step": 20, "value": 1.25},
}


def sha256(content: bytes) -> str:
    """64 hex digits."""
    return hashlib.sha256(content).hexdigest()


def archive(state: Any, name: str = "archive/data.pkl") -> bytes:
    """A training state as torch writes one that has no tensors."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as file:
        file.writestr(name, pickle.dumps(state, protocol=2))
        file.writestr("archive/version", "3\n")
    return stream.getvalue()


def write(runs: Path) -> Path:
    """A whole and sound folder below `runs`."""
    plan = {"dataset": sha256(ROWS), "hyperparams": {"training": {"steps": 20}}, "seed": 7}
    config = json.dumps(plan, sort_keys=True).encode()
    digest = sha256(config)
    folder = runs / f"{RUN_ID}-{digest[:12]}"
    own = {"formatVersion": 1, "runId": RUN_ID, "configHash": digest[:12]}
    told = {"steps": 20, "seeds": {"config": 7}, "dataset": {"hash": sha256(ROWS)}, "configSha256": digest}
    folder.mkdir()
    (folder / "config.json").write_bytes(config)
    (folder / "run.json").write_text(json.dumps({**own, **told}, indent=2))
    (folder / "data.jsonl").write_bytes(ROWS)
    (folder / "worker.log").write_text("training\n")
    for step in STEPS:
        _save(folder / "snapshots" / str(step), own, step)
    (folder / "metrics.csv").write_text(CURVES)
    best = sha256(f"{RUN_ID}\n{sha256((folder / 'snapshots/20/manifest.json').read_bytes())}".encode())
    ended = {"best": {"step": 20, "validationLoss": 1.25, "snapshotId": best}, "final": FINAL, "events": []}
    (folder / "summary.json").write_text(json.dumps({**own, "phase": "COMPLETED", **ended}, indent=2))
    relist(folder)
    return folder


def _save(place: Path, own: dict[str, Any], step: int) -> None:
    place.mkdir(parents=True)
    contents = {"weights.safetensors": b"\x08\0\0\0\0\0\0\0{}      ", "training-state.pt": archive(STATE)}
    for name, content in contents.items():
        (place / name).write_bytes(content)
    files = {name: {"sha256": sha256(content), "sizeBytes": len(content)} for name, content in contents.items()}
    manifest = {**own, "attempt": 1, "step": step, "validationLoss": 2.25 if step == 10 else 1.25, "files": files}
    (place / "manifest.json").write_text(json.dumps(manifest, indent=2))


def relist(folder: Path) -> None:
    """Make checksums.txt list what is there now, as somebody would who hides a change."""
    body = "".join(f"{sha256((folder / name).read_bytes())}  {name}\n" for name in names(folder))
    (folder / "checksums.txt").write_text(f"{body}# {sha256(body.encode())}  checksums.txt\n")


def names(folder: Path) -> list[str]:
    """Every file that the list has, sorted."""
    found = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return [name for name in found if name != "checksums.txt"]


def edit(path: Path, change: Callable[[Any], object]) -> None:
    """Change a JSON document in its place."""
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document, indent=2))
