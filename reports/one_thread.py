"""Linear algebra on one thread: how many there are changes the order of sums, and with it the last digits."""

from importlib import import_module

from threadpoolctl import threadpool_limits


def one_thread() -> threadpool_limits:
    """Within, the libraries of linear algebra work on one thread, so that a result is the same on every machine."""
    import_module("scipy.linalg")  # which brings the last of these libraries
    return threadpool_limits(1)
