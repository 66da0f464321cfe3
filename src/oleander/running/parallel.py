"""Parallel work through joblib, on any of its backends; workers get shared objects once, not with each task."""

import pickle
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from joblib import Parallel, cpu_count, delayed, effective_n_jobs, parallel_config
from joblib.externals.loky.backend.reduction import dumps
from joblib.parallel import LokyBackend, get_active_backend

from oleander.messages import import_extra, one_line

# Futures of the objects sent to each cluster, by the object's id.
_SENT: weakref.WeakKeyDictionary[Any, dict[int, Any]] = weakref.WeakKeyDictionary()


def run_tasks(
    function: Callable[..., Any],
    shared: Sequence[Any],
    tasks: Iterable[tuple[Any, ...]],
    *,
    n_jobs: int | None = None,
    on_threads: bool = False,
) -> Iterator[tuple[int, Any]]:
    """Yield the number and the result of each task as it ends, in any order.

    The function is called with the shared objects, such as the rows and the black box, and then with the task's own
    small arguments. A process, a Dask cluster or a Spark worker gets shared objects once. If a worker of a cluster
    dies, others take over. ``on_threads`` says that the function spends its time in kernels that run beside each other:
    then ``n_jobs=None`` is a thread for each core.
    """
    backend, n_active = get_active_backend()
    numbered = enumerate(tasks)
    if type(backend).__name__ == "DaskDistributedBackend":
        yield from _run_on_cluster(backend, function, shared, numbered, n_jobs)
    elif type(backend).__name__ == "SparkDistributedBackend":
        yield from _run_on_spark(function, shared, numbered, n_jobs)
    elif isinstance(backend, LokyBackend) and not on_threads and effective_n_jobs(n_jobs) > 1:
        yield from _run_in_processes(function, shared, numbered, n_jobs)
    else:
        jobs = (delayed(_numbered)(number, function, *shared, *task) for number, task in numbered)
        how: dict[str, Any] = {"n_jobs": n_jobs, "return_as": "generator_unordered"}
        if not backend.supports_return_generator:
            how["return_as"] = "list"
        is_default = n_jobs is None and n_active is None and type(backend) is LokyBackend
        if on_threads and is_default and not backend.nesting_level:
            how |= {"n_jobs": cpu_count(), "backend": "threading"}
        yield from Parallel(**how)(jobs)


def _run_in_processes(
    function: Callable[..., Any], shared: Sequence[Any], tasks: Iterable[tuple[int, Any]], n_jobs: int | None
) -> Iterator[tuple[int, Any]]:
    """Run the tasks with the shared objects in a file, which each process reads once."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "shared"
        path.write_bytes(_dump(shared))
        jobs = (delayed(_in_process)(path, number, function, *task) for number, task in tasks)
        yield from Parallel(n_jobs=n_jobs, return_as="generator_unordered")(jobs)


def _dump(shared: Sequence[Any]) -> bytes:
    try:
        return bytes(dumps(list(shared)))
    except Exception as error:
        raise TypeError(
            f"the black box cannot be sent to other processes ({type(error).__name__}: {one_line(error)}): use "
            'threads, with joblib.parallel_config(backend="threading"), or leave out n_jobs.'
        ) from error


@lru_cache(maxsize=1)
def _read_shared(given: Path | bytes) -> Any:
    return pickle.loads(given.read_bytes() if isinstance(given, Path) else given)


def _in_process(path: Path, number: int, function: Callable[..., Any], *task: Any) -> tuple[int, Any]:
    return number, function(*_read_shared(path), *task)


def _run_on_cluster(
    backend: Any,
    function: Callable[..., Any],
    shared: Sequence[Any],
    tasks: Iterable[tuple[int, Any]],
    n_jobs: int | None,
) -> Iterator[tuple[int, Any]]:
    """Submit the tasks to the cluster, two for each of its threads at a time.

    Not by `Parallel`, which calls the tasks in this process while the cluster has a single thread, as when the last but
    one of its workers has died, and sends large arguments in a way that loses them with a worker.
    """
    distributed = import_extra("distributed", extra="dask", purpose="A Dask cluster")
    client = backend.client
    sent = [_send(client, one) for one in shared]
    jobs = (
        _submit(client, _on_worker, number, function, *sent, *task, **backend.submit_kwargs) for number, task in tasks
    )
    # A fit inside a task of the same cluster gives its thread back while it waits.
    with backend.retrieval_context():
        # Asking for the number of threads waits for a first worker, or says that there is none. It may die meanwhile.
        n_threads = max(1, backend.effective_n_jobs(n_jobs))
        under_way = distributed.as_completed(islice(jobs, 2 * n_threads), with_results=True)
        for _, result in under_way:
            under_way.update(islice(jobs, 1))
            yield result


def _run_on_spark(
    function: Callable[..., Any], shared: Sequence[Any], tasks: Iterator[tuple[int, Any]], n_jobs: int | None
) -> Iterator[tuple[int, Any]]:
    """Run as many tasks at a time on Spark's workers as there are jobs, with the shared objects broadcast.

    Not by `Parallel`, whose backend for Spark sends everything with each task and hides what went wrong.
    """
    context = import_extra("pyspark", extra="spark", purpose="A Spark cluster").SparkContext.getOrCreate()
    sent = context.broadcast(_dump(shared))
    try:
        while wave := list(islice(tasks, effective_n_jobs(n_jobs))):
            done = context.parallelize(wave, len(wave)).map(partial(_on_spark, sent, function)).collect()
            yield from ((number, result) for number, result, error in done if error is None)
            for *_, error in done:
                if error is not None:
                    raise error
    finally:
        sent.destroy()


def _on_spark(sent: Any, function: Callable[..., Any], job: tuple[int, Any]) -> tuple[int, Any, Exception | None]:
    # An error is a result: Spark repeats a task that fails, and the black box must not be asked again.
    try:
        return *_on_worker(job[0], function, *_read_shared(sent.value), *job[1]), None
    except Exception as error:
        return job[0], None, error


def _send(client: Any, shared: Any) -> Any:
    """Return a future for an object on the cluster; it is sent once in its lifetime here."""
    sent, key = _SENT.setdefault(client, {}), id(shared)
    if key not in sent:
        try:
            # When the object is gone here, the cluster may forget it too.
            weakref.finalize(shared, sent.pop, key, None).atexit = False
        except TypeError:
            # A number or a string is small and sent with each task.
            return shared
        # The result of a task can be computed again. A scattered object, as joblib sends large ones, is lost with the
        # worker that holds its last copy, and the whole fit fails.
        sent[key] = _submit(client, pickle.loads, dumps(shared))
    return sent[key]


def _submit(client: Any, *given: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        return client.submit(*given, pure=False, **options)


def _numbered(number: int, function: Callable[..., Any], *given: Any) -> tuple[int, Any]:
    return number, function(*given)


def _on_worker(*job: Any) -> tuple[int, Any]:
    # Work inside a task stays on its worker and is not spread over the cluster again.
    with parallel_config(backend="sequential"):
        return _numbered(*job)
