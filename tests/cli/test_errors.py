"""Errors end in one sentence and an exit code."""

import subprocess
import sys

import pytest
import typer

from oleander import NothingFoundError
from oleander.black_box import BlackBoxError
from oleander.cli.errors import CommandError, ExitCode, plainly
from oleander.running.wording import printable

ERRORS = {
    "a command's own": (CommandError("no rows.", ExitCode.MODEL), 4, "no rows."),
    "a parameter": (ValueError("max_rules=-1 is not allowed."), 2, "--max-rules -1 is not allowed."),
    "another parameter": (ValueError("depth=-1 is not allowed."), 3, "depth=-1 is not allowed."),
    "data": (ValueError("column 'a'\nis empty."), 3, "column 'a' is empty."),
    "the floor": (NothingFoundError("lower it."), 5, "lower it."),
    "the model": (BlackBoxError("it failed."), 4, "it failed."),
    "an extra": (ImportError("install it."), 2, "install it."),
    "a file": (FileNotFoundError(2, "No such file or directory", "x"), 3, "x: No such file or directory."),
    "a folder": (FileExistsError(17, "File exists", "x"), 3, "x is a file, where a folder is needed."),
    "a fault": (ZeroDivisionError("by zero"), 1, "unexpected ZeroDivisionError: by zero (--debug shows where)."),
    "Ctrl-C": (KeyboardInterrupt(), 130, "interrupted; nothing was written."),
}


@pytest.mark.parametrize("name", ERRORS)
def test_every_error_is_one_sentence(capsys, name):
    error, code, sentence = ERRORS[name]

    def fail(**options):
        raise error

    with pytest.raises(typer.Exit) as caught:
        plainly(fail)(max_rules=-1)
    assert caught.value.exit_code == code
    assert capsys.readouterr().err == f"oleander: {sentence}\n"


def test_debug_adds_the_traceback(run):
    done = run("tradeoff", "gone.oleander", "--debug")
    assert "Traceback" in done.err
    assert done.code == 3


def test_control_characters_are_escaped():
    assert printable("\x1b[2Ja\tb\n\x9b") == "\\x1b[2Ja\tb\n\\x9b"


@pytest.mark.slow
def test_a_closed_pipe_is_no_error(explained, patients_csv):
    command = f"{sys.executable} -m oleander predict {explained.atlas} {patients_csv} | head -n 1"
    done = subprocess.run(command, shell=True, check=True, capture_output=True, text=True)
    assert done.stdout.startswith("row,answer")
    assert "pipe" not in done.stderr.lower()
