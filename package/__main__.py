"""``python -m marginaudit``."""

from marginaudit.reports.command.start import main

main()
