import pytest

from studies.__main__ import main


@pytest.fixture
def options(monkeypatch):
    """The arguments with which the command calls ``run_study``."""
    given = {}
    monkeypatch.setattr("studies.__main__.run_study", lambda study, **options: given.update(options, study=study))
    return given


def test_every_option_reaches_the_study(options, tmp_path):
    main(["geriatric", "--data", "there", "--telemonitoring", "here", "--out", str(tmp_path), "--quick", "--jobs", "1"])
    assert options == {
        "study": "geriatric",
        "data": "there",
        "out": str(tmp_path),
        "quick": True,
        "telemonitoring": "here",
        "n_jobs": 1,
    }


def test_data_and_the_small_version_are_optional(options):
    main(["ppmi", "--out", "there"])
    assert (options["data"], options["telemonitoring"], options["quick"]) == (None, None, False)


@pytest.mark.parametrize("words", [["other", "--out", "there"], ["ppmi"]])
def test_wrong_words(options, words, capsys):
    with pytest.raises(SystemExit):
        main(words)
    assert "error" in capsys.readouterr().err
    assert not options
