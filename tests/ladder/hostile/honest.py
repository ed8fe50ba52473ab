"""Plays the first legal action, for ever."""

from common import play_on

play_on()
