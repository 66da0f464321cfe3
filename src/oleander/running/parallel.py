"""Parallel work through joblib, on any of its backends; a Dask cluster gets shared objects once."""

import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from joblib import Parallel, delayed, parallel_config
from joblib.parallel import get_active_backend

from oleander.running.extras import import_extra

# Futures of the objects sent to each cluster, by the object's id.
_SENT: weakref.WeakKeyDictionary[Any, dict[int, tuple[Any, Any]]] = weakref.WeakKeyDictionary()


def run_tasks(
    function: Callable[..., Any],
    shared: Sequence[Any],
    tasks: Iterable[tuple[Any, ...]],
    *,
    n_jobs: int | None = None,
) -> Iterator[tuple[int, Any]]:
    """Yield the number and the result of each task as it ends, in any order.

    Parameters
    ----------
    function : callable
        Called with the shared objects and then with the task's own arguments.
    shared : sequence
        Objects that all tasks need, such as the rows and the black box. A Dask cluster gets them once, not with every
        task. If a worker dies, others take over its tasks.
    tasks : iterable of tuple
        Small arguments. A large array here is lost with the worker of a Dask cluster that holds it, and the run hangs.
    n_jobs : int or None
        As in joblib.

    Examples
    --------
    >>> dict(run_tasks(pow, [2], [(3,), (5,)]))
    {0: 8, 1: 32}
    """
    backend, _ = get_active_backend()
    numbered = enumerate(tasks)
    if type(backend).__name__ == "DaskDistributedBackend":
        yield from _run_on_cluster(backend.client, function, shared, numbered, n_jobs)
        return
    jobs = (delayed(_numbered)(number, function, *shared, *task) for number, task in numbered)
    return_as = "generator_unordered" if backend.supports_return_generator else "list"
    yield from Parallel(n_jobs=n_jobs, return_as=return_as)(jobs)


def _run_on_cluster(
    client: Any,
    function: Callable[..., Any],
    shared: Sequence[Any],
    tasks: Iterable[tuple[int, Any]],
    n_jobs: int | None,
) -> Iterator[tuple[int, Any]]:
    sent = [_send(client, one) for one in shared]
    jobs = (delayed(_on_worker)(number, function, *sent, *task) for number, task in tasks)
    yield from Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)(jobs)


def _send(client: Any, shared: Any) -> Any:
    """Return a future for an object on the cluster; it is sent once in its lifetime here."""
    sent, key = _SENT.setdefault(client, {}), id(shared)
    known = sent.get(key)
    if known is not None and known[0]() is shared:
        return known[1]
    try:
        # When the object is gone here, the cluster may forget it too.
        alive = weakref.ref(shared, lambda _: sent.pop(key, None))
    except TypeError:
        # A number or a string is small and sent with each task.
        return shared
    pickler = import_extra("cloudpickle", extra="dask", purpose="A Dask cluster")
    # The result of a task can be computed again. A scattered object, as joblib sends large ones, is lost with the
    # worker that holds its last copy, and the whole fit fails.
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        future = client.submit(pickler.loads, pickler.dumps(shared), pure=False)
    sent[key] = (alive, future)
    return future


def _numbered(number: int, function: Callable[..., Any], *given: Any) -> tuple[int, Any]:
    return number, function(*given)


def _on_worker(number: int, function: Callable[..., Any], *given: Any) -> tuple[int, Any]:
    # Work inside a task stays on its worker and is not spread over the cluster again.
    with parallel_config(backend="sequential"):
        return number, function(*given)
