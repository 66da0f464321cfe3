"""Try inputs on every target for a bounded time, and print the numbers of inputs tried, accepted and refused.

With atheris (``pip install -e ".[fuzz]"``) inputs are guided by the lines of code that they reach; without it, or with
``--plain``, they are seeded changes of good inputs. A finding is written to ``fuzz/findings`` and ends the run with
code 1.
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
    """Fuzz the named targets, or all of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*")
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("FUZZ_SECONDS", "60")))
    parser.add_argument("--inputs", type=int, default=None, help="the most inputs per target, without atheris")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plain", action="store_true", help="do not use atheris, even if it is installed")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    args, rest = parser.parse_known_args()
    with_atheris = not args.plain and importlib.util.find_spec("atheris") is not None
    if args.child:
        return run_atheris(args.targets[0], rest)
    from targets import TARGETS

    names = args.targets or list(TARGETS)
    inputs = "guided by atheris" if with_atheris else "seeded changes, without atheris"
    print(f"inputs {inputs}, {args.seconds:g} s for each target")
    return max(run_child(name, args) if with_atheris else run_plain(name, args) for name in names)


def run_plain(name: str, args: argparse.Namespace) -> int:
    """Try seeded changes of good inputs in this process, up to a time and a number of inputs."""
    from targets import TARGETS

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    n_tried, n_accepted, finding = try_inputs(TARGETS[name], seconds=args.seconds, most=args.inputs, seed=args.seed)
    print(f"{name}: {n_tried:,} inputs tried, {n_accepted:,} accepted, {n_tried - n_accepted:,} refused")
    return 0 if finding is None else keep_finding(name, *finding)


def try_inputs(target, *, seconds, most=None, seed=0):  # type: ignore[no-untyped-def]
    """Return the numbers of inputs tried and accepted, and the first finding with its error, or None."""
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
        # Accepted inputs are changed again, further and further from the seeds.
        if accepted and not is_seed and len(kept) < 200:
            kept.append(data)
    return n_tried, n_accepted, None


def keep_finding(name: str, data: bytes, error: BaseException) -> int:
    """Write a finding to a file and print its error."""
    FINDINGS.mkdir(exist_ok=True)
    path = FINDINGS / f"{name}-{abs(hash(data)) % 10**8:08d}"
    path.write_bytes(data)
    traceback.print_exception(error)
    print(f"{name}: a finding, written to {path.relative_to(HERE.parent)}")
    return 1


def run_child(name: str, args: argparse.Namespace) -> int:
    """Run atheris in a process of its own, because it ends the process that it runs in."""
    with tempfile.TemporaryDirectory() as corpus:
        from targets import TARGETS

        for number, seed in enumerate(TARGETS[name].seeds()):
            (Path(corpus) / f"seed{number}").write_bytes(seed)
        FINDINGS.mkdir(exist_ok=True)
        options = [
            f"-max_total_time={max(1, int(args.seconds))}",
            f"-seed={args.seed + 1}",
            f"-max_len={LARGEST_INPUT}",
            f"-rss_limit_mb={MEMORY // 2**20}",
            f"-artifact_prefix={FINDINGS / name}-",
            "-verbosity=0",
            "-print_final_stats=1",
            corpus,
        ]
        command = [sys.executable, str(HERE / "drive.py"), name, "--child", *options]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
    output = done.stdout + done.stderr
    tried = next((line.split()[-1] for line in output.splitlines() if "number_of_executed_units" in line), "?")
    if done.returncode:
        print(output[-6000:])
        print(f"{name}: a finding after {tried} inputs; it is in {FINDINGS.relative_to(HERE.parent)}")
        return 1
    print(f"{name}: {int(tried):,} inputs tried")
    return 0


def run_atheris(name: str, options: list[str]) -> int:
    """Fuzz one target with atheris in this process."""
    import atheris

    with atheris.instrument_imports(include=["oleander"]):
        from mutation import mutate
        from targets import TARGETS
    target = TARGETS[name]

    def try_one(data: bytes) -> None:
        try:
            target.run(data)
        except BaseException as error:
            # atheris stops only at an Exception.
            raise RuntimeError(f"{type(error).__name__}: {error}") from error

    seeds = target.seeds()

    def change(data: bytes, largest: int, seed: int) -> bytes:
        rng = random.Random(seed)
        # Random changes of bytes mostly break JSON.
        if target.is_json and rng.random() < 0.7:
            return mutate(data, seeds, rng, is_json=True)[:largest]
        return bytes(atheris.Mutate(data, largest))

    atheris.Setup([sys.argv[0], *options], try_one, custom_mutator=change)
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())
