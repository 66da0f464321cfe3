"""Try inputs against every door for a bounded time, and say how many were tried, accepted and refused.

With atheris (``pip install -e ".[fuzz]"``) inputs are led by which lines they reach; without it, or with ``--plain``,
they are seeded changes of good ones. A finding is written to ``fuzz/findings`` and ends the run with code 1.
"""

import argparse
import importlib.util
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
FINDINGS = HERE / "findings"
LARGEST_INPUT = 2**16
MEMORY = 4 * 2**30


def main() -> int:
    """Fuzz the targets that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("FUZZ_SECONDS", "60")))
    parser.add_argument("--inputs", type=int, default=None, help="at most so many, without atheris")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="without atheris, even if it is there")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given, rest = parser.parse_known_args()
    is_led = not given.plain and importlib.util.find_spec("atheris") is not None
    if given.child:
        return run_led(given.targets[0], given.seconds, rest)
    from targets import TARGETS

    names = given.targets or list(TARGETS)
    print(f"{'with atheris' if is_led else 'seeded changes, without atheris'}, {given.seconds:g} s for each target")
    ends = [run_child(name, given) if is_led else run_plain(name, given) for name in names]
    return max(ends)


def run_plain(name: str, given: argparse.Namespace) -> int:
    """Try seeded changes of good inputs in this process, until the time or the inputs are over."""
    from targets import TARGETS

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    n_tried, n_accepted, finding = try_inputs(TARGETS[name], seconds=given.seconds, most=given.inputs, seed=given.seed)
    print(f"{name}: {n_tried:,} inputs tried, {n_accepted:,} accepted, {n_tried - n_accepted:,} refused")
    return 0 if finding is None else tell(name, *finding)


def try_inputs(target, *, seconds, most=None, seed=0):  # type: ignore[no-untyped-def]
    """Return how many inputs were tried and accepted, and the first finding with its error, or None."""
    from mutation import mutate

    rng = random.Random(seed)
    seeds = target.seeds()
    kept = list(seeds)
    n_tried = n_accepted = 0
    end = time.monotonic() + seconds
    while (most is None or n_tried < most) and (n_tried < len(seeds) or time.monotonic() < end):
        is_seed = n_tried < len(seeds)
        data = seeds[n_tried] if is_seed else mutate(rng.choice(kept), seeds, rng, is_json=target.is_json)
        data = data[:LARGEST_INPUT] if not is_seed else data
        try:
            accepted = target.run(data)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            return n_tried + 1, n_accepted, (data, error)
        n_tried += 1
        n_accepted += accepted
        # What was accepted is a good place to go on from, further and further from the seeds.
        if accepted and not is_seed and len(kept) < 200:
            kept.append(data)
    return n_tried, n_accepted, None


def tell(name: str, data: bytes, error: BaseException) -> int:
    """Keep a finding and print it."""
    FINDINGS.mkdir(exist_ok=True)
    path = FINDINGS / f"{name}-{abs(hash(data)) % 10**8:08d}"
    path.write_bytes(data)
    traceback.print_exception(error)
    print(f"{name}: a finding, kept in {path.relative_to(HERE.parent)}")
    return 1


def run_child(name: str, given: argparse.Namespace) -> int:
    """Run atheris in a process of its own: it ends the process it runs in."""
    with tempfile.TemporaryDirectory() as corpus:
        from targets import TARGETS

        for number, seed in enumerate(TARGETS[name].seeds()):
            (Path(corpus) / f"seed{number}").write_bytes(seed)
        FINDINGS.mkdir(exist_ok=True)
        options = [
            f"-max_total_time={max(1, int(given.seconds))}",
            f"-seed={given.seed + 1}",
            f"-max_len={LARGEST_INPUT}",
            f"-rss_limit_mb={MEMORY // 2**20}",
            f"-artifact_prefix={FINDINGS / name}-",
            "-verbosity=0",
            "-print_final_stats=1",
            corpus,
        ]
        command = [sys.executable, str(HERE / "drive.py"), name, "--child", *options]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    words = done.stdout + done.stderr
    tried = next((line.split()[-1] for line in words.splitlines() if "number_of_executed_units" in line), "?")
    if done.returncode:
        print(words[-6000:])
        print(f"{name}: a finding after {tried} inputs; it is in {FINDINGS.relative_to(HERE.parent)}")
        return 1
    print(f"{name}: {int(tried):,} inputs tried")
    return 0


def run_led(name: str, seconds: float, options: list[str]) -> int:
    """Let atheris lead the way, in this process."""
    import atheris

    with atheris.instrument_imports(include=["oleander"]):
        from mutation import mutate
        from targets import TARGETS
    target = TARGETS[name]

    def try_one(data: bytes) -> None:
        try:
            target.run(data)
        except BaseException as error:
            # atheris stops at an Exception only.
            raise RuntimeError(f"{type(error).__name__}: {error}") from error

    seeds = target.seeds()

    def change(data: bytes, largest: int, seed: int) -> bytes:
        rng = random.Random(seed)
        # Bytes of JSON that are changed at random are mostly no JSON.
        if target.is_json and rng.random() < 0.7:
            return mutate(data, seeds, rng, is_json=True)[:largest]
        return bytes(atheris.Mutate(data, largest))

    atheris.Setup([sys.argv[0], *options], try_one, custom_mutator=change)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
