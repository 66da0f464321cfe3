"""Archives that want more than they may: memory, other folders, other formats."""

import hashlib
import io
import json
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from oleander import AggregateExplainer
from oleander.export.saved_file import FileError, read_file, write_file
from studies.data import load_geriatric

MIB = 2**20
MEMORY = 250 * MIB
TRIAL = "0,0.5,0.4,-1.2,2,-59,1.2,923.25,1\n"


def pack(path, parts, method=zipfile.ZIP_DEFLATED):
    """Write an archive of small members."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def pack_zeros(path, parts, *, said=None):
    """Write members of a beginning and so many zeros, as a hostile writer would: without ever having the zeros.

    ``said`` is the size that the archive tells, where it is not the true one.
    """
    block = bytes(2**22)
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    # After a full flush the next bytes do not depend on what was before, so they can be repeated.
    repeated = packed.compress(block) + packed.flush(zlib.Z_FULL_FLUSH)
    body, listed = io.BytesIO(), io.BytesIO()
    for name, (head, n_zeros) in parts.items():
        first = zlib.compressobj(9, zlib.DEFLATED, -15)
        data = first.compress(head) + first.flush(zlib.Z_FULL_FLUSH) + repeated * (n_zeros // len(block))
        data += zlib.compressobj(9, zlib.DEFLATED, -15).flush()
        check = zlib.crc32(head)
        # Nobody comes to the end of the largest ones, where the sum is compared.
        for _ in range(n_zeros // len(block) if n_zeros < 1000 * MIB else 0):
            check = zlib.crc32(block, check)
        size = len(head) + n_zeros if said is None else said
        common = struct.pack("<HHHHHIIIHH", 20, 0, zipfile.ZIP_DEFLATED, 0, 0x21, check, len(data), size, len(name), 0)
        start = body.tell()
        body.write(b"PK\x03\x04" + common + name.encode() + data)
        listed.write(b"PK\x01\x02\x14\x00" + common + struct.pack("<HHHII", 0, 0, 0, 0, start) + name.encode())
    where, length = body.tell(), listed.tell()
    end = struct.pack("<HHHHIIH", 0, 0, len(parts), len(parts), length, where, 0)
    path.write_bytes(body.getvalue() + listed.getvalue() + b"PK\x05\x06" + end)


LOADERS = """
from oleander import AggregateExplainer
from studies.data import load_geriatric
saved, geriatric = AggregateExplainer.load, load_geriatric
"""


def array_bytes(header, body=b""):
    text = header.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + body


CONTENT = (json.dumps({"format": 1}).encode(), 0)
ZEROS = array_bytes(f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({400 * MIB},)}}")
# Who loads it, the parts, and the size that it tells where that is a lie.
BOMBS = {
    "one part": ("saved", {"atlas.json": (b"", 3000 * MIB), "digests.json": (b"{}", 0)}, None),
    # Each within the limit for one, together beyond the limit for all.
    "many parts": (
        "saved",
        {"atlas.json": CONTENT, "digests.json": (b"{}", 0), **{f"rows{i}.npy": (ZEROS, 400 * MIB) for i in range(4)}},
        None,
    ),
    "a trial": ("geriatric", {"d1p01M": (b"", 3000 * MIB)}, None),
    "many trials": ("geriatric", {f"d1p{i}M": (TRIAL.encode() * 1000, 16 * MIB) for i in range(10, 60)}, None),
    "a lie about a part": ("saved", {"atlas.json": (b"", 2000 * MIB), "digests.json": (b"{}", 0)}, 2),
    "a lie about a trial": ("geriatric", {"d1p01M": (b"", 2000 * MIB)}, 10),
}


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    """What is said of each bomb by a process that may have little memory."""
    folder = tmp_path_factory.mktemp("bombs")
    calls = []
    for number, (loader, parts, size) in enumerate(BOMBS.values()):
        path = folder / str(number)
        pack_zeros(path, parts, said=size)
        assert path.stat().st_size < 4 * MIB
        calls.append(f"({loader}, {str(path)!r})")
    program = f"""
import resource
{LOADERS}
# What is loaded by now is not what is measured.
with open("/proc/self/statm") as statm:
    now = int(statm.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + {MEMORY}, now + {MEMORY}))
for load, path in [{", ".join(calls)}]:
    try:
        load(path)
    except ValueError as error:
        print("refused:", error)
    except BaseException as error:
        print("broken:", repr(error))
    else:
        print("accepted")
