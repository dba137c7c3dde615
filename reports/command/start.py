"""Entry point: handles interrupts during import, and reports internal errors in one line below the traceback."""

import gc
import os
import signal
import sys

INTERNAL_ERROR = 70
"""EX_SOFTWARE of BSD's sysexits.h; 1 would mean violated or refused."""


def main() -> None:
    """Run the command line; BLAS starts no threads, as every run is limited to one anyway."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        from marginaudit.reports.command.cli import main as run

        run()
    except SystemExit:
        raise
    except KeyboardInterrupt:  # while the rest was being imported
        print("marginaudit: interrupted", file=sys.stderr)
        sys.exit(130)
    except BaseException as error:  # panics of Rust libraries are not an Exception
        sys.exit(_internal_error(error))
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the work is done
        gc.freeze()  # skip the last garbage collection, which takes half a second
        try:
            sys.stderr.flush()
        except OSError:  # drop the lines, or Python would try again and exit with status 120
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def _internal_error(error: BaseException) -> int:
    """Print traceback and error line, return the exit status; imports only the standard library."""
    import traceback
    from importlib.metadata import metadata

    traceback.print_exception(error)
    urls = dict(url.split(", ", 1) for url in metadata("marginaudit").get_all("Project-URL") or ())
    where = urls.get("Issues", "the marginaudit developers")
    kind = type(error).__name__
    print(f"marginaudit: internal error: {kind}; please report it, with the lines above, to {where}", file=sys.stderr)
    return INTERNAL_ERROR
