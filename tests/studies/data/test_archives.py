import zipfile

import pytest

from studies.data.archives import ArchiveError, open_archive


def pack(path, parts, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def assert_refused(path, message, name="a", largest=100, largest_total=1000):
    with open_archive(path, largest_total=largest_total) as archive, pytest.raises(ArchiveError, match=message):
        archive.read(name, largest)


def test_an_archive_is_read_up_to_what_is_allowed(tmp_path):
    pack(tmp_path / "x.zip", {"a": b"x" * 100, "b": b"y" * 100})
    with open_archive(tmp_path / "x.zip", largest_total=150) as archive:
        assert archive.read("a", 100) == b"x" * 100
        with pytest.raises(ArchiveError, match="holds 'b' of 100 bytes, which is larger than allowed"):
            archive.read("b", 100)
    assert_refused(tmp_path / "x.zip", "'a' of 100", largest=99)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packings_that_cannot_be_bounded_are_not_read(tmp_path, method):
    pack(tmp_path / "x.zip", {"a": b"content"}, method)
    assert_refused(tmp_path / "x.zip", "holds 'a', which is packed by a method that is not supported")


def encrypt(data):
    data[data.index(b"PK\x03\x04") + 6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1


def state_less(data):
    """Lower the size that the list of members states."""
    listed = data.index(b"PK\x01\x02")
    data[listed + 24 : listed + 28] = (10).to_bytes(4, "little")


@pytest.mark.parametrize(
    ("change", "message"),
    [(encrypt, "packed by a method that is not supported"), (state_less, "not a complete zip")],
)
def test_a_member_that_is_encrypted_or_larger_than_stated_is_not_read(tmp_path, change, message):
    pack(tmp_path / "x", {"a": bytes(5000)}, zipfile.ZIP_STORED)
    data = bytearray((tmp_path / "x").read_bytes())
    change(data)
    (tmp_path / "x").write_bytes(bytes(data))
    assert_refused(tmp_path / "x", message, largest=10_000, largest_total=10_000)


@pytest.mark.parametrize(
    "content",
    [b"hello", b"PK\x05\x06" + bytes(6) + b"\x01\x00" + b"\xff\xff\x00\x00" * 2 + bytes(2)],
    ids=["not a zip file", "a list before the file's start"],
)
def test_damaged_archives(tmp_path, content):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ArchiveError, match="it is not a complete zip file"):
        assert_refused(tmp_path / "x", "")


def test_a_disk_that_fails_is_not_called_a_damaged_file(tmp_path):
    with pytest.raises(FileNotFoundError), open_archive(tmp_path / "nowhere", largest_total=1):
        pytest.fail("there is nothing to read")
