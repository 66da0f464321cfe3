import stat

import pytest

from oleander.storage.files import write_whole


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    write_whole(tmp_path / "file", b"old")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) & 0o400
    monkeypatch.setattr("os.replace", lambda *args: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        write_whole(tmp_path / "file", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"old"
