"""Random audits against the oracle: ``python -m tests.oracle.sweep --audits 500 --seed 0``.

Prints every disagreement with what reproduces it, and a summary. Audits S, S + 1, .. of seed S are run; the exit status
is 1 if a verdict, a number, an error bar or evidence is wrong, and 0 if nothing is, whatever was left undecided.
``--keep FOLDER`` keeps what was audited, and takes it from there in the next run, in which only the oracle works.
"""

import argparse
import json
import pickle
import sys
import time
import traceback
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.oracle.audited import Audited, audited
from tests.oracle.checking import Found, check
from tests.oracle.comparison import Disagreement
from tests.oracle.random_audits import Settings, random_audit

HARMLESS = ("undecided", "unchecked")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--audits", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="keep audits in this folder, and take them from there")
    parser.add_argument("--quiet", action="store_true", help="leave out what was left undecided")
    chosen = parser.parse_args(arguments)
    verdicts: Counter[str] = Counter()
    counted: Counter[tuple[str, str]] = Counter()
    started = time.monotonic()
    for seed in range(chosen.seed, chosen.seed + chosen.audits):
        document, settings = random_audit(seed)
        found: list[Found]
        try:
            audit = _kept(chosen.keep, seed, document, settings)
            verdicts.update(row["verdict"] for row in audit.rows.values())
            found = check(document, audit)
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


def _kept(folder: Path | None, seed: int, document: dict[str, Any], settings: Settings) -> Audited:
    if folder is None:
        return audited(document, settings)
    file = folder / f"{seed}.pickle"
    if file.exists():
        kept: Audited = pickle.loads(file.read_bytes())
        return kept
    found = audited(document, settings)
    folder.mkdir(parents=True, exist_ok=True)
    file.write_bytes(pickle.dumps(found))
    return found


if __name__ == "__main__":
    sys.exit(main())
