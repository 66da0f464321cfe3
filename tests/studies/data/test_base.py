import pytest

from studies.data.base import SCORES, find_file, trajectory_columns


def test_the_scores_of_a_visit_are_side_by_side():
    names = trajectory_columns([0, 3])
    assert names[: len(SCORES)] == [f"{score}, month 0" for score in SCORES]
    assert len(names) == 2 * len(SCORES)


def test_a_file_or_its_folder(tmp_path):
    (tmp_path / "table.csv").write_text("a\n1\n")
    assert find_file(tmp_path, "table.csv") == find_file(tmp_path / "table.csv", "table.csv") == tmp_path / "table.csv"
    with pytest.raises(FileNotFoundError, match=r"there is no file .*other\.csv; give the folder that has other\.csv"):
        find_file(tmp_path, "other.csv")
