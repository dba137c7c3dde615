"""Tables of arXiv 2409.17335, for the report and `marginaudit table`: direction errors and Proposition 2."""

from marginaudit.reports.ntp.tables.direction import Direction
from marginaudit.reports.ntp.tables.proposition2 import Proposition2

TABLES = DIRECTION, PROPOSITION2 = Direction(), Proposition2()
