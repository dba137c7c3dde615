from .config import Config as Config
from .run import Run as Run

__all__: list[str]
