"""What tests in a browser share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.web.support.browsing import Gallery, opened_gallery


@pytest.fixture(scope="session")
def gallery() -> Iterator[Gallery]:
    """One page for all tests; whatever fails in it fails at the end."""
    with opened_gallery() as page:
        yield page
