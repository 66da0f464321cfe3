import subprocess
import sys

import pytest

import oleander


def test_every_public_name_is_found():
    for name in oleander.__all__:
        assert getattr(oleander, name).__name__ == name
        assert name in dir(oleander)


def test_an_unknown_name_is_refused_as_python_does():
    with pytest.raises(AttributeError, match="module 'oleander' has no attribute 'Aggregate'"):
        oleander.Aggregate  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'Aggregate'"):
        from oleander import Aggregate  # noqa: F401


@pytest.mark.slow
def test_importing_the_package_imports_no_library():
    code = "import sys, oleander; print([name for name in ('numpy', 'sklearn', 'numba') if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
