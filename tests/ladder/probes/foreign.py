"""Make a system call by its x32 number, which a filter for x86_64 must not let pass."""

import ctypes

print(ctypes.CDLL(None).syscall(0x40000000 | 39))
