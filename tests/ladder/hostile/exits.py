"""Leaves in the middle of a game with last words."""

import sys

from common import requests

for _ in requests():
    print("I have had enough", file=sys.stderr)
    sys.exit(3)
