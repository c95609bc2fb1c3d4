"""How long each row of a dataset is under a base model, remembered so that a dataset is tokenised once.

The files in `cache/` may be lost, cut or damaged at any time: they are made again.
"""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from akka_optimize import __version__
from akka_optimize.trainer import datasets, files
from akka_optimize.trainer.engines import engine

if TYPE_CHECKING:
    from pathlib import Path

    from akka_optimize.records import BaseModel, Dataset
    from akka_optimize.trainer.engines import Tokens
    from akka_optimize.trainer.home import Home

NEVER = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Lengths:
    """Per row of a dataset, int64 (rows,): tokens, and the place of the first assistant token that is a target."""

    tokens: np.ndarray
    first: np.ndarray  # NEVER where a row has none

    def fits(self, length: int) -> np.ndarray:
        """`Tokens.fits` of every row, bool (rows,)."""
        return self.first < length


def lengths(home: Home, dataset: Dataset, model: BaseModel) -> Lengths:
    """The rows' lengths, tokenised where they are not known yet. Raises NotFound (rows), Exhausted, Refused (disk)."""
    datasets.place(home, dataset.hash)  # lengths without rows would let a run be planned that cannot be started
    place = home.path / "cache" / f"{dataset.hash[:32]}-{model.revision[:16]}-{model.engine}-{__version__}.npz"
    found = _read(place, dataset.example_count)
    if found is None:
        encode = engine(model.engine).encode
        found = measured([encode(row) for row in datasets.rows(home, dataset.hash)])
        _write(place, found)
    return found


def measured(rows: list[Tokens]) -> Lengths:
    """The lengths of encoded rows."""
    targets = (np.flatnonzero(row.trained[1:]) for row in rows)  # the first token is never a target
    first = [int(at[0]) + 1 if len(at) else NEVER for at in targets]
    return Lengths(np.array([len(row.ids) for row in rows], np.int64), np.array(first, np.int64))


def _read(place: Path, rows: int) -> Lengths | None:
    try:
        with place.open("rb") as file, np.load(file, allow_pickle=False) as stored:  # its parts carry checksums
            found = Lengths(stored["tokens"], stored["first"])
    except (OSError, ValueError, EOFError, KeyError, TypeError, zipfile.BadZipFile):
        return None
    whole = all(part.dtype == np.int64 and part.shape == (rows,) for part in (found.tokens, found.first))
    return found if whole else None


def _write(place: Path, found: Lengths) -> None:
    beside = place.with_name(f".tmp-{os.getpid()}-{place.name}")
    with files.translated(place):
        place.parent.mkdir(mode=0o700, exist_ok=True)
        try:
            with beside.open("wb") as stream:
                np.savez(stream, tokens=found.tokens, first=found.first)
            files.install(beside, place)
        finally:
            beside.unlink(missing_ok=True)
