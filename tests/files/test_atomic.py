import errno
import os
import stat

import pytest

from oleander.files.atomic import whole_file, write_whole


def fail(*_):
    raise OSError("full")


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    write_whole(tmp_path / "file", b"old")
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) & 0o400
    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="full"):
        write_whole(tmp_path / "file", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"old"


def test_an_error_while_writing_leaves_nothing_behind(tmp_path):
    def write():
        with whole_file(tmp_path / "file") as file:
            file.write(b"half")
            fail()

    with pytest.raises(OSError, match="full"):
        write()
    assert not list(tmp_path.iterdir())


def test_a_link_at_the_target_is_replaced_and_not_followed(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    (tmp_path / "link").symlink_to(victim)
    write_whole(tmp_path / "link", b"new")
    assert victim.read_text() == "untouched"
    assert not (tmp_path / "link").is_symlink()
    assert (tmp_path / "link").read_bytes() == b"new"


def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError), whole_file(tmp_path):
        pytest.fail("there is nothing to write to")


def test_errors_name_the_target_and_not_the_draft(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, whole_file(tmp_path / "nowhere" / "file"):
        pytest.fail("there is nothing to write to")
    assert caught.value.errno == errno.ENOENT
    assert caught.value.filename == str(tmp_path / "nowhere" / "file")


def test_missing_folders_are_made(tmp_path):
    write_whole(tmp_path / "a" / "b" / "file", b"new")
    assert (tmp_path / "a" / "b" / "file").read_bytes() == b"new"


def test_rights_follow_the_users_mask_without_changing_it(tmp_path):
    mask = os.umask(0o027)
    try:
        write_whole(tmp_path / "a", b"")
        assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(mask)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
def test_a_fifo_or_a_socket_is_never_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileExistsError, match="a device, a FIFO or a socket, which is not replaced"):
        write_whole(tmp_path / "pipe", b"new")
    assert (tmp_path / "pipe").is_fifo()
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]
