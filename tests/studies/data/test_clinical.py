import pytest

from studies.data import load_clinical, load_dermatology, load_heart_disease, load_telemonitoring, load_thyroid


@pytest.mark.parametrize(
    ("load", "folder", "shape", "n_labels", "n_missing"),
    [
        (load_heart_disease, "heart_disease", (920, 13), 5, 1_759),
        (load_dermatology, "dermatology", (366, 34), 6, 8),
        (load_thyroid, "thyroid", (7_200, 21), 3, 0),
        (load_telemonitoring, "parkinsons_telemonitoring", (5_875, 18), 1_080, 0),
    ],
)
def test_public_tables_have_their_size(shared_data, load, folder, shape, n_labels, n_missing):
    data = load(shared_data / folder)
    assert (data.X.shape, data.y.nunique(), int(data.X.isna().sum().sum())) == (shape, n_labels, n_missing)


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


@pytest.mark.parametrize("load", [load_dermatology, load_heart_disease, load_telemonitoring, load_thyroid])
def test_a_missing_file_is_named(load, tmp_path):
    with pytest.raises(FileNotFoundError, match="give the folder that has"):
        load(tmp_path)
