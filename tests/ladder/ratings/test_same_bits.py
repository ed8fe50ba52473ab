"""Ratings are the same numbers to the last bit, compiled or not, on every machine."""

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.ladder.ratings.joint.support import bits as joint
from tests.ladder.ratings.support import bits as live
from tests.places import ROOT

# If one of these changes, so does every rating of its kind: raise MODEL_VERSION.
DIGESTS = [
    pytest.param(
        live, "950cc2fe0c636dfa6fb501c93e7c725a5588d877cc188a9411b8e08676e5027a", id="live"
    ),
    pytest.param(
        joint, "e1073aba5b25a270b4980b506e45c2a39160e39ee0d389c6e4640ceca473374f", id="joint"
    ),
]


@pytest.mark.parametrize(("bits", "digest"), DIGESTS)
def test_this_machine_computes_the_same_bits_as_all_others(bits: ModuleType, digest: str) -> None:
    assert bits.digest() == digest


@pytest.mark.parametrize(("bits", "digest"), DIGESTS)
def test_the_sources_compute_the_same_bits(bits: ModuleType, digest: str) -> None:
    path = os.pathsep.join([str(ROOT / "ladder"), str(ROOT)])
    ran = subprocess.run(
        [sys.executable, "-m", bits.__name__],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    module, printed = ran.stdout.split()
    assert Path(module).suffix == ".py", "this must be the interpreted form"
    assert printed == digest
