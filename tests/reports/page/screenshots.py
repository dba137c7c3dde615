"""Pictures of a report to look at, by chromium: at three widths, in the dark, and printed.

Usage: python -m tests.reports.page.screenshots [audit-report/report.html] [pictures] [PLACE ..]

Writes 1280-found.png, 768-verdicts.png, .., dark-claims.png and report.pdf: what a window 3000 pixels high shows from
each place on, which is the id of a part of the page.
"""

import sys
from pathlib import Path

from tests.reports.page.browser import missing, opened, printed, seen_at, shown_from

HEIGHT = 3000

PLACES = ("found", "verdicts", "statements", "claims")


def main(report: Path = Path("audit-report/report.html"), folder: Path = Path("pictures"), *places: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with opened(report) as driver:
        for name, width in (("1280", 1280), ("768", 768), ("390", 390), ("dark", 1280)):
            seen_at(driver, width, HEIGHT, dark=name == "dark")
            for place in places or PLACES:
                (folder / f"{name}-{place}.png").write_bytes(shown_from(driver, place))
        (folder / "report.pdf").write_bytes(printed(driver))


if __name__ == "__main__":
    if lacking := missing():
        sys.exit(lacking)
    report, folder = sys.argv[1:3] + ["audit-report/report.html", "pictures"][len(sys.argv[1:3]) :]
    main(Path(report), Path(folder), *sys.argv[3:])
