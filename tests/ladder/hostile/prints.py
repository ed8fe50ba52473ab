"""Prints to stdout, as programs do."""

from common import requests

for request in requests():
    print("thinking about", request["id"], flush=True)
