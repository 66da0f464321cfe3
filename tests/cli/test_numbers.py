import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer, Output
from oleander.cli.errors import CommandError
from oleander.cli.numbers import NumberOptions


class Model:
    classes_ = np.array([0, 1])


@pytest.mark.parametrize(
    ("options", "tolerance", "output"),
    [
        (NumberOptions(), None, Output()),
        (NumberOptions("30"), 30.0, Output()),
        (NumberOptions("10%"), "10%", Output()),
        (NumberOptions("auto"), "auto", Output()),
        (NumberOptions(threshold=0.2), None, Output(threshold=0.2)),
        (NumberOptions("0.1", proba="1"), 0.1, Output("proba", 1)),
        (NumberOptions(threshold=0.5, proba="0"), None, Output("proba", 0, 0.5)),
    ],
)
def test_options_become_parameters(options, tolerance, output):
    options.check()
    assert options.make(Model()) == {"tolerance": tolerance, "output": output}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (NumberOptions("1", threshold=2.0), "--threshold makes labels of numbers, which need no --tolerance"),
        (NumberOptions(proba="1"), "--proba explains a number: give --tolerance"),
        (NumberOptions("wide"), "tolerance='wide' is not allowed"),
        (NumberOptions("0"), r"tolerance=0\.0 is not allowed"),
    ],
)
def test_options_that_do_not_go_together(options, sentence):
    with pytest.raises((CommandError, ValueError), match=sentence):
        options.check()


def test_a_class_that_the_model_does_not_have():
    with pytest.raises(CommandError, match="--proba 7 is no class of the model; it has 0, 1"):
        NumberOptions("0.1", proba="7").make(Model())


@pytest.fixture
def prices(run):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.uniform(20, 200, 500).round(1), "place": rng.choice(["town", "land"], 500)})
    table["price"] = (
        np.where(table["place"] == "town", 900.0, 300.0) + (table["size"] > 90) * 200 + table["size"] / 10
    ).round(1)
    table.to_csv("prices.csv", index=False)
    return table


def test_a_regression_is_trained_and_explained(run, prices):
    done = run("explain", "prices.csv", "--target", "price", "--tolerance", 50, "--draws", 1000, "--out", "found")
    assert "± 50" in done.out
    assert "The model itself is right, ± 50, on" in done.out
    atlas = AggregateExplainer.load("found/atlas.oleander")
    assert atlas.tolerance == 50
    assert atlas.coverage_ > 0.9
    answers = pd.read_csv("found/predictions.csv")
    assert (np.abs(answers["answer"] - prices["price"].iloc[answers["row"]].to_numpy()) <= 60).mean() > 0.9
    judged = run("evaluate", "found/atlas.oleander", "prices.csv", "--labels", "price", "--json")
    assert judged.json["agreement"] > 0.9


def test_a_threshold_and_a_probability(run, prices):
    done = run("explain", "prices.csv", "--target", "price", "--threshold", 800, "--draws", 1000, "--out", "over")
    assert "→ over 800" in done.out
    options = ("--proba", "town", "--tolerance", 0.1, "--draws", 1000)
    done = run("explain", "prices.csv", "--target", "place", *options, "--out", "proba")
    assert "± 0.1" in done.out


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--target", "price"), "--tolerance explains numbers"),
        (("--target", "place", "--tolerance", 1), "which is no number; --tolerance and --threshold are for numbers"),
        (("--target", "place", "--proba", "sea", "--tolerance", 1), "--proba sea is no class of the model"),
    ],
)
def test_targets_that_do_not_fit(run, prices, options, sentence):
    done = run("explain", "prices.csv", *options, "--out", "found")
    assert done.code != 0
    assert sentence in done.sentence


def test_the_paper_explains_numbers(run, prices):
    options = [
        "--target",
        "price",
        "--tolerance",
        "60",
        "--paper",
        "--radius",
        "60",
        "--local",
        "line",
        "--draws",
        "200",
    ]
    done = run("explain", "prices.csv", *options, "--out", "out")
    assert done.code == 0
    assert "± 60" in done.out, done
    wrong = run("explain", "prices.csv", *options[:-3], "lime", "--out", "out2")
    assert "--local lime explains labels: with --tolerance use tree, unfiltered or line" in wrong.sentence
