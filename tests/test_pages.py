"""What the pages show is what the commands print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from support.pages import differences, transcripts

ROOT = Path(__file__).parent.parent
PAGES = [
    *(f"docs/guide/{name}.md" for name in ("README", "sweeps", "records", "service")),
    "docs/record.md",
    "README.md",
]
TOLERANCE = dict.fromkeys(PAGES, 0.0005) | {"README.md": 0.05}  # real training, whose last digits are the processor's
MARK = "\x1e"
LINK = re.compile(r"\]\((?!http)([^)#]+)")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_shows_what_the_commands_print(name, tmp_path):
    """Every command of a page, typed into one shell in order, prints what stands below it.

    Ids and times may differ, and a trained model's numbers in the second digit behind the point, as other processors
    round otherwise.
    """
    steps = list(transcripts(ROOT / name))
    assert steps
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    script = "".join(f"{command}\nprintf '{MARK}%s{MARK}' $?\n" for command, _ in steps)
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
    }
    shell = subprocess.run(
        ["bash"], input=script, cwd=tmp_path, env=environment, text=True, check=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
    )  # fmt: skip
    printed = shell.stdout.split(MARK)
    wrong = []
    for number, (command, shown) in enumerate(steps):
        output, code = printed[2 * number], printed[2 * number + 1]
        output += f"\n[exit {code}]" if code != "0" else ""
        found = differences(shown, output, tolerance=TOLERANCE[name])
        wrong += [f"$ {command}", *found] if found else []
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "page", [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")], ids=lambda p: str(p.relative_to(ROOT))
)
def test_a_page_links_to_files_that_exist(page):
    """No link inside the repository is dead."""
    dead = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert dead == []
