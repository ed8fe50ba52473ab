"""Computes all the time, asked or not."""

import threading

from common import play_on


def burn():
    number = 0
    while True:
        number += 1


threading.Thread(target=burn, daemon=True).start()
play_on()
