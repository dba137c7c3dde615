"""``python -m marginaudit.reports``."""

from marginaudit.reports.start import main

main()
