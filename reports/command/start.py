"""Entry point: an interrupt during import ends in one line, and so does an internal error, below its traceback."""

import gc
import os
import signal
import sys

INTERNAL_ERROR = 70
"""EX_SOFTWARE of BSD's sysexits.h; 1 would mean violated or refused."""


def main() -> None:
    """Run the command line."""
    try:
        from marginaudit.reports.command.cli import main as run

        run()
    except SystemExit:
        raise
    except KeyboardInterrupt:  # while the rest was being imported
        os.write(2, b"marginaudit: interrupted\n")
        sys.exit(130)
    except BaseException as error:  # a panic of a library in Rust is no Exception
        sys.exit(_told(error))
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # there is nothing left to interrupt
        gc.freeze()  # what libraries made is not searched for garbage at the end, which takes half a second


def _told(error: BaseException) -> int:
    """The traceback and a line on standard error, with nothing imported that may be what failed; the exit status."""
    import traceback
    from contextlib import suppress
    from importlib.metadata import metadata

    urls = dict(url.split(", ", 1) for url in metadata("marginaudit").get_all("Project-URL") or ())
    where = urls.get("Issues", "the marginaudit developers")
    said = f"marginaudit: internal error: {type(error).__name__}; please report it, with the lines above, to {where}"
    lines = [*"".join(traceback.format_exception(error)).splitlines(), said]
    shown = ("".join(c if c.isprintable() else ascii(c)[1:-1] for c in line) for line in lines)
    with suppress(OSError):
        os.write(2, "".join(f"{line}\n" for line in shown).encode("utf-8", "backslashreplace"))
    return INTERNAL_ERROR
