"""The two tables that an audit of arXiv 2409.17335 opens its evidence with, and `marginaudit table` prints."""

from marginaudit.reports.ntp.tables.direction import Direction
from marginaudit.reports.ntp.tables.proposition2 import Proposition2

TABLES = DIRECTION, PROPOSITION2 = Direction(), Proposition2()
