"""The one door to parallel work: joblib, on whatever it is told to run, with what all tasks share sent once."""

import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from joblib import Parallel, delayed, parallel_config
from joblib.parallel import get_active_backend

from oleander.running.extras import import_extra

# What each cluster was sent, by its identity here.
_SENT: weakref.WeakKeyDictionary[Any, dict[int, tuple[Any, Any]]] = weakref.WeakKeyDictionary()


def run_tasks(
    function: Callable[..., Any],
    shared: Sequence[Any],
    tasks: Iterable[tuple[Any, ...]],
    *,
    n_jobs: int | None = None,
) -> Iterator[tuple[int, Any]]:
    """Yield the number and the result of each task as it is done, in any order.

    Parameters
    ----------
    function : callable
        Called with what is shared and then with what is the task's own.
    shared : sequence
        The rows, the black box. A Dask cluster is sent them once, not with every task; if a worker dies, others do
        what it had not done.
    tasks : iterable of tuple
    n_jobs : int or None
        As in joblib.

    Examples
    --------
    >>> dict(run_tasks(pow, [2], [(3,), (5,)]))
    {0: 8, 1: 32}
    """
    backend, _ = get_active_backend()
    numbered = dict(enumerate(tasks))
    if type(backend).__name__ == "DaskDistributedBackend":
        yield from _run_on_cluster(backend.client, function, shared, numbered, n_jobs)
        return
    jobs = (delayed(_numbered)(number, function, *shared, *task) for number, task in numbered.items())
    return_as = "generator_unordered" if backend.supports_return_generator else "list"
    yield from Parallel(n_jobs=n_jobs, return_as=return_as)(jobs)


def _run_on_cluster(
    client: Any, function: Callable[..., Any], shared: Sequence[Any], tasks: dict[int, Any], n_jobs: int | None
) -> Iterator[tuple[int, Any]]:
    sent = [_send(client, each) for each in shared]
    jobs = (delayed(_on_worker)(number, function, *sent, *task) for number, task in tasks.items())
    yield from Parallel(n_jobs=n_jobs, return_as="generator_unordered", batch_size=1)(jobs)


def _send(client: Any, thing: Any) -> Any:
    """Return a future for a thing on the cluster; it is sent once, as long as it lives here."""
    sent, key = _SENT.setdefault(client, {}), id(thing)
    known = sent.get(key)
    if known is not None and known[0]() is thing:
        return known[1]
    try:
        # When the thing is gone here, the cluster may forget it too.
        alive = weakref.ref(thing, lambda _: sent.pop(key, None))
    except TypeError:
        # A number or a name: small, and sent with each task.
        return thing
    pickler = import_extra("cloudpickle", extra="dask", purpose="A Dask cluster")
    # As a task's result it can be made again. Scattered, as joblib does with what is large, the last copy dies with the
    # worker that has it, and the whole fit with that.
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Sending large graph")
        future = client.submit(pickler.loads, pickler.dumps(thing), pure=False)
    sent[key] = (alive, future)
    return future


def _numbered(number: int, function: Callable[..., Any], *given: Any) -> tuple[int, Any]:
    return number, function(*given)


def _on_worker(number: int, function: Callable[..., Any], *given: Any) -> tuple[int, Any]:
    # A worker keeps its task to itself: work inside it is not spread over the cluster again.
    with parallel_config(backend="sequential"):
        return number, function(*given)
