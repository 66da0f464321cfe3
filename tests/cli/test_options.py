"""Options are named and have defaults as the parameters in Python; errors end in one sentence and an exit code."""

import inspect
import subprocess
import sys

import pytest

from oleander import AggregateExplainer, NothingFoundError
from oleander.black_box import BlackBoxError
from oleander.cli.app import make_parser
from oleander.cli.options import CommandError, ExitCode, Explain, Paper, to_command_error


def test_defaults_are_those_of_python():
    python = inspect.signature(AggregateExplainer).parameters
    for name in ("max_explainers", "min_fidelity"):
        assert getattr(Explain, name) == python[name].default
    # ``paper`` passes other parameters on to the estimator.
    python = {**python, **inspect.signature(AggregateExplainer.paper).parameters}
    for name in ("max_explainers", "min_fidelity", "n_draws", "formulation", "letter", "time_limit"):
        assert getattr(Paper, name) == python[name].default


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ([], []),
        (["--drop", "age"], ["age"]),
        (["--drop", "age,sex", "--drop", "id"], ["age", "sex", "id"]),
        (["--drop", "a,,b,"], ["a", "b"]),
    ],
)
def test_names_with_commas(words, names):
    assert list(make_parser("explain").read(["DATA", *words]).drop) == names


ERRORS = {
    "a command's own": (CommandError("no rows.", ExitCode.MODEL), 4, "no rows."),
    "a parameter": (ValueError("max_explainers=-1 is not allowed."), 2, "--max-explainers -1 is not allowed."),
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
def test_every_error_is_one_sentence(name):
    error, code, sentence = ERRORS[name]
    failure = to_command_error(error, ["max_explainers"])
    assert failure.code == code
    assert str(failure) == sentence


def test_a_forged_line_is_shown_as_text(run):
    assert run("tradeoff", "x\noleander: all is well").sentence.startswith("oleander: x\\noleander: all is well")


def test_an_interrupt_ends_with_130(run, monkeypatch):
    monkeypatch.setattr(
        "oleander.explainer.AggregateExplainer.load", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
    )
    done = run("tradeoff", "x.oleander")
    assert (done.code, done.err) == (130, "oleander: interrupted; nothing was written.\n")


def test_debug_adds_the_traceback(run):
    for words in (("--debug", "tradeoff", "gone.oleander"), ("tradeoff", "gone.oleander", "--debug")):
        done = run(*words)
        assert "Traceback" in done.err
        assert done.code == 3


@pytest.mark.slow
def test_a_closed_pipe_is_no_error(explained, patients_csv):
    command = f"{sys.executable} -m oleander predict {explained.atlas} {patients_csv} | head -n 1"
    done = subprocess.run(command, shell=True, check=True, capture_output=True, text=True)
    assert done.stdout.startswith("row,answer")
    assert "pipe" not in done.stderr.lower()
