import hashlib
import zipfile

import pytest

from studies.data import geriatric, load_geriatric

LINES = "0,0.5,0.4,-1.2,2,-59,1.2,923.25,1\n0.5,0.5,0.4,-1.2,2,-59,1.2,923.25,1\n1,0.1,0.2,-0.9,3,-60,2,921.25,3\n"


@pytest.fixture
def folder(tmp_path):
    for room, name in (("S1_Dataset", "d1p01M"), ("S2_Dataset", "d2p07F")):
        (tmp_path / room).mkdir()
        (tmp_path / room / name).write_text(LINES)
    (tmp_path / "README.txt").write_text("not a trial")
    return tmp_path


def test_a_folder_of_trials(folder):
    data = load_geriatric(folder)
    assert data.X.shape == (6, 8)
    assert data.groups.tolist() == ["d1p01M"] * 3 + ["d2p07F"] * 3
    assert data.X["male"].tolist() == [1, 1, 1, 0, 0, 0]
    assert data.about["room"].tolist() == [1, 1, 1, 2, 2, 2]
    assert data.about["number"].tolist() == [1, 1, 1, 7, 7, 7]
    assert data.y.tolist() == ["sitting on bed", "sitting on bed", "lying"] * 2


def test_thinning(folder):
    assert load_geriatric(folder, drop_repeats=True).about["time"].tolist() == [0, 1, 0, 1]
    assert load_geriatric(folder, rows_per_trial=2).about["time"].tolist() == [0, 1, 0, 1]
    with pytest.raises(ValueError, match="rows_per_trial=0 is not allowed"):
        load_geriatric(folder, rows_per_trial=0)


def test_an_archive_and_its_folder(folder, tmp_path_factory):
    place = tmp_path_factory.mktemp("archive")
    with zipfile.ZipFile(place / "uci_archive.zip", "w") as archive:
        # As UCI's: a folder's entry has no slash at its end.
        archive.writestr("S1_Dataset", "")
        for file in sorted(folder.rglob("*p*"), reverse=True):
            archive.write(file, file.relative_to(folder))
    expected = load_geriatric(folder)
    for path in (place, place / "uci_archive.zip"):
        found = load_geriatric(path)
        assert found.X.equals(expected.X)
        assert found.y.equals(expected.y)


def test_errors_name_the_file_and_the_line(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"neither uci_archive\.zip nor files like d1p01M"):
        load_geriatric(tmp_path)
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("README.txt", "")
    with pytest.raises(ValueError, match="archive without files like d1p01M"):
        load_geriatric(tmp_path / "other.zip")
    (tmp_path / "d1p01M").write_text("1,2,3\n")
    with pytest.raises(ValueError, match="d1p01M has 3 columns, and a trial has 9"):
        load_geriatric(tmp_path)
    (tmp_path / "d1p01M").write_text(LINES.replace(",3\n", ",5\n"))
    with pytest.raises(ValueError, match="d1p01M has activity 5 in line 3"):
        load_geriatric(tmp_path)
    (tmp_path / "uci_archive.zip").write_bytes(b"PK\x03\x04")
    with pytest.raises(ValueError, match=r"uci_archive\.zip is not a complete zip file"):
        load_geriatric(tmp_path / "uci_archive.zip")


def test_the_real_archive(shared_data):
    place = shared_data / "geriatric"
    assert hashlib.sha256((place / "uci_archive.zip").read_bytes()).hexdigest() == geriatric.SHA256
    data = load_geriatric(place)
    assert len(data.X) == 75_128
    assert data.groups.nunique() == 87
    assert data.y.value_counts().to_dict() == {
        "lying": 51_520,
        "sitting on bed": 16_406,
        "sitting on chair": 4_911,
        "ambulating": 2_291,
    }
    assert data.about.groupby("room")["sex"].count().to_dict() == {1: 52_482, 2: 22_646}
