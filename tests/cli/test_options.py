"""Options are named and have defaults as the parameters in Python."""

import inspect

import pytest

from oleander import AggregateExplainer
from oleander.cli import explaining
from oleander.cli.options import split_names


def test_defaults_are_those_of_python():
    python = inspect.signature(AggregateExplainer).parameters
    command = inspect.signature(explaining.explain).parameters
    for name in ("max_explainers", "min_fidelity"):
        assert command[name].default == python[name].default
    assert command["max_conditions"].default == python["candidates"].default.max_conditions
    python = inspect.signature(AggregateExplainer.paper).parameters
    command = inspect.signature(explaining.paper).parameters
    for name in ("max_explainers", "min_fidelity", "n_draws", "formulation", "letter", "time_limit"):
        assert command[name].default == python[name].default


@pytest.mark.parametrize(
    ("values", "names"),
    [(None, ()), ([], ()), (["age"], ("age",)), (["age,sex", "id"], ("age", "sex", "id")), (["a,,b,"], ("a", "b"))],
)
def test_names_with_commas(values, names):
    assert split_names(values) == names
