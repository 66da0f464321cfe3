import gc
import sys

import pytest

from oleander.running import import_without_collecting

MODULE = "import gc\nwas_on = gc.isenabled()\n"


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "made_here.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield "made_here"
    sys.modules.pop("made_here", None)


def test_the_collector_rests_during_an_import_and_goes_on_after_it(module):
    assert not import_without_collecting(module).was_on
    assert gc.isenabled()


def test_the_collector_goes_on_after_an_import_that_fails():
    with pytest.raises(ModuleNotFoundError):
        import_without_collecting("oleander.no_such_module")
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off(module):
    gc.disable()
    try:
        import_without_collecting(module)
        assert not gc.isenabled()
    finally:
        gc.enable()
