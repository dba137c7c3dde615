"""Compute tasks on a Dask cluster."""

import asyncio
import logging
from collections.abc import Iterator, Mapping
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from marginaudit.orders import InputError, printable, shortened, shown
from marginaudit.reports.processes import Died
from marginaudit.reports.study.executor import Call, with_retries

K = TypeVar("K")

EXTRA = "pip install 'marginaudit[cluster]'"

CONNECT_SECONDS = 10

LONGEST_REASON = 200
"""Longest reason that is shown for a scheduler that does not answer."""


def on_cluster(calls: Mapping[K, Call], address: str) -> Iterator[tuple[K, Any]]:
    """`with_retries` on a cluster.

    The scheduler's ``allowed-failures`` limits the retries of a call after deaths of workers; deaths of a worker in
    whose queue it was waiting count too. So a call that reaches the limit is retried by itself after all others.

    Raises
    ------
    InputError
        No scheduler answers at the address, it is lost, or Dask is not installed.
    """
    try:
        from dask.distributed import KilledWorker, as_completed
    except ImportError:
        raise InputError("--scheduler", got="no dask.distributed", expected=EXTRA) from None
    with _client(address) as client:

        def run(some: Mapping[K, Call]) -> Iterator[tuple[K, Any]]:
            keys = {client.submit(call, pure=False): key for key, call in some.items()}
            for future in as_completed(keys, loop=client.loop):
                try:
                    yield keys[future], future.result()
                except KilledWorker as error:
                    yield keys[future], Died(error)

        try:
            yield from with_retries(run, calls, {})
        except CancelledError:
            raise InputError(_place(address), got="a task cancelled", expected="a scheduler that stays") from None


def _place(address: str) -> str:
    return f"--scheduler {shown(address)}"


def _client(address: str) -> Any:
    from dask.distributed import Client

    for name in logging.root.manager.loggerDict:
        if name.startswith("distributed"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        asyncio.run(_answer(address))
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception as error:  # any server may answer, or the protocol lack settings
        other = isinstance(error, MemoryError)  # its first bytes, read as a size
        got = "an answer in another protocol" if other else printable(str(error))
        got = shortened(got, LONGEST_REASON) or f"no answer within {CONNECT_SECONDS} s"
        raise InputError(_place(address), got=got, expected="a running Dask scheduler") from None


async def _answer(address: str) -> None:
    """Check for a scheduler at the address; a `Client` would wait forever for any other server.

    Raises
    ------
    Exception
        Any kind: the server is no scheduler, or is incompatible.
    """
    from dask.distributed import Security, rpc

    arguments = Security().get_connection_args("client")
    async with asyncio.timeout(CONNECT_SECONDS), rpc(address, connection_args=arguments) as scheduler:
        kind = (await scheduler.identity())["type"]
    if kind != "Scheduler":
        raise ValueError(f"a {kind}")