"""
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return dict(zip(BOMBS, done.stdout.splitlines(), strict=True))


@pytest.mark.skipif(sys.platform != "linux", reason="the limit on memory is Linux's")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_within_little_memory(said, name):
    assert said[name].startswith("refused:")
    if BOMBS[name][2] is None and name != "many trials":
        assert "larger than it may be" in said[name]


def test_a_bomb_is_a_good_archive(tmp_path):
    """Otherwise the tests above would show nothing."""
    pack_zeros(tmp_path / "x.zip", {"a": (b"head", 8 * MIB)})
    with zipfile.ZipFile(tmp_path / "x.zip") as archive:
        assert archive.read("a") == b"head" + bytes(8 * MIB)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packings_that_cannot_be_bounded_are_not_read(tmp_path, method):
    pack(tmp_path / "x.zip", {"d1p01M": TRIAL.encode()}, method)
    with pytest.raises(ValueError, match="holds 'd1p01M', which is packed in a way that is not read here"):
        load_geriatric(tmp_path / "x.zip")


@pytest.mark.parametrize("name", ["../../d1p01M", "/tmp/d1p01M", "S1/../../../d1p01M", "..\\..\\d1p01M"])
def test_names_that_climb_are_only_names(tmp_path, name):
    """Nothing is unpacked to the disk, so a member's name leads nowhere."""
    folder = tmp_path / "deep" / "deeper"
    folder.mkdir(parents=True)
    pack(folder / "uci_archive.zip", {"d2p02F": TRIAL.encode(), name: TRIAL.encode()})
    load_geriatric(folder)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["deep", "deeper", "uci_archive.zip"]
    assert not Path("/tmp/d1p01M").exists()


ARRAYS = {
    "a shape of 8 TB": array_bytes("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}"),
    "a shape below zero": array_bytes("{'descr': '<f8', 'fortran_order': False, 'shape': (-1, -1)}", bytes(8)),
    "objects": array_bytes("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", bytes(8)),
    "a program": array_bytes("__import__('os').system('true')"),
    "more bytes than said": array_bytes("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", bytes(16)),
    "no header": b"rows",
    "another version": b"\x93NUMPY\x09\x00" + bytes(20),
    "nothing": b"",
}


@pytest.mark.parametrize("with_arrays", [True, False])
@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_believed_as_far_as_there_are_bytes(tmp_path, name, with_arrays):
    parts = {"atlas.json": json.dumps({"format": 1}).encode(), "rows.npy": ARRAYS[name]}
    digests = {part: hashlib.sha256(data).hexdigest() for part, data in parts.items()}
    pack(tmp_path / "x", {**parts, "digests.json": json.dumps(digests).encode()})
    with pytest.raises(FileError, match="cannot be read as a saved explainer"):
        read_file(tmp_path / "x", with_arrays=with_arrays)


@pytest.mark.parametrize("shape", [(0, 3), (5, 3), (1, 0)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_come_back_as_they_were(tmp_path, shape, order):
    rows = np.asarray(np.random.default_rng(0).normal(size=shape), order=order)
    write_file(tmp_path / "x", {}, {"rows": rows})
    np.testing.assert_array_equal(read_file(tmp_path / "x")[1]["rows"], rows)


def test_what_could_not_be_read_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr("oleander.export.saved_file.LARGEST_MEMBER", 100)
    with pytest.raises(ValueError, match=r"rows\.npy would have 328 bytes; a file of which a part has over 100"):
        write_file(tmp_path / "x", {}, {"rows": np.zeros(25)})
    assert not list(tmp_path.iterdir())


DAMAGED = {
    "not a zip file": b"hello",
    "an end without a beginning": b"PK\x05\x06" + bytes(18),
    "a list before the file's start": b"PK\x05\x06" + bytes(6) + b"\x01\x00" + b"\xff\xff\x00\x00" * 2 + bytes(2),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_archives(tmp_path, name):
    (tmp_path / "x").write_bytes(DAMAGED[name])
    with pytest.raises(FileError, match="saved explainer"):
        AggregateExplainer.load(tmp_path / "x")
    with pytest.raises(ValueError, match=r"cannot be read: it is not a whole zip file|without files like"):
        load_geriatric(tmp_path / "x")


def test_an_encrypted_member(tmp_path):
    pack(tmp_path / "x", {"d1p01M": TRIAL.encode()})
    data = bytearray((tmp_path / "x").read_bytes())
    data[data.index(b"PK\x03\x04") + 6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    (tmp_path / "x").write_bytes(bytes(data))
    with pytest.raises(ValueError, match="packed in a way that is not read here"):
        load_geriatric(tmp_path / "x")


def test_a_disk_that_fails_is_not_called_a_damaged_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        AggregateExplainer.load(tmp_path / "nowhere")
    with pytest.raises(IsADirectoryError):
        AggregateExplainer.load(tmp_path)


def test_trials_that_cannot_be_read(tmp_path):
    for content in (b"", b'1,"2', b"1,2\n1,2,3\n", b"\xff\xfe" * 9):
        (tmp_path / "d1p01M").write_bytes(content)
        with pytest.raises(ValueError, match="d1p01M") as caught:
            load_geriatric(tmp_path)
        assert "\n" not in str(caught.value)


def test_an_activity_that_is_a_novel_is_cut_short(tmp_path):
    (tmp_path / "d1p01M").write_text(TRIAL.replace(",1\n", f",{'x' * 5000}\n"))
    with pytest.raises(ValueError, match=r"has activity x+ in line 1") as caught:
        load_geriatric(tmp_path)
    assert len(str(caught.value)) < 200
