"""Files that ask for too much: memory, other folders, other formats."""

import gzip
import subprocess
import sys

import pytest

from oleander.files import saved
from oleander.files.saved import write_file

MIB = 2**20
MEMORY = 250 * MIB


def pack_bomb(path, head, filling, n_blocks):
    """Write a beginning and blocks of four MiB behind gzip, one member each, without ever having them all in memory."""
    path.write_bytes(gzip.compress(head) + gzip.compress(filling * (4 * MIB // len(filling))) * n_blocks)


PROGRAM = f"""
import resource, sys
from oleander import AggregateExplainer
load = AggregateExplainer.load
# The packages that are loaded by now do not count.
with open("/proc/self/statm") as statm:
    now = int(statm.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + {MEMORY}, now + {MEMORY}))
for path in sys.argv[1:]:
    try:
        load(path)
    except ValueError as error:
        print("refused:", error)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the limit on memory is Linux's")
def test_a_bomb_is_refused_within_little_memory(tmp_path):
    paths = [tmp_path / name for name in ("bytes", "objects")]
    pack_bomb(paths[0], b"", b"\0", 750)
    # Parsed, these empty objects would take twenty times as much memory as their text.
    pack_bomb(paths[1], b"[", b"{}, ", 15)
    assert all(path.stat().st_size < 4 * MIB for path in paths)
    command = [sys.executable, "-c", PROGRAM, *paths]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    reasons = ("more than 67,108,864 bytes", "more than 5,000,000 values")
    for said, reason in zip(done.stdout.splitlines(), reasons, strict=True):
        assert said.startswith("refused:"), done.stderr
        assert reason in said


def test_content_that_could_not_be_read_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(saved, "LARGEST_JSON", 100)
    with pytest.raises(ValueError, match="the file would hold more than 100 bytes; such files are not read"):
        write_file(tmp_path / "x", {"rows": [0.0] * 25})
    assert not list(tmp_path.iterdir())
