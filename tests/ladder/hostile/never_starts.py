"""Does not answer hello."""

import time

time.sleep(100)
