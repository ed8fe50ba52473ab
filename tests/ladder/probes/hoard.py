"""Use memory of one kind, 16 MiB at a time up to 512 MiB, and stay."""

import mmap
import os
import sys
import time

STEP = 16 * 2**20
FLAGS = {
    "private": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
    "shared": mmap.MAP_SHARED | mmap.MAP_ANONYMOUS,
}
kept = []
try:
    for _ in range(32):
        area = mmap.mmap(-1, STEP, flags=FLAGS[sys.argv[1]])
        area.write(b"x" * STEP)
        kept.append(area)
except (OSError, MemoryError):
    os.write(1, b"refused after %d MiB\n" % (len(kept) * 16))
else:
    os.write(1, b"got all\n")
time.sleep(60)
