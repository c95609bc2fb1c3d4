"""What a person at a terminal sees, through a real pseudo-terminal."""

from __future__ import annotations

import pexpect
import pytest
from support.homes import AKKA, DESCRIPTOR, PROGRAM, STEPS, CommandLine

RED = "\x1b[1;31m"


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> CommandLine:
    """A home with rows, a workload and no runs."""
    return CommandLine(tmp_path_factory.mktemp("desk") / "home").prepare()


def at_a_terminal(shell: CommandLine, program: list[str], argv: list[str], **environ: str) -> pexpect.spawn:
    """Start a command on a terminal of its own."""
    command, *first = program
    return pexpect.spawn(
        command, [*first, *argv], env=shell.variables(TERM="xterm", **environ), encoding="utf-8", timeout=60
    )


def ended(child: pexpect.spawn) -> tuple[int, str]:
    """The exit code, and what was printed since the last answer."""
    child.expect(pexpect.EOF)
    rest = child.before
    child.close()
    return child.exitstatus, rest


@pytest.mark.parametrize(("answer", "code", "runs"), [("n", 1, 0), ("", 1, 0), ("y", 0, 1)])
def test_a_run_is_started_only_on_a_yes(desk, tmp_path, answer, code, runs):
    """The question names the plan; "no" and a bare Enter leave everything as it was, "y" starts the run."""
    (tmp_path / "run.yaml").write_text(DESCRIPTOR)
    argv = ["training", "runs", "start", "-f", str(tmp_path / "run.yaml"), "--set", f"{STEPS}=5", "--jq", ".runId"]
    before = desk.state()
    child = at_a_terminal(desk, [PROGRAM], argv)
    child.expect(r"Start 5 updates under plan [0-9a-f]{12}\? \[y/N\] ")
    child.sendline(answer)
    found, rest = ended(child)
    assert found == code
    assert ("nothing was done" in rest) == (code != 0)
    assert desk.json("training runs list")["total"] == runs
    if code:
        assert desk.state() == before
    else:
        assert desk.ok(f"training runs wait --exit-status -q --jq .phase {rest.split()[-1]}") == "COMPLETED\n"


def test_ctrl_c_at_the_question_does_nothing(shell):
    """It is exit 130, without a traceback, and the run is not cancelled."""
    before = shell.state()
    child = at_a_terminal(shell, AKKA, ["training", "runs", "cancel", "first"])
    child.expect(r"Cancel run [0-9a-f]{16} at step 40 of 40\? \[y/N\] ")
    child.sendintr()
    code, rest = ended(child)
    assert (code, "Traceback" in rest) == (130, False)
    assert shell.state() == before


@pytest.mark.parametrize(
    ("flag", "environ", "colored"),
    [([], {}, True), ([], {"NO_COLOR": "1"}, False), (["--no-color"], {}, False), ([], {"NO_COLOR": ""}, True)],
    ids=["by-default", "NO_COLOR", "--no-color", "an-empty-NO_COLOR"],
)
def test_color_is_for_terminals_that_want_it(shell, flag, environ, colored):
    """NO_COLOR and --no-color take it away, and leave the words."""
    code, printed = ended(at_a_terminal(shell, [PROGRAM], ["training", "runs", "compare", "first", *flag], **environ))
    assert code == 2
    assert ("\x1b" in printed) == colored
    assert printed.replace(RED, "").replace("\x1b[0m", "").startswith("Error: BASELINE is missing")


def test_control_characters_in_stored_text_are_made_visible(desk):
    """A name or a sentence that somebody stored cannot steer the terminal of who looks at it."""
    argv = ["datasets", "get", "\x1b[2Jevil"]
    code, printed = ended(at_a_terminal(desk, [PROGRAM], argv, NO_COLOR="1"))
    assert code == 1
    assert "\x1b" not in printed
