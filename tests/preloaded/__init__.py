"""Our command in processes of its own, without loading it anew for each.

Most of what a short command costs is loading it: half a second to two seconds for each of several
hundred. Here one process loads everything once and forks for each command that is asked of it. What
it forks is a process like any other: it has its own pid, streams, environment, directory, signals
and, if wanted, session; it can be killed, and it ends as Python ends.

Tests about starting itself start the real command: those of the package, of other Pythons, of what
a command loads, and the first server of ``tests/system/test_server.py`` (``LoadedServerProcess``).
"""
