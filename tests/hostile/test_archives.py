"""Files that ask for too much: memory, other folders, other formats."""

import gzip
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from oleander.files import saved
from oleander.files.saved import write_file
from studies.data import load_geriatric

MIB = 2**20
MEMORY = 250 * MIB
TRIAL = "0,0.5,0.4,-1.2,2,-59,1.2,923.25,1\n"


def pack_bomb(path, head, filling, n_blocks):
    """Write a beginning and blocks of four MiB behind gzip, one member each, without ever having them all in memory."""
    path.write_bytes(gzip.compress(head) + gzip.compress(filling * (4 * MIB // len(filling))) * n_blocks)


def pack_false_archive(path):
    """Write an archive whose member is far larger than the ten bytes that the list of members states."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("d1p01M", "w") as one,
    ):
        for _ in range(100):
            one.write(bytes(4 * MIB))
    data = bytearray(path.read_bytes())
    listed = data.index(b"PK\x01\x02")
    data[listed + 24 : listed + 28] = (10).to_bytes(4, "little")
    path.write_bytes(data)


PROGRAM = f"""
import resource, sys
from oleander import AggregateExplainer
from studies.data import load_geriatric
load = AggregateExplainer.load
# The packages that are loaded by now do not count.
with open("/proc/self/statm") as statm:
    now = int(statm.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + {MEMORY}, now + {MEMORY}))
for path in sys.argv[1:]:
    try:
        (load_geriatric if path.endswith(".zip") else load)(path)
    except ValueError as error:
        print("refused:", error)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the limit on memory is Linux's")
def test_a_bomb_is_refused_within_little_memory(tmp_path):
    paths = [tmp_path / name for name in ("bytes", "objects", "false.zip")]
    pack_bomb(paths[0], b"", b"\0", 750)
    # Parsed, these empty objects would take twenty times as much memory as their text.
    pack_bomb(paths[1], b"[", b"{}, ", 15)
    pack_false_archive(paths[2])
    assert all(path.stat().st_size < 4 * MIB for path in paths)
    command = [sys.executable, "-c", PROGRAM, *paths]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    reasons = ("more than 67,108,864 bytes", "more than 5,000,000 values", "not a complete zip")
    for said, reason in zip(done.stdout.splitlines(), reasons, strict=True):
        assert said.startswith("refused:"), done.stderr
        assert reason in said


@pytest.mark.parametrize("name", ["../../d1p01M", "/tmp/d1p01M", "S1/../../../d1p01M", "..\\..\\d1p01M"])
def test_names_of_members_lead_to_no_folder(tmp_path, name):
    """Nothing is unpacked to the disk."""
    folder = tmp_path / "deep" / "deeper"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / "uci_archive.zip", "w") as archive:
        for member in ("d2p02F", name):
            archive.writestr(member, TRIAL)
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
