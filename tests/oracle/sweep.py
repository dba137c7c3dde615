"""Random audits against the oracle: ``python -m tests.oracle.sweep --audits 500 --seed 0``.

Prints every disagreement with what reproduces it, and a summary. Audits S, S + 1, .. of seed S are run; the exit status
is 1 if a verdict, a number, an error bar or evidence is wrong, and 0 if nothing is, whatever was left undecided.
"""

import argparse
import json
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from tests.oracle.audited import audited
from tests.oracle.checking import Found, check
from tests.oracle.comparison import Disagreement
from tests.oracle.random_audits import random_audit

HARMLESS = ("undecided", "unchecked")


def main(arguments: list[str] | None = None) -> int:
    return compared(arguments, str(__doc__), random_audit, audited, check)


def compared(
    arguments: list[str] | None,
    description: str,
    draw: Callable[[int], tuple[dict[str, Any], Any]],
    audit_of: Callable[[dict[str, Any], Any], Any],
    faults: Callable[[dict[str, Any], Any], list[Found]],
) -> int:
    """A paper's sweep: what is drawn is audited, and the audit looked through for faults."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--audits", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quiet", action="store_true", help="leave out what was left undecided")
    chosen = parser.parse_args(arguments)
    verdicts: Counter[str] = Counter()
    counted: Counter[tuple[str, str]] = Counter()
    started = time.monotonic()
    for seed in range(chosen.seed, chosen.seed + chosen.audits):
        document, settings = draw(seed)
        found: list[Found]
        try:
            audit = audit_of(document, settings)
            verdicts.update(row["verdict"] for row in audit.rows.values())
            found = faults(document, audit)
        except Exception:
            found = [("audit", Disagreement("crash", traceback.format_exc().strip().splitlines()[-1]))]
        counted.update((one.kind, claim) for claim, one in found)
        shown = [(claim, one) for claim, one in found if not (chosen.quiet and one.kind in HARMLESS)]
        if shown:
            print(f"--- {seed}: {json.dumps(document)} {json.dumps(asdict(settings))}")
        for claim, one in shown:
            print(f"    {one.kind}: {claim}: {one.words}")
        sys.stdout.flush()
    print(f"{chosen.audits} audits, {verdicts.total()} verdicts, {time.monotonic() - started:.0f} s")
    print("verdicts: " + ", ".join(f"{verdict} {count}" for verdict, count in verdicts.most_common()))
    print(
        f"disagreements: {sum(count for (kind, _), count in counted.items() if kind not in HARMLESS)}, and beside them:"
    )
    for (kind, claim), count in sorted(counted.items()):
        print(f"    {kind:12} {claim:34} {count}")
    return int(any(kind not in HARMLESS for kind, _ in counted))


if __name__ == "__main__":
    sys.exit(main())
