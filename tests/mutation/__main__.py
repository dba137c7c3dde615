"""The share of small mistakes that the tests notice: `make mutants ARGS="training --sample 60 --seed 1"`."""

import argparse
import hashlib
import json
import random
import tempfile
import tomllib
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue
from threading import Lock
from typing import Any, TypeAlias

from tests.mutation.mutate import Mutation, mutations
from tests.mutation.trial import PACKAGES, ROOT, Outcome, Tree, covering_tests

EQUIVALENT = Path(__file__).with_name("equivalent.toml")
KEPT = ROOT / "build" / "mutants.json"
SPARE, LEAST = 4.0, 60.0
"""A file of tests may take this many times what it took on the unchanged tree, and this many seconds more.

Seconds of the processor, so that a busy machine makes no mutant look killed; enough to compile all kernels anew.
"""

KNOWN = ("orders/text.py", 'return text if len(text) < LONGEST_SHOWN else text[: LONGEST_SHOWN - 2] + " …"')
KNOWN_BY = "tests/orders/test_text.py::test_shown_cuts_only_what_is_too_long"
"""A mistake that a test is known to notice, as its module and line, and the test."""

Mutant: TypeAlias = tuple[str, Mutation]
"""The module's path and the mistake in it."""


def modules(targets: list[str]) -> list[str]:
    """The modules that the targets (packages, folders, files) name, as paths; all of them where there is no target."""
    found: dict[str, None] = {}
    for target in targets or PACKAGES:
        path = (ROOT / target).resolve()
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path] * (path.is_file() and path.suffix == ".py")
        if not files or not any(path.is_relative_to(ROOT / package) for package in PACKAGES):
            raise SystemExit(f"got {target}, expected a package, folder or module of {', '.join(PACKAGES)}")
        found |= dict.fromkeys(str(file.relative_to(ROOT)) for file in files)
    return list(found)


def package_of(module: str) -> str:
    """The package that a module's path begins with."""
    return module.partition("/")[0]


def drawn(mutants: list[Mutant], size: int | None, seed: int) -> list[Mutant]:
    """A sample in random order that takes each kind of mistake in turn, so that the rare kinds are in it too."""
    shuffled = random.Random(seed).sample(mutants, len(mutants))
    turn: Counter[str] = Counter()
    turns = []
    for _, mutation in shuffled:
        turns.append(turn[mutation.kind])
        turn[mutation.kind] += 1
    order = sorted(range(len(shuffled)), key=turns.__getitem__)
    return [shuffled[i] for i in order[:size]]


def equivalent(mutant: Mutant, accepted: list[dict[str, str]]) -> bool:
    """Whether the mutant is listed as one that no test can notice."""
    module, mutation = mutant
    name = {"module": module, "scope": mutation.scope, "before": mutation.before, "after": mutation.after}
    return any(name.items() <= entry.items() for entry in accepted)


def digest(*texts: bytes) -> str:
    """A short name for texts."""
    return hashlib.sha256(b"\0".join(hashlib.sha256(text).digest() for text in texts)).hexdigest()[:24]


def digest_of(folders: list[Path]) -> str:
    """A short name for all files in these folders, this program left out."""
    files = sorted(path for folder in folders for path in folder.rglob("*") if path.is_file())
    files = [path for path in files if "__pycache__" not in path.parts and Path(__file__).parent not in path.parents]
    return digest(*(str(path).encode() + b"\0" + path.read_bytes() for path in files))


class Kept:
    """Outcomes by mutant, in a file, so that a run that was interrupted goes on.

    A mutant that was killed stays so while its module has the same text; one that survived is tried again when a
    test has changed.
    """

    def __init__(self, file: Path, *, fresh: bool) -> None:
        self.file = file
        self.tests = digest_of([ROOT / "tests"])
        self.code = digest_of([ROOT / "tests", *(ROOT / package for package in PACKAGES)]).encode()
        self.measuring = Lock()
        self.rows: dict[str, Any] = json.loads(file.read_text("utf-8")) if file.exists() and not fresh else {}

    @staticmethod
    def _key(mutant: Mutant) -> str:
        return digest(mutant[0].encode(), mutant[1].source.encode())

    def _run(self, tests: list[str]) -> str:
        return digest(self.tests.encode(), *(test.encode() for test in tests))

    def outcome(self, mutant: Mutant, tests: list[str]) -> Outcome | None:
        """What is known of a mutant that these tests are to notice."""
        row = self.rows.get(self._key(mutant))
        if row is None or not (row["outcome"]["killed"] or row["tests"] == self._run(tests)):
            return None
        return Outcome(**row["outcome"])

    def keep(self, mutant: Mutant, tests: list[str], outcome: Outcome) -> None:
        self.rows[self._key(mutant)] = {"tests": self._run(tests), "outcome": asdict(outcome)}
        self.write()

    def seconds_unchanged(self, tree: Tree, test: str) -> float:
        """The processor's seconds for a file of tests on the unchanged tree, on which all must be green."""
        with self.measuring:
            key = digest(test.encode(), self.code)
            if key not in self.rows:
                outcome = tree.test(test)
                if outcome.killed:
                    raise SystemExit(f"{test} is red on the unchanged tree: {outcome.by}")
                self.rows[key] = outcome.seconds
                self.write()
            return float(self.rows[key])

    def write(self) -> None:
        self.file.parent.mkdir(exist_ok=True)
        temporary = self.file.with_name(self.file.name + ".new")
        temporary.write_text(json.dumps(self.rows, indent=1), "utf-8")
        temporary.replace(self.file)


