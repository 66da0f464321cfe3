import pandas as pd
import pytest

from oleander import AggregateExplainer
from oleander.cli.paper import LOCAL, PaperOptions, read_candidates, read_radii
from oleander.explainers import LimeLinear

PAPER = ("--paper", "--radius", "12")


def options_of(**changes):
    options = {"radius": ["7"], "local": None, "formulation": None, "letter": False, "draws": None}
    return PaperOptions(**{**options, "include_rows": False, **changes})


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--paper",), "--paper needs a radius"),
        (("--local", "lime"), "--local is an option of the paper's system: add --paper"),
        (("--formulation", "strict"), "--formulation is an option of the paper's system"),
        (("--letter",), "--letter is an option of the paper's system"),
        ((*PAPER, "--candidates", "trees"), "--candidates does nothing with --paper"),
        ((*PAPER, "--max-rules", "20"), "--max-rules does nothing with --paper"),
        ((*PAPER, "--background", "patients.csv"), "--background does nothing with --paper"),
        ((*PAPER, "--local", "forest"), "--local forest is not known: use tree, unfiltered, lime"),
        ((*PAPER, "--formulation", "loose"), "--formulation loose is not known"),
        ((*PAPER, "--draws", "0"), "--draws 0 is not allowed with --paper"),
        ((*PAPER, "--letter"), "allow it with --include-rows"),
        ((*PAPER, "--letter", "--include-rows", "--formulation", "strict"), "leave out --formulation strict"),
        (("--paper", "--radius", "wide"), "--radius wide is not allowed: give auto, a number, or several"),
        ((*PAPER, "--radius", "-1", "--draws", "50"), "--radius -1.0 is not allowed"),
    ],
)
def test_wrong_options(run, patients_csv, tmp_path, options, sentence):
    done = run("explain", patients_csv, "--target", "risk", "--out", "out", *options)
    assert done.code == 2
    assert sentence in done.sentence
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("local", LOCAL)
@pytest.mark.parametrize("formulation", ["strict", "selective"])
def test_options_reach_the_explainer(local, formulation):
    atlas = options_of(radius=["5", "9"], local=local, formulation=formulation, draws=50).make(print, max_explainers=2)
    assert (atlas.max_explainers, atlas.formulation, atlas.max_rules) == (2, formulation, None)
    assert atlas.candidates.local == LOCAL[local]
    assert (atlas.candidates.radius, atlas.candidates.n_draws) == ([5.0, 9.0], 50)
    assert (atlas.candidates.scale, atlas.candidates.centers) == ("none", "rounded")


def test_rows_as_centers_where_files_may_hold_them():
    plain = AggregateExplainer.paper(print, radius=7.0)
    assert options_of(include_rows=True).make(print).get_params(deep=False) == plain.get_params(deep=False)
    letter = options_of(include_rows=True, letter=True).make(print)
    assert letter.candidates == AggregateExplainer.paper(print, radius=7.0, letter=True).candidates


def test_explain_by_the_paper(run, patients_csv, tmp_path):
    """The files, the trade-off and the page of a file with words, whole numbers and missing values."""
    arguments = ("explain", patients_csv, "--target", "risk", "--drop", "patient", *PAPER, "--max-explainers", 2)
    done = run(*arguments, "--draws", 300, "--out", "out")
    assert done.code == 0, done.err
    assert "balls stand on rounded rows" in done.err
    assert "a typical ball of radius 12 holds" in done.out
    assert len(done.out.splitlines()) < 50
    table = pd.read_csv("out/tradeoff.csv")
    assert {"coverage", "fidelity", "max_explainers", "min_fidelity"} <= {*table.columns}
    shown = run("tradeoff", "out/atlas.oleander", "--json")
    assert shown.code == 0, shown.err
    assert len(shown.json["cells"]) == len(table)
    assert (tmp_path / "out" / "report.html").stat().st_size > 1_000
    again = run(*arguments, "--draws", 300, "--local", "lime", "--include-rows", "--out", "again", "--json")
    assert again.code == 0, again.err
    members = AggregateExplainer.load("again/atlas.oleander").explainers_
    assert all(isinstance(member.explainer, LimeLinear) for member in members)


def test_candidates_of_two_options():
    assert read_candidates("auto", None) == "auto"
    assert read_candidates("nodes,boxes", None) == ("nodes", "boxes")
    assert read_candidates("balls", ["auto"]).radius == "auto"
    assert read_candidates("auto", ["1,2"]).radius == [1.0, 2.0]


def test_radii():
    assert read_radii(["5", "7,9"]) == [5.0, 7.0, 9.0]
    assert read_radii(["5"]) == 5.0
