import pytest

from studies.data.base import find_file


def test_a_file_or_its_folder(tmp_path):
    (tmp_path / "table.csv").write_text("a\n1\n")
    assert find_file(tmp_path, "table.csv") == find_file(tmp_path / "table.csv", "table.csv") == tmp_path / "table.csv"
    with pytest.raises(FileNotFoundError, match=r"there is no file .*other\.csv; give the folder that has other\.csv"):
        find_file(tmp_path, "other.csv")