def demand_that_mistakes_show(tree: Tree) -> None:
    """Stop where the known mistake is not noticed or its test is red without it: no score would mean anything."""
    module, after = KNOWN
    (mutation,) = (m for m in mutations((tree.folder / module).read_text("utf-8")) if m.after == after)
    with_it = tree.try_mutation(module, mutation, [KNOWN_BY], lambda _: LEAST)
    for mistake, outcome, expected in (("with", with_it, KNOWN_BY), ("without", tree.test(KNOWN_BY), "")):
        if outcome.by != expected:
            red = outcome.by or "no red test"
            raise SystemExit(f"got {red} {mistake} a known mistake in {module}, expected {expected or 'none'}")


def try_all(mutants: list[Mutant], kept: Kept, jobs: int, nearest: int | None) -> list[tuple[Mutant, Outcome]]:
    """The outcome of each mutant by the tests nearest to it.

    Those that are not known are tried, each on one of ``jobs`` copies of the tree; one more copy stays unchanged.
    The known mistake comes first.
    """
    with tempfile.TemporaryDirectory(prefix="mutants-", ignore_cleanup_errors=True) as folder:
        unchanged, *trees = (Tree(ROOT, Path(folder).resolve() / str(i)) for i in range(jobs + 1))
        tests = {m: covering_tests(unchanged.folder, m)[:nearest] for m in {module for module, _ in mutants}}
        known = {i: outcome for i, m in enumerate(mutants) if (outcome := kept.outcome(m, tests[m[0]])) is not None}
        found = [(mutants[i], outcome) for i, outcome in known.items()]
        waiting = [mutant for i, mutant in enumerate(mutants) if i not in known]
        demand_that_mistakes_show(trees[0])
        if found:
            print(f"{len(found)} of {len(mutants)} are known from earlier runs", flush=True)
        free: SimpleQueue[Tree] = SimpleQueue()
        for tree in trees:
            free.put(tree)

        def limit(test: str) -> float:
            return SPARE * kept.seconds_unchanged(unchanged, test) + LEAST

        def attempt(mutant: Mutant) -> Outcome:
            tree, (module, mutation) = free.get(), mutant
            try:
                return tree.try_mutation(module, mutation, tests[module], limit)
            finally:
                free.put(tree)

        pool = ThreadPoolExecutor(jobs)
        futures = {pool.submit(attempt, mutant): mutant for mutant in waiting}
        try:
            for future in as_completed(futures):
                mutant, outcome = futures[future], future.result()
                found.append((mutant, outcome))
                kept.keep(mutant, tests[mutant[0]], outcome)
                said = f"killed by {outcome.by}" if outcome.killed else "SURVIVED"
                place = f"{mutant[0]}:{mutant[1].line} {mutant[1].kind}"
                print(f"[{len(found)}/{len(mutants)}] {outcome.seconds:.0f} s  {place}: {said}", flush=True)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            for tree in (unchanged, *trees):
                tree.stop()
            pool.shutdown()
    return found


def report(found: list[tuple[Mutant, Outcome]]) -> None:
    """Print the survivors and the score of each module and package."""
    score: dict[str, list[bool]] = defaultdict(list)
    for (module, mutation), outcome in sorted(found, key=lambda pair: (pair[0][0], pair[0][1].line)):
        score[module].append(outcome.killed)
        score[package_of(module)].append(outcome.killed)
        if not outcome.killed:
            print(f"\n{module}:{mutation.line} {mutation.kind} in {mutation.scope or 'the module'}")
            print(f"  - {mutation.before}\n  + {mutation.after}")
    print()
    for name, killed in sorted(score.items(), key=lambda pair: (package_of(pair[0]), "/" in pair[0], pair[0])):
        indent = "  " if "/" in name else ""
        print(f"{indent}{name:<40.40} {sum(killed):>4} of {len(killed):>4} {sum(killed) / len(killed):>7.1%}")


def main() -> None:
    """Parse the command line, try the mutants, report."""
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument(
        "target", nargs="*", help="a package, folder or module, such as margins or margins/ntp/verify.py"
    )
    parser.add_argument("--sample", type=int, metavar="N", help="this many mutants only, each kind in turn")
    parser.add_argument("--seed", type=int, default=0, help="of the sample; default 0")
    parser.add_argument("--nearest", type=int, metavar="N", help="run only the N files of tests nearest to a mutant")
    parser.add_argument("--jobs", type=int, default=1, help="mutants tried at the same time; default 1")
    parser.add_argument("--fresh", action="store_true", help=f"forget the outcomes kept in {KEPT.relative_to(ROOT)}")
    chosen = parser.parse_args()
    accepted = tomllib.loads(EQUIVALENT.read_text("utf-8")).get("mutant", [])
    mutants = [(m, mutation) for m in modules(chosen.target) for mutation in mutations((ROOT / m).read_text("utf-8"))]
    counting = [mutant for mutant in mutants if not equivalent(mutant, accepted)]
    sample = drawn(counting, chosen.sample, chosen.seed)
    print(f"{len(sample)} of {len(mutants)} mutants; {len(mutants) - len(counting)} are equivalent", flush=True)
    report(try_all(sample, Kept(KEPT, fresh=chosen.fresh), chosen.jobs, chosen.nearest))
    if chosen.nearest is not None:
        print(f"survivors were not noticed by the {chosen.nearest} nearest files of tests: the scores are lower bounds")


if __name__ == "__main__":
    main()
