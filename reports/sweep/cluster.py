"""Parts computed by the workers of a Dask cluster, which see the same folder."""

import logging
from collections.abc import Generator, Sequence
from pathlib import Path

from marginaudit.orders import InputError, printable, shown
from marginaudit.reports.sweep.part import Part
from marginaudit.reports.sweep.work import compute

EXTRA = "pip install 'marginaudit[cluster]'"

CONNECT_SECONDS = 10


def on_cluster(parts: Sequence[Part], folder: Path, address: str) -> Generator[tuple[Part, bool]]:
    """Each part when it is through, and whether it is written or its workers died each time.

    How often a part is tried again after its worker's death is the scheduler's ``allowed-failures``.

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
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        got = printable(str(error)) or type(error).__name__
        raise InputError(f"--scheduler {shown(address)}", got=got, expected="a running Dask scheduler") from None
    with client:
        tasks = {
            client.submit(compute, part.work, part.key, str(folder), key=part.key, pure=False): part for part in parts
        }
        for ended in as_completed(tasks, loop=client.loop):
            if ended.status in ("cancelled", "lost"):
                got = f"the part {ended.status}"
                raise InputError(f"--scheduler {shown(address)}", got=got, expected="a scheduler that stays")
            failure = ended.exception()
            if failure is not None and not isinstance(failure, KilledWorker):
                raise failure
            yield tasks[ended], failure is None
