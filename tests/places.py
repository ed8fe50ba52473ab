"""Where things are in the tree of the sources."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
