import hashlib

import pytest

from studies.data.fetch import cache_folder, fetch_file

CONTENT = b"a small file"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def remote(tmp_path):
    (tmp_path / "remote").write_bytes(CONTENT)
    return tmp_path / "remote"


def test_a_file_is_fetched_once_and_again_where_it_is_damaged(remote, tmp_path):
    given = remote.as_uri(), SHA256, "kept", tmp_path / "new"
    path = fetch_file(*given)
    path.write_bytes(b"half a fi")
    assert fetch_file(*given).read_bytes() == CONTENT
    remote.unlink()
    assert fetch_file(*given) == path


def test_a_wrong_file_is_not_kept(remote, tmp_path):
    with pytest.raises(OSError, match=rf"gave 12 bytes with sha256 {SHA256}, and 0000 is expected.*Nothing was kept"):
        fetch_file(remote.as_uri(), "0000", "kept", tmp_path / "new")
    assert not list(tmp_path.glob("new/*"))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(OSError, match=r"other cannot be fetched \(.*give its path"):
        fetch_file((tmp_path / "other").as_uri(), SHA256, "kept", tmp_path)


def test_where_files_are_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("OLEANDER_DATA", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("OLEANDER_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "oleander"
