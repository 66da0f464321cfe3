import pytest

from benchmarks import history


@pytest.mark.slow
def test_the_main_paths_are_timed_and_their_time_is_shared_out():
    taken = history.measure("tiny")
    assert len(taken) == 6
    assert min(taken.values()) > 0
    head, _, *lines = history.profile("tiny").splitlines()
    assert all(name in head for name in taken)
    assert any(line.startswith("| oleander/learning |") for line in lines)


@pytest.mark.parametrize(
    ("file", "place"),
    [
        ("/home/me/oleander/src/oleander/data/rows.py", "oleander/data"),
        ("/venv/oleander/watch.py", "oleander/watch"),
        ("/venv/site-packages/pandas/core/frame.py", "pandas"),
        ("~", "NumPy's and Python's own functions"),
        ("/usr/lib/python3.11/json/decoder.py", "other"),
    ],
)
def test_a_function_belongs_to_the_folder_of_its_file(file, place):
    assert history._name_place(file) == place
