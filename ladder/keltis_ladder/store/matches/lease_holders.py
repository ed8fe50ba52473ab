"""Who holds a lease: a process, named so that others on this machine can tell when it is gone."""

from __future__ import annotations

import os
from pathlib import Path

from sqlmodel import Session, col, select

from keltis_ladder.store.schema.job_troubles import JobTrouble
from keltis_ladder.store.schema.tables import Job, JobState


def this_process() -> str:
    """Return the name of this process: no other has it, not even after a restart."""
    pid = os.getpid()
    return f"{_machine()}/{pid}/{_started(pid)}"


def is_gone(holder: str) -> bool:
    """Return whether a holder has surely ended; of other machines' we know nothing."""
    process = holder.removeprefix(f"{_machine()}/")
    pid, _, started = process.partition("/")
    if process == holder or not pid.isdecimal():
        return False
    return _started(int(pid)) != started


def release_gone(session: Session) -> list[str]:
    """Give the leases of processes that have ended back at once; return the jobs' ids."""
    query = (
        select(Job)
        .where(col(Job.state) == JobState.LEASED)
        .order_by(col(Job.id))
        .with_for_update(skip_locked=True)
    )
    released = []
    for job in session.exec(query):
        if job.holder is not None and is_gone(job.holder):
            job.state = JobState.WAITING
            job.holder = job.lease_until = None
            job.trouble, job.trouble_details = JobTrouble.HOLDER_GONE, None
            session.add(job)
            released.append(job.id)
    session.flush()
    return released


def _machine() -> str:
    """Return what tells this machine, since its last start, and this space of pids from others."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"


def _started(pid: int) -> str | None:
    """Return when a process began, in ticks since the machine started; none if there is none."""
    try:
        # The name of the program, in brackets, may hold anything.
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].decode().split()
    except (FileNotFoundError, ProcessLookupError):  # it may end while we read
        return None
    return None if fields[0] in "ZX" else fields[19]
