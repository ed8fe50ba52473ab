"""What a machine needs to play strangers' bots fairly, what of it is there, and how to get it."""

from keltis_ladder.doctor.check import Area, Check, CheckState
from keltis_ladder.doctor.examine import examine, is_fair

__all__ = ["Area", "Check", "CheckState", "examine", "is_fair"]
