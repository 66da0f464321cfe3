import io
import sys
import time
import types

import pytest

from oleander.running import progress
from oleander.running.progress import Step, draw_step, show_progress, showing_progress, tell_progress, told


@pytest.fixture(autouse=True)
def fast(monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BEFORE", 0.02)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_BARS", 0.01)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.02)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def work(words="halfway"):
    with tell_progress("training", 10) as tell:
        tell(5, words)
        time.sleep(0.2)


@pytest.mark.parametrize(("verbose", "is_shown"), [(0, False), (None, False), (1, True)])
def test_without_a_terminal_lines_are_printed_on_request(capsys, verbose, is_shown):
    with show_progress(verbose):
        work()
    shown = capsys.readouterr()
    assert shown.out == ""
    assert ("oleander: training, 5 of 10, 1 s left, halfway\n" in shown.err) == is_shown


@pytest.mark.parametrize("has_rich", [True, False])
@pytest.mark.parametrize(("verbose", "is_shown"), [(0, False), (None, True), (1, True)])
def test_a_terminal_shows_bars_by_default(monkeypatch, has_rich, verbose, is_shown):
    if not has_rich:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with show_progress(verbose):
        work()
    assert ("training" in terminal.getvalue()) == ("halfway" in terminal.getvalue()) == is_shown
    assert ("━" in terminal.getvalue()) == (is_shown and has_rich)


def test_short_work_shows_nothing(capsys, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BEFORE", 30.0)
    started = time.monotonic()
    with show_progress(1):
        work()
    assert capsys.readouterr().err == ""
    assert time.monotonic() - started < 5


def test_work_that_tells_nothing_is_shown_too(capsys):
    with show_progress(1), tell_progress("thinking"):
        time.sleep(0.1)
    assert "oleander: thinking\n" in capsys.readouterr().err


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


def test_an_error_ends_the_display_and_is_not_hidden(capsys):
    @show_progress(1)
    def fail():
        with tell_progress("training"):
            time.sleep(0.05)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    shown = capsys.readouterr().err
    time.sleep(0.1)
    assert capsys.readouterr().err == ""
    assert "training" in shown


def test_a_screen_that_cannot_be_drawn_on_does_not_stop_the_work(monkeypatch):
    class Broken:
        def __init__(self):
            raise OSError

    monkeypatch.setattr(progress, "Lines", Broken)
    with show_progress(1):
        work()


class TestNotebook:
    @pytest.fixture
    def shown(self, monkeypatch):
        shown = []

        class Handle:
            def update(self, html):
                shown.append(html)

        ipython, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
        ipython.get_ipython = type("ZMQInteractiveShell", (), {})
        display.HTML = lambda html: html
        display.display = lambda html, display_id: Handle()
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        monkeypatch.setitem(sys.modules, "IPython.display", display)
        return shown

    def test_bars_of_html_that_vanish(self, shown, capsys):
        with show_progress(None):
            work("<b>")
        assert any('<progress max="10" value="5"></progress> 5 of 10' in html for html in shown)
        assert not any("<b>" in html for html in shown)
        assert shown[-1] == ""
        assert capsys.readouterr().err == ""

    def test_silent_if_asked(self, shown):
        with show_progress(0):
            work()
        assert shown == []


def test_what_is_left_is_estimated():
    step = Step("training", 8, done=2, started=100.0)
    assert step.describe(130.0) == "2 of 8, 2 min left"
    assert Step("training", 8, started=100.0).describe(103.0) == "0 of 8, for 3 s"
    assert Step("training", None, started=100.0).describe(100.5) == ""
    assert "<progress></progress>" in draw_step(Step("training", None, started=0.0), 5.0)


def test_parts_are_told_one_by_one(capsys):
    with show_progress(1):
        for _ in told(["first", "second"], "reading"):
            time.sleep(0.08)
    shown = capsys.readouterr().err
    assert "oleander: reading, 0 of 2, first\n" in shown
    assert "oleander: reading, 1 of 2, 1 s left, second\n" in shown
