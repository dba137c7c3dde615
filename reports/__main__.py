"""``python -m marginaudit.reports``."""

from marginaudit.reports.cli import main

main()
