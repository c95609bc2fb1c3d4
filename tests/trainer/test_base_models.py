"""The table of base models, and the file that ships with it."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from dataclasses import replace

import pytest

from akka_optimize.errors import Ambiguous, Internal, NotFound
from akka_optimize.trainer import base_models
from akka_optimize.trainer.engines import ENGINES

DECODER = base_models.find("akka/byte-decoder-1m")


def test_the_revision_is_the_digest_of_the_shipped_file():
    """Who changes the weights changes the table, and with it every plan's hash."""
    assert base_models.digest(base_models.weights_path(DECODER)) == DECODER.revision


def test_the_digest_is_that_of_sha256(tmp_path):
    """Anyone can recompute a revision with `sha256sum`."""
    (tmp_path / "file").write_bytes(b"abc" * 100_000)
    assert base_models.digest(tmp_path / "file") == hashlib.sha256(b"abc" * 100_000).hexdigest()


def test_every_model_has_an_engine_and_an_id_of_its_own():
    """Ids are 16 hex digits, and follow from repository and revision."""
    models = base_models.all()
    assert {model.engine for model in models} <= set(ENGINES)
    assert len({model.model_id for model in models}) == len(models)
    for model in models:
        named = hashlib.sha256(f"{model.repository}@{model.revision}".encode()).hexdigest()
        assert model.model_id == named[:16]


def test_only_the_decoder_is_offered():
    """The arithmetic engine's model is for tests, and shown when all are asked for."""
    assert {model.repository: model.status for model in base_models.all()} == {
        "akka/byte-decoder-1m": "ready",
        "akka/arithmetic": "not-selected",
    }


@pytest.mark.parametrize("model", base_models.all(), ids=lambda model: model.repository)
def test_a_model_is_found_by_repository_id_and_prefix(model):
    """Any of the three names one model."""
    for ref in (model.repository, model.model_id, model.model_id[:6]):
        assert base_models.find(ref) == model


@pytest.mark.parametrize("ref", ["", "akka", "byte-decoder-1m", "zz", "AKKA/BYTE-DECODER-1M"])
def test_what_fits_nothing_is_not_found(ref):
    """Part of a repository's name is no reference; the hint says what there is."""
    with pytest.raises(NotFound) as caught:
        base_models.find(ref)
    assert caught.value.field == "baseModel"
    assert "akka/byte-decoder-1m" in (caught.value.hint or "")


def test_a_prefix_of_two_lists_both(monkeypatch):
    """The user sees which ones it could be."""
    twins = (replace(DECODER, model_id="ab1"), replace(DECODER, model_id="ab2", repository="akka/other"))
    monkeypatch.setattr(base_models, "BASE_MODELS", twins)
    with pytest.raises(Ambiguous, match=r"akka/byte-decoder-1m \(ab1\), akka/other \(ab2\)"):
        base_models.find("ab")


def test_a_model_without_weights_says_so():
    """The arithmetic engine has no file to be asked for."""
    with pytest.raises(NotFound, match="no weights"):
        base_models.weights_path(base_models.find("akka/arithmetic"))


def test_lost_weights_are_a_fault_of_the_installation(monkeypatch, tmp_path):
    """Nobody is sent looking for a file that the package should have brought."""
    monkeypatch.setitem(base_models.FILES, DECODER.repository, tmp_path / "gone")
    with pytest.raises(Internal) as caught:
        base_models.weights_path(DECODER)
    assert "Reinstall" in (caught.value.hint or "")


def test_the_table_loads_nothing_heavy():
    """`base-models list` waits for neither numpy nor torch."""
    code = (
        "import sys; from akka_optimize.trainer import base_models as b; b.digest(b.weights_path(b.all()[0]));"
        "print(*sys.modules)"
    )
    loaded = set(
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    )
    assert not loaded & {"numpy", "torch", "safetensors"}
