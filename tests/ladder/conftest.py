"""The sandbox of this machine, or the reason why there is none."""

import pytest

from keltis_ladder.sandbox.sandbox import Sandbox, SandboxMissing, find_sandbox


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    try:
        return find_sandbox()
    except SandboxMissing as missing:
        pytest.skip(str(missing))
