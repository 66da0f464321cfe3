"""The program: its commands, its help, and one sentence with an exit code for wrong arguments."""

import importlib
import json
import re
import resource
import subprocess
import sys

import pytest

import oleander
from oleander.cli.app import COMMANDS, app
from oleander.cli.options import DATA, MODEL, NUMBERS, OUTPUT, RULES, Explain, signature_of


def test_the_commands():
    names = [command.name for command in app.registered_commands]
    known = "demo explain paper compare-models predict explain-row evaluate watch edit export report tradeoff"
    assert " ".join(names) == known


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_function_and_its_help(run, name):
    _, module, example = COMMANDS[name]
    assert callable(getattr(importlib.import_module(f"oleander.cli.{module}"), name.replace("-", "_")))
    shown = run(name, "--help").out
    assert f"Example: oleander {name}" in shown
    assert not example or example.split()[0] in shown


def test_version(run):
    assert run("--version").out == f"oleander {oleander.__version__}\n"


@pytest.mark.slow
def test_the_module_runs_as_the_program():
    done = subprocess.run([sys.executable, "-m", "oleander", "--version", "--json"], check=True, capture_output=True)
    assert json.loads(done.stdout) == {"version": oleander.__version__}


@pytest.mark.slow
@pytest.mark.parametrize("words", [["--version"], ["--help"], ["explain", "--radios", "3"], ["predict", "--help"]])
def test_answers_that_need_no_data_are_quick(words):
    """In processor time, the best of three: the libraries that fit are not imported."""
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "oleander", *words], check=False, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(times) < 0.5


WRONG = {
    "no such command": (("explian", "p.csv"), "no such command 'explian'; did you mean 'explain', 'explain-row'?"),
    "no such option": (("explain", "p.csv", "--trget", "risk"), "there is no option --trget; did you mean --target?"),
    "nothing near": (("demo", "--zzz"), "there is no option --zzz."),
    "before the command": (("--frob",), "there is no option --frob."),
    "no argument": (("explain",), "DATA is missing."),
    "half of the arguments": (("predict", "atlas.oleander"), "DATA is missing."),
    "an argument too many": (("demo", "more"), "unexpected extra argument"),
    "no value": (("explain", "p.csv", "--target"), "--target' requires an argument"),
    "not a number": (
        ("explain", "p.csv", "--max-explainers", "many"),
        "--max-explainers many is not allowed: it should be a whole number.",
    ),
    "attached": (
        ("explain", "p.csv", "--max-explainers=0"),
        "--max-explainers 0 is not allowed: it should be at least 1.",
    ),
    "too large": (
        ("explain", "p.csv", "--min-fidelity", "2"),
        "--min-fidelity 2 is not allowed: it should be at most 1.",
    ),
    "no process": (("demo", "--jobs", "0"), "--jobs 0 is not allowed: it should be a number of processes"),
    "no seed": (("demo", "--seed", "-1"), "--seed -1 is not allowed: it should be at least 0."),
}


@pytest.mark.parametrize("name", WRONG)
def test_one_sentence(run, name, tmp_path):
    arguments, sentence = WRONG[name]
    done = run(*arguments)
    assert done.code == 2
    assert sentence in done.sentence
    assert len(done.err.splitlines()) == 1
    assert done.out == ""
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--min-fidelity", "0"), "--min-fidelity 0.0 is not allowed"),
        (("--read", "separator=abc"), "--read separator=abc is not allowed: give one character"),
        (("--read", "decimal="), "--read decimal= is not allowed: give one character"),
        (("--read", "separator=,", "--read", "decimal=,"), "--read separator and decimal are both ','"),
        (
            ("--read", "colour=red"),
            "--read colour=red is not allowed: write separator=, decimal=, encoding=",
        ),
    ],
)
def test_values_that_the_estimator_refuses(run, patients_csv, options, sentence):
    done = run("explain", patients_csv, "--target", "risk", "--out", "out", *options)
    assert done.code == 2
    assert sentence in done.sentence
    assert not (patients_csv.parent / "out").exists()


@pytest.mark.parametrize("arguments", [(), ("--help",), ("--json",), ("explain", "--help")])
def test_help_is_no_error(run, arguments):
    done = run(*arguments)
    assert done.code == 0
    assert done.out.startswith("Usage: ")
    assert done.err == ""


def test_explain_has_at_most_20_options_in_groups_and_an_example(run):
    options = signature_of(Explain).parameters
    assert len(options) - 1 <= 20
    shown = run("explain", "--help").out
    for name in options:
        assert f"--{name.removeprefix('as_').replace('_', '-')} " in shown or name == "data"
    groups = re.findall(r"^(\w.*):$", shown, flags=re.MULTILINE)
    assert groups == ["Arguments", DATA, MODEL, NUMBERS, RULES, OUTPUT, "Options"]
    assert "Example: oleander explain patients.csv --target risk" in shown


@pytest.mark.slow
def test_the_sentence_names_the_command():
    done = subprocess.run([sys.executable, "-m", "oleander", "explain"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "oleander: DATA is missing. (oleander explain --help)\n"
