import pytest

from oleander.running.extras import import_extra


def test_a_missing_extra_is_named_exactly():
    with pytest.raises(ImportError, match=r'Drawing needs no_such_package.*: pip install "oleander\[plot\]"'):
        import_extra("no_such_package.part", extra="plot", purpose="Drawing")


def test_a_broken_extra_is_not_called_missing(tmp_path, monkeypatch):
    (tmp_path / "half_installed.py").write_text("import its_own_missing_part")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="its_own_missing_part"):
        import_extra("half_installed", extra="plot", purpose="Drawing")
