"""``python -m marginaudit.reports``."""

from marginaudit.reports.command.start import main

main()
