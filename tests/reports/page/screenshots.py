"""A report in the system's chromium, without a window and without a network, and pictures of it to look at.

Usage: python -m tests.reports.page.screenshots [audit-report/report.html] [pictures] [PLACE ..]

Writes 1280-found.png, 768-verdicts.png, .., dark-claims.png and report.pdf, at three widths, in the dark and printed:
what a window 3000 pixels high shows from each place on, which is the id of a part of the page.
"""

import base64
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

HEIGHT = 3000

PLACES = ("found", "verdicts", "statements", "claims")

BROWSERS, DRIVERS = ("chromium", "chromium-browser", "google-chrome"), ("chromedriver", "chromium.chromedriver")


def missing() -> str:
    """What a report cannot be opened for; "" where nothing is missing."""
    lacking = [names[0] for names in (BROWSERS, DRIVERS) if not _found(names)]
    return f"no {' and no '.join(lacking)} (apt-get install chromium chromium-driver)" if lacking else ""


def _found(names: tuple[str, ...]) -> str | None:
    return next(filter(None, map(shutil.which, names)), None)


@contextmanager
def opened(report: Path) -> "Iterator[Chrome]":
    """The report in a browser that notes what is asked of the network and what is told on the console."""
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = _found(BROWSERS) or ""
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = Chrome(options=options, service=Service(_found(DRIVERS)))
    try:
        driver.get(report.resolve().as_uri())
        yield driver
    finally:
        driver.quit()


def seen_at(driver: "Chrome", width: int, height: int = 900, dark: bool = False) -> None:
    """Show it in a window so wide, in the light or in the dark."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 700}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})


def shown_from(driver: "Chrome", place: str) -> bytes:
    """What the window shows from the part of the page with that id on, as PNG."""
    driver.execute_script("document.getElementById(arguments[0]).scrollIntoView()", place)
    return driver.get_screenshot_as_png()


def printed(driver: "Chrome") -> bytes:
    """The page as it is printed, as PDF."""
    asked = {"preferCSSPageSize": True, "printBackground": True}
    return base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", asked)["data"])


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
