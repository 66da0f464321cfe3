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
    # None where an option is not given, so that Python's default holds and a given one can be refused.
    assert all(command[name].default is None for name in ("draws", "max_rules", "time_limit"))


@pytest.mark.parametrize(
    ("values", "names"),
    [(None, ()), ([], ()), (["age"], ("age",)), (["age,sex", "id"], ("age", "sex", "id")), (["a,,b,"], ("a", "b"))],
)
def test_names_with_commas(values, names):
    assert split_names(values) == names
