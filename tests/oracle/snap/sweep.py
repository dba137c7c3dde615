"""Random audits of sequence classes against the oracle: ``python -m tests.oracle.snap.sweep --audits 300 --seed 0``.

What it prints, its options and its exit status are those of `tests.oracle.sweep`. An audit takes some seconds, most of
them the product's.
"""

import sys

from tests.oracle import sweep
from tests.oracle.snap.audited import audited
from tests.oracle.snap.checking import check
from tests.oracle.snap.random_classes import random_audit

if __name__ == "__main__":
    sys.exit(sweep.compared(None, str(__doc__), random_audit, audited, check))
