import pytest

from studies.__main__ import main
from studies.settings import Settings


@pytest.fixture
def options(monkeypatch):
    """The arguments with which the command calls ``run_study``."""
    given = {}
    monkeypatch.setattr("studies.__main__.run_study", lambda study, **options: given.update(options, study=study))
    monkeypatch.setattr("studies.__main__.load_data", lambda study, data, settings: data)
    return given


def test_every_option_reaches_the_study_and_centers_and_draws_stand_for_every_step(options, tmp_path):
    main(["geriatric", "--data", "there", "--out", str(tmp_path), "--quick", "--jobs", "1"])
    assert options == {
        "study": "geriatric",
        "data": "there",
        "out": str(tmp_path),
        "quick": True,
        "n_jobs": 1,
        "settings": Settings.plan("geriatric", quick=True),
        "only": (),
    }

    main(["ppmi", "--out", "there", "--centers", "all", "--draws", "5000"])
    settings = options["settings"]
    assert (options["data"], options["quick"]) == (None, False)
    assert (settings.n_centers, settings.n_candidates, settings.n_draws) == (None, None, 5000)
    assert not settings.decides
    main(["ppmi", "--out", "there", "--centers", "30"])
    settings = options["settings"]
    assert (settings.n_centers, settings.n_candidates, settings.n_draws) == (30, 30, 10_000)
    assert settings.decides


def test_a_table_of_ones_own(options, tmp_path, capsys):
    file = tmp_path / "rows.csv"
    file.write_text("age,ward,y\n" + "61,north,1\n72,south,0\n" * 3)
    main(["own", "--data", str(file), "--target", "y", "--radius", "2", "--out", "there"])
    (data,) = options["data"].sets
    assert data.X.columns.tolist() == ["age", "ward_north", "ward_south"]
    assert data.y.tolist() == ["1", "0"] * 3
    assert (options["study"], options["only"]) == ("clinical", ("black_boxes", "aggregation"))
    assert options["settings"].radius == 2
    with pytest.raises(SystemExit):
        main(["own", "--data", str(file), "--out", "there"])
    assert "own needs --data" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b\n1,2\n", "has no column 'y'; its columns are a, b"),
        ("a,b,y\n1,,2\n,,3\n", r"has 2 rows and lacks values in 'a' \(1\), 'b' \(2\)\. "),
        ("a,y\n1,7.1\n2,7.2\n3,7.3\n", "column 'y' .* has 3 classes, .* has 1 of 3 rows.* cut numbers into ranges"),
    ],
)
def test_a_table_that_cannot_be_used(options, tmp_path, text, words):
    (tmp_path / "rows.csv").write_text(text)
    with pytest.raises(SystemExit, match=words):
        main(["own", "--data", str(tmp_path / "rows.csv"), "--target", "y", "--out", "there"])
    assert not options


@pytest.mark.parametrize("words", [["own", "--target", "y"], ["ppmi"], ["clinical"]])
def test_data_that_are_not_there_are_named_in_a_sentence(tmp_path, words):
    place = str(tmp_path / "nowhere.csv")
    with pytest.raises(SystemExit, match=r"^oleander: .*nowhere\.csv"):
        main([*words, "--data", place, "--out", str(tmp_path)])
