"""Archives that ask for too much: memory, other folders, other formats."""

import gzip
import io
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import pytest

from oleander.files import saved
from oleander.files.saved import write_file
from studies.data import load_geriatric

MIB = 2**20
MEMORY = 250 * MIB
TRIAL = "0,0.5,0.4,-1.2,2,-59,1.2,923.25,1\n"


def pack(path, parts, method=zipfile.ZIP_DEFLATED):
    """Write an archive of small members."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def pack_bomb(path, parts, *, stated=None, filling=b"\0"):
    """Write members of a beginning and a number of bytes of filling, without ever having these in memory.

    ``stated`` is the size that the archive states, where it is not the true one.
    """
    block = filling * (2**22 // len(filling))
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    # After a full flush the next bytes do not depend on what was before, so they can be repeated.
    repeated = packed.compress(block) + packed.flush(zlib.Z_FULL_FLUSH)
    body, listed = io.BytesIO(), io.BytesIO()
    for name, (head, n_filled) in parts.items():
        first = zlib.compressobj(9, zlib.DEFLATED, -15)
        data = first.compress(head) + first.flush(zlib.Z_FULL_FLUSH) + repeated * (n_filled // len(block))
        data += zlib.compressobj(9, zlib.DEFLATED, -15).flush()
        check = zlib.crc32(head)
        # The largest members are never read to their end, where the sum is compared.
        for _ in range(n_filled // len(block) if n_filled < 1000 * MIB else 0):
            check = zlib.crc32(block, check)
        size = len(head) + n_filled if stated is None else stated
        common = struct.pack("<HHHHHIIIHH", 20, 0, zipfile.ZIP_DEFLATED, 0, 0x21, check, len(data), size, len(name), 0)
        start = body.tell()
        body.write(b"PK\x03\x04" + common + name.encode() + data)
        listed.write(b"PK\x01\x02\x14\x00" + common + struct.pack("<HHHII", 0, 0, 0, 0, start) + name.encode())
    where, length = body.tell(), listed.tell()
    end = struct.pack("<HHHHIIH", 0, 0, len(parts), len(parts), length, where, 0)
    path.write_bytes(body.getvalue() + listed.getvalue() + b"PK\x05\x06" + end)


def gzip_bomb(path, part, *, filling=b"\0"):
    """Write a file behind gzip in the same way."""
    head, n_filled = part
    pack_bomb(path, {"x": part}, filling=filling)
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("x")
        start = info.header_offset + 30 + len(info.filename)
        data = path.read_bytes()[start : start + info.compress_size]
    end = struct.pack("<II", info.CRC, (len(head) + n_filled) % 2**32)
    path.write_bytes(b"\x1f\x8b\x08" + bytes(7) + data + end)


LOADERS = """
from oleander import AggregateExplainer
from studies.data import load_geriatric
saved, geriatric = AggregateExplainer.load, load_geriatric
"""


LARGER = "larger than allowed"
# The loader, the parts, the options of the bomb, and the reason that the refusal names.
BOMBS = {
    "a saved explainer": ("saved", (b"", 3000 * MIB), {}, "more than 67,108,864 bytes"),
    # Parsed, these empty objects would take twenty times as much memory as their text.
    "many objects": ("saved", (b"[", 60 * MIB), {"filling": b"{}, "}, "more than 5,000,000 values"),
    "a trial": ("geriatric", {"d1p01M": (b"", 3000 * MIB)}, {}, LARGER),
    "many trials": ("geriatric", {f"d1p{i}M": (TRIAL.encode() * 1000, 16 * MIB) for i in range(10, 60)}, {}, ""),
    "a trial with a false size": ("geriatric", {"d1p01M": (b"", 2000 * MIB)}, {"stated": 10}, ""),
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """The outcome of loading each bomb, in a process with little memory."""
    folder = tmp_path_factory.mktemp("bombs")
    calls = []
    for number, (loader, parts, options, _) in enumerate(BOMBS.values()):
        path = folder / str(number)
        (pack_bomb if loader == "geriatric" else gzip_bomb)(path, parts, **options)
        assert path.stat().st_size < 4 * MIB
        calls.append(f"({loader}, {str(path)!r})")
    program = f"""
import resource
{LOADERS}
# The packages that are loaded by now do not count.
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


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the limit on memory is Linux's")
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_refused_within_little_memory(outcomes, name):
    assert outcomes[name].startswith("refused:")
    assert BOMBS[name][3] in outcomes[name]


def test_a_bomb_is_a_good_archive(tmp_path):
    """Otherwise the tests above would show nothing."""
    pack_bomb(tmp_path / "x.zip", {"a": (b"head", 8 * MIB)})
    with zipfile.ZipFile(tmp_path / "x.zip") as archive:
        assert archive.read("a") == b"head" + bytes(8 * MIB)


def test_a_bomb_behind_gzip_is_a_good_file(tmp_path):
    gzip_bomb(tmp_path / "x", (b"head", 8 * MIB))
    assert gzip.decompress((tmp_path / "x").read_bytes()) == b"head" + bytes(8 * MIB)


@pytest.mark.parametrize("name", ["../../d1p01M", "/tmp/d1p01M", "S1/../../../d1p01M", "..\\..\\d1p01M"])
def test_names_of_members_lead_to_no_folder(tmp_path, name):
    """Nothing is unpacked to the disk."""
    folder = tmp_path / "deep" / "deeper"
    folder.mkdir(parents=True)
    pack(folder / "uci_archive.zip", {"d2p02F": TRIAL.encode(), name: TRIAL.encode()})
    load_geriatric(folder)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["deep", "deeper", "uci_archive.zip"]
    assert not Path("/tmp/d1p01M").exists()


def test_content_that_could_not_be_read_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(saved, "LARGEST_JSON", 100)
    with pytest.raises(ValueError, match="the file would hold more than 100 bytes; such files are not read"):
        write_file(tmp_path / "x", {"rows": [0.0] * 25})
    assert not list(tmp_path.iterdir())


def test_trials_that_cannot_be_read(tmp_path):
    for content in (b"", b'1,"2', b"1,2\n1,2,3\n", b"\xff\xfe" * 9):
        (tmp_path / "d1p01M").write_bytes(content)
        with pytest.raises(ValueError, match="d1p01M") as caught:
            load_geriatric(tmp_path)
        assert "\n" not in str(caught.value)


def test_a_long_activity_is_shortened_in_the_message(tmp_path):
    (tmp_path / "d1p01M").write_text(TRIAL.replace(",1\n", f",{'x' * 5000}\n"))
    with pytest.raises(ValueError, match=r"has activity x+ in line 1") as caught:
        load_geriatric(tmp_path)
    assert len(str(caught.value)) < 200
