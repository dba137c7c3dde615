from .audit.auditing import Audit as Audit
from .audit.ledger import LEDGER as LEDGER
from .audit.sources import Source as Source
from .python import Report as Report

__all__: list[str]
