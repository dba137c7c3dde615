"""Parts computed by the workers of a Dask cluster, which see the same folder."""

import asyncio
import logging
from collections.abc import Generator, Sequence
from pathlib import Path

from marginaudit.orders import InputError, printable, shortened, shown
from marginaudit.reports.sweep.part import Part
from marginaudit.reports.sweep.work import compute

EXTRA = "pip install 'marginaudit[cluster]'"

CONNECT_SECONDS = 10

LONGEST_REASON = 200
"""Characters of why there is no scheduler at an address."""


def on_cluster(parts: Sequence[Part], folder: Path, address: str) -> Generator[tuple[Part, bool]]:
    """Each part when it is through, and whether it is written or its workers died each time.

    How often a part is tried again after its worker's death is the scheduler's ``allowed-failures``, which also counts
    the deaths of workers at which it was waiting. So what is given up is tried once more, each part by itself, after
    all others.

    Raises
    ------
    InputError
        There is no scheduler at the address, or it went away, or Dask is not installed.
    """
    try:
        from dask.distributed import Client, KilledWorker, as_completed
    except ImportError:
        raise InputError("--scheduler", got="no dask.distributed", expected=EXTRA) from None
    for name in logging.root.manager.loggerDict:
        if name.startswith("distributed"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        asyncio.run(_answer(address))
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except Exception as error:  # of what is sent by anything that listens, or of a protocol's missing settings
        other = isinstance(error, MemoryError)  # of the size that its first bytes would be
        got = "an answer in another protocol" if other else printable(str(error))
        got = shortened(got, LONGEST_REASON) or f"no answer within {CONNECT_SECONDS} s"
        raise InputError(f"--scheduler {shown(address)}", got=got, expected="a running Dask scheduler") from None

    def through(some: Sequence[Part], attempt: int) -> Generator[tuple[Part, bool]]:
        tasks = {
            client.submit(compute, part.work, part.key, str(folder), key=f"{part.key}-{attempt}", pure=False): part
            for part in some
        }
        for ended in as_completed(tasks, loop=client.loop):
            if ended.status in ("cancelled", "lost"):
                got = f"the part {ended.status}"
                raise InputError(f"--scheduler {shown(address)}", got=got, expected="a scheduler that stays")
            failure = ended.exception()
            if failure is not None and not isinstance(failure, KilledWorker):
                raise failure
            yield tasks[ended], failure is None

    with client:
        suspected = []
        for part, written in through(parts, 1):
            if written:
                yield part, True
            else:
                suspected.append(part)
        for part in suspected:
            yield from through([part], 2)


async def _answer(address: str) -> None:
    """Ask who is there before a `Client` does, which waits without end for what is no scheduler.

    Raises
    ------
    Exception
        Of whatever kind: it is no scheduler, or none that can be spoken to.
    """
    from dask.distributed import Security, rpc

    arguments = Security().get_connection_args("client")
    async with asyncio.timeout(CONNECT_SECONDS), rpc(address, connection_args=arguments) as scheduler:
        kind = (await scheduler.identity())["type"]
    if kind != "Scheduler":
        raise ValueError(f"a {kind}")
