"""Joint ratings are the same numbers to the last bit, compiled or not, on every machine."""

import os
import subprocess
import sys
from pathlib import Path

from tests.ladder.ratings.joint.support import bits
from tests.places import ROOT

# If this changes, so does every joint rating: raise MODEL_VERSION.
DIGEST = "e1073aba5b25a270b4980b506e45c2a39160e39ee0d389c6e4640ceca473374f"


def test_this_machine_computes_the_same_bits_as_all_others() -> None:
    assert bits.digest() == DIGEST


def test_the_sources_compute_the_same_bits() -> None:
    path = os.pathsep.join([str(ROOT / "ladder"), str(ROOT)])
    command = [sys.executable, "-m", "tests.ladder.ratings.joint.support.bits"]
    ran = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    module, digest = ran.stdout.split()
    assert Path(module).suffix == ".py", "this must be the interpreted form"
    assert digest == DIGEST
