from .config import ClassConfig as ClassConfig
from .run import ClassRun as ClassRun

__all__: list[str]
