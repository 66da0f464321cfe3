import io
import sys
import time

import pytest

from oleander.running import progress
from oleander.running.progress import show_progress, showing_progress, tell_progress


@pytest.fixture(autouse=True)
def fast(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BEFORE", 0.02)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN", 0.02)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def work(words="halfway"):
    with tell_progress("training", 10) as tell:
        tell(5, words)
        time.sleep(0.1)
        tell(6, words)


@pytest.mark.parametrize("is_terminal", [True, False])
@pytest.mark.parametrize("verbose", [0, None, 1])
def test_bars_are_shown_in_a_terminal_or_on_request_and_vanish(monkeypatch, verbose, is_terminal):
    screen = Terminal() if is_terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    with show_progress(verbose):
        work()
    is_shown = verbose == 1 or (is_terminal and verbose is None)
    shown = screen.getvalue()
    assert ("training:" in shown) == ("halfway" in shown) == ("5/10" in shown) == is_shown
    assert shown.rpartition("\r")[2].strip() == ""
    assert "\n" not in shown


def test_a_notebook_shows_bars(monkeypatch, capsys):
    ipython = type(sys)("IPython")
    ipython.get_ipython = type("ZMQInteractiveShell", (), {"config": {}})
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    with show_progress(None):
        work()
    assert "training:" in capsys.readouterr().err
    with show_progress(0):
        work()
    assert capsys.readouterr().err == ""


def test_short_work_shows_nothing(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BEFORE", 30.0)
    started = time.monotonic()
    with show_progress(1):
        work()
    assert capsys.readouterr().err == ""
    # The timer is not waited for.
    assert time.monotonic() - started < 15


def test_two_seconds_count_from_the_start_of_the_outermost_call(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BEFORE", 1.0)
    with show_progress(1):
        work("early")
        time.sleep(0.95)
        work("late")
    shown = capsys.readouterr().err
    assert "late" in shown
    assert "early" not in shown


def test_a_step_that_reports_nothing_is_shown_too(capsys):
    with show_progress(1), tell_progress("thinking"):
        time.sleep(0.1)
    assert "thinking: " in capsys.readouterr().err


def test_inner_calls_are_shown_with_the_outer_one(capsys):
    class Worker:
        verbose = None

        @showing_progress
        def run(self):
            work("inside")

    with show_progress(1):
        Worker().run()
    assert "inside" in capsys.readouterr().err
    Worker().run()
    assert capsys.readouterr().err == ""
    silent = Worker()
    silent.verbose = 0
    with show_progress(1):
        silent.run()
    assert capsys.readouterr().err == ""


def test_a_screen_that_cannot_be_drawn_on_does_not_stop_the_work(monkeypatch):
    def fail(**options):
        raise OSError

    monkeypatch.setattr(progress, "_find_bar", lambda verbose: fail)
    with show_progress(1):
        work()
