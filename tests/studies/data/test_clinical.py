import pytest

from studies.data import load_clinical, load_dermatology, load_heart_disease, load_telemonitoring, load_thyroid


def test_heart_disease(shared_data):
    data = load_heart_disease(shared_data / "heart_disease" / "heart+disease.zip")
    assert data.X.shape == (920, 13)
    assert sorted(data.y.unique()) == [0, 1, 2, 3, 4]
    assert data.about["place"].value_counts().to_dict() == {
        "cleveland": 303,
        "hungarian": 294,
        "va": 200,
        "switzerland": 123,
    }


def test_dermatology(shared_data):
    data = load_dermatology(shared_data / "dermatology")
    assert data.X.shape == (366, 34)
    assert (data.y.nunique(), int(data.X.isna().sum().sum())) == (6, 8)


def test_clinical_tables_are_numbers_and_bits(shared_data):
    heart, skin = load_clinical(shared_data).sets
    assert (heart.y.nunique(), skin.y.nunique()) == (5, 6)
    for data in (heart, skin):
        assert not data.X.isna().any(axis=None)
    codes = heart.X[[name for name in heart.X if name.startswith("thal ")]]
    assert codes.shape[1] == 3
    # A missing code is 0 in each of its columns.
    raw = load_heart_disease(shared_data / "heart_disease").X
    assert (codes.sum(axis=1) == raw["thal"].notna()).all()
    assert heart.X["chol"].min() > 0
    assert skin.y.value_counts().to_dict()["psoriasis"] == 112


def test_thyroid(shared_data):
    data = load_thyroid(shared_data / "thyroid")
    assert data.X.shape == (7200, 21)
    assert not data.X.isna().any(axis=None)
    assert data.y.nunique() == 3


def test_telemonitoring(shared_data):
    data = load_telemonitoring(shared_data / "parkinsons_telemonitoring")
    assert (len(data.X), data.groups.nunique()) == (5875, 42)
    assert "motor_UPDRS" not in data.X


@pytest.mark.parametrize("load", [load_dermatology, load_heart_disease, load_telemonitoring, load_thyroid])
def test_a_missing_file_is_named(load, tmp_path):
    with pytest.raises(FileNotFoundError, match="give the folder that has"):
        load(tmp_path)
