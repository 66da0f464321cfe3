"""Arguments that the command line does not know end in one sentence and exit code 2, and nothing is done."""

import subprocess
import sys

import pytest

WRONG = {
    "no such command": (("explian", "p.csv"), "no such command 'explian'; did you mean 'explain'?"),
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
        (("--candidates", "absent"), "--candidates 'absent' is not known"),
        (("--radius", "-1"), "--radius -1.0 is not allowed"),
        (("--min-fidelity", "0"), "--min-fidelity 0.0 is not allowed"),
        (("--separator", "abc"), "--separator 'abc' is not allowed: give one character."),
        (("--decimal", ""), "--decimal '' is not allowed: give one character."),
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


@pytest.mark.slow
def test_the_sentence_names_the_command():
    done = subprocess.run([sys.executable, "-m", "oleander", "explain"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "oleander: DATA is missing. (oleander explain --help)\n"
