"""The notebooks run as they stand, on any home, and come to what the command line says."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import nbclient
import nbformat
import pytest
from support.homes import RATE, CommandLine

FOLDER = Path(__file__).parents[2] / "examples" / "notebooks"
NAMES = ("commands.ipynb", "records.ipynb")
RATES = {"first": 1e-3, "second": 1e-3, "third": 1e-4, "fourth": 1e-4}  # the curve is a function of the rate


@pytest.fixture(scope="module")
def shell(tmp_path_factory):
    """A shell on a home with four runs, of which the third learned much less than those before it."""
    made = CommandLine(tmp_path_factory.mktemp("notebooks") / "home").prepare()
    for name, rate in RATES.items():
        settings = (f"name={name}", f"{RATE}={rate}", "execution.saveEvery=20")
        made.start(*settings, "hyperparams.training.validationFrequencySteps=10", wait=name == "fourth")
    made.ok(["training", "runs", "annotate", "third", "--comment", "the rate was a slip"])
    return made


def executed(name, shell, folder, monkeypatch):
    """Execute a notebook in an empty folder; what each cell printed or showed, by the cell's id."""
    for key, value in shell.variables(JUPYTER_RUNTIME_DIR=str(folder), IPYTHONDIR=str(folder)).items():
        monkeypatch.setenv(key, value)
    notebook = nbformat.read(FOLDER / name, as_version=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of packages that the kernel's client brings along
        client = nbclient.NotebookClient(notebook, timeout=60, resources={"metadata": {"path": str(folder)}})
        client.execute()
    return {cell.id: "".join(map(shown, cell.outputs)) for cell in notebook.cells if cell.cell_type == "code"}


def shown(output):
    """The text of one output of a cell."""
    return output.text if output.output_type == "stream" else output.data["text/plain"]


def test_the_one_that_asks_the_command_line(shell, tmp_path, monkeypatch):
    """The table has every run, newest first; the comparison names the setting that differs."""
    cells = executed("commands.ipynb", shell, tmp_path, monkeypatch)
    assert re.findall("first|second|third|fourth", cells["table"]) == ["fourth", "third", "second", "first"]
    ids = [shell.json(f"training runs get {name}")["runId"] for name in ("fourth", "third")]
    assert cells["jq"] == f"('{ids[0]}', '{ids[1]}')"
    assert cells["parting"] == "'the two agree'"
    assert "Empty DataFrame" in cells["compare"]
    assert cells["windows"].count("\n") == 4


def test_the_one_that_reads_the_files(shell, tmp_path, monkeypatch):
    """It finds since when it got worse, what changed there, the best checkpoint, and what somebody noted."""
    cells = executed("records.ipynb", shell, tmp_path, monkeypatch)
    assert re.findall("first|second|third|fourth", cells["table"]) == [*RATES]
    assert "third" in cells["since"]
    assert "fourth" not in cells["since"]
    assert cells["changed"].split("\n")[1:] == [
        line for line in cells["changed"].split("\n") if line.startswith("hyperparams.optimizer.learningRate")
    ]
    best = min(
        (shell.json(f"training runs get {name}")["bestValidationLoss"], number, name)
        for number, name in enumerate(RATES)
    )[2]
    step = shell.json(f"training runs get {best}")["bestStep"]
    assert cells["best"].startswith(f"('{best}', '{step}', ['manifest.json'")
    assert "the rate was a slip" in cells["events"]
    losses = dict(re.findall(r"^(\d+) +(\d\.\d+)", cells["validations"], re.MULTILINE))
    assert [*losses] == ["10", "20", "30", "40"]


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_kept_without_outputs(name):
    """No output, no count, no metadata of who ran it, and no path of anybody's machine; a cell for every id."""
    notebook = nbformat.read(FOLDER / name, as_version=4)
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    for cell in notebook.cells:
        assert cell.metadata == {}
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)
        assert not re.search(r"(?<![\w.)~\]])/(home|root|tmp|Users|work|usr)\b", cell.source)


def test_every_notebook_is_executed():
    """None is there that no test runs."""
    assert sorted(path.name for path in FOLDER.glob("*.ipynb")) == sorted(NAMES)
