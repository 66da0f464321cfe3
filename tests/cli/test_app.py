"""The program: its commands, its help, and one sentence with an exit code for wrong arguments."""

import importlib
import re
import resource
import subprocess
import sys
from dataclasses import fields

import pytest

import oleander
from oleander.cli.app import COMMANDS, make_parser
from oleander.cli.options import ARGUMENTS, DATA, MODEL, NUMBERS, OUTPUT, RULES, Explain, Options


def test_the_commands():
    known = "demo explain paper predict explain-row evaluate watch edit export report tradeoff"
    assert " ".join(COMMANDS) == known


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_function_and_its_help(run, name):
    record, module, example = COMMANDS[name]
    assert callable(getattr(importlib.import_module(f"oleander.cli.{module}"), name.replace("-", "_")))
    shown = run(name, "--help").out
    assert f"example: oleander {name} {example}".rstrip() in shown
    if example:
        assert isinstance(record(**vars(make_parser(name).read(example.split()))), Options)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--version"], 0, f"oleander {oleander.__version__}\n"),
        (["--help"], 0, "usage: "),
        (["explain"], 2, "oleander: the following arguments are required: DATA (oleander explain --help)"),
        (["predict", "--help"], 0, "usage: "),
    ],
)
def test_answers_that_need_no_data_are_quick(words, code, said):
    """In processor time, the best of three: the libraries that fit are not imported."""
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([sys.executable, "-m", "oleander", *words], check=False, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert (done.returncode, bool(done.stdout), bool(done.stderr)) == (code, code == 0, code != 0)
    assert (done.stdout + done.stderr).startswith(said)
    assert min(times) < 0.5


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("explian p.csv", "there is no command explian. Did you mean 'explain'? (oleander --help)"),
        ("explain p.csv --trget risk", "there is no option --trget. Did you mean '--target'?"),
        ("explain p.csv --trget=risk", "there is no option --trget. Did you mean '--target'?"),
        ("explain p.csv --targ risk", "there is no option --targ. Did you mean '--target'?"),
        ("demo --zzz", "there is no option --zzz. (oleander demo --help)"),
        ("--frob", "there is no option --frob."),
        ("explain", "required: DATA"),
        ("predict atlas.oleander", "required: DATA"),
        ("demo more", "there is no argument for 'more'."),
        ("explain p.csv --target", "--target: expected one argument"),
        ("explain p.csv --max-explainers 2.5", "--max-explainers: invalid int value: '2.5'"),
    ],
)
def test_one_sentence(run, words, sentence, tmp_path):
    done = run(*words.split())
    assert (done.code, done.out, len(done.err.splitlines())) == (2, "", 1)
    assert sentence in done.sentence
    assert not list(tmp_path.iterdir())


def test_explain_has_at_most_20_options_in_groups_and_an_example(run):
    options = [one.name for one in fields(Explain)]
    assert len(options) - 1 <= 20
    shown = run("explain", "--help").out
    assert "The seed of every random choice. Default: 0." in shown
    for name in options:
        assert f"--{name.removeprefix('as_').replace('_', '-')} " in shown or name == "data"
    groups = re.findall(r"^(\w.*):$", shown, flags=re.MULTILINE)
    assert groups == ["options", ARGUMENTS, DATA, MODEL, NUMBERS, RULES, OUTPUT]
    assert "example: oleander explain patients.csv --target risk" in shown
