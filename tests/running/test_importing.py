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


@pytest.mark.parametrize("is_on", [True, False])
def test_the_collector_rests_during_an_import_and_is_as_before_after_it(module, is_on):
    (gc.enable if is_on else gc.disable)()
    try:
        assert not import_without_collecting(module).was_on
        with pytest.raises(ModuleNotFoundError):
            import_without_collecting("oleander.no_such_module")
        assert gc.isenabled() == is_on
    finally:
        gc.enable()
