import pytest

from oleander.running.progress import tell_progress


@pytest.mark.parametrize("has_rich", [True, False])
@pytest.mark.parametrize("total", [10, None])
def test_progress_is_shown_on_request_only(capsys, monkeypatch, has_rich, total):
    monkeypatch.setattr("oleander.running.progress.SECONDS_BETWEEN_LINES", 0.0)
    if not has_rich:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for verbose in (0, 1):
        with tell_progress("training", total, verbose=verbose) as tell:
            tell(5, "halfway")
        shown = capsys.readouterr()
        assert shown.out == ""
        assert ("training" in shown.err) == ("halfway" in shown.err) == bool(verbose)


def test_lines_name_the_steps_and_are_rare(capsys, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    with tell_progress("training", 2000, verbose=1) as tell:
        for done in (1, 2, 1500):
            tell(done, "")
        now[0] += 5.0
        tell(1600, "40 rows asked")
        tell(1700, "")
    assert capsys.readouterr().err == "oleander: training, 1,600 of 2,000 40 rows asked\n"
