import zipfile

import pytest

from studies.data.archives import ArchiveError, open_archive


def pack(path, parts, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def test_an_archive_is_read_up_to_what_is_allowed(tmp_path):
    pack(tmp_path / "x.zip", {"a": b"x" * 100, "b": b"y" * 100})
    with open_archive(tmp_path / "x.zip", largest_total=150) as archive:
        assert archive.read("a", 100) == b"x" * 100
        with pytest.raises(ArchiveError, match="holds 'b' of 100 bytes, which is larger than allowed"):
            archive.read("b", 100)
    with (
        open_archive(tmp_path / "x.zip", largest_total=1000) as archive,
        pytest.raises(ArchiveError, match="'a' of 100"),
    ):
        archive.read("a", 99)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packings_that_cannot_be_bounded_are_not_read(tmp_path, method):
    pack(tmp_path / "x.zip", {"a": b"content"}, method)
    with (
        open_archive(tmp_path / "x.zip", largest_total=1000) as archive,
        pytest.raises(ArchiveError, match="holds 'a', which is packed by a method that is not supported"),
    ):
        archive.read("a", 100)


def test_an_encrypted_member_is_not_read(tmp_path):
    pack(tmp_path / "x", {"a": b"content"})
    data = bytearray((tmp_path / "x").read_bytes())
    data[data.index(b"PK\x03\x04") + 6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "x").write_bytes(bytes(data))
    with (
        open_archive(tmp_path / "x", largest_total=1000) as archive,
        pytest.raises(ArchiveError, match="packed by a method that is not supported"),
    ):
        archive.read("a", 100)


def test_a_member_larger_than_stated_is_stopped(tmp_path):
    pack(tmp_path / "x", {"a": bytes(5000)}, zipfile.ZIP_STORED)
    data = bytearray((tmp_path / "x").read_bytes())
    listed = data.index(b"PK\x01\x02")
    # The size that the list of members states.
    data[listed + 24 : listed + 28] = (10).to_bytes(4, "little")
    (tmp_path / "x").write_bytes(bytes(data))
    with (
        open_archive(tmp_path / "x", largest_total=1000) as archive,
        pytest.raises(ArchiveError, match="not a complete zip"),
    ):
        archive.read("a", 100)


DAMAGED = {
    "not a zip file": b"hello",
    "a list before the file's start": b"PK\x05\x06" + bytes(6) + b"\x01\x00" + b"\xff\xff\x00\x00" * 2 + bytes(2),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_archives(tmp_path, name):
    (tmp_path / "x").write_bytes(DAMAGED[name])
    with (
        pytest.raises(ArchiveError, match="it is not a complete zip file"),
        open_archive(tmp_path / "x", largest_total=1),
    ):
        pytest.fail("there is nothing to read")


def test_a_disk_that_fails_is_not_called_a_damaged_file(tmp_path):
    with pytest.raises(FileNotFoundError), open_archive(tmp_path / "nowhere", largest_total=1):
        pytest.fail("there is nothing to read")
