"""Where the program starts: an interrupt while the rest is being imported ends it in one line too."""

import gc
import os
import signal
from types import FrameType


def main() -> None:
    """Run the command line."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)  # libraries may catch a KeyboardInterrupt while they are imported
    from marginaudit.reports.command.cli import main as run

    try:
        run()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # there is nothing left to interrupt
        gc.freeze()  # what libraries made is not searched for garbage at the end, which takes half a second


def _leave(_signal: int, _frame: FrameType | None) -> None:
    os.write(2, b"marginaudit: interrupted\n")
    os._exit(130)
