"""Tries to run while it is paused: a child whose end wakes its parent, and one left alone."""

from common import attempt, play_on
from escapes import clone_with_a_wake_up_call, never_rest, wake_up_when_the_parent_ends

attempt("a child whose end sends SIGCONT", clone_with_a_wake_up_call)
attempt("SIGCONT at the end of the parent", wake_up_when_the_parent_ends)
never_rest()
play_on()
