"""``docs/README.md`` leads to every document."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.support.pages import links, pages
from tests.places import ROOT

INDEX = Path("docs/README.md")


@pytest.mark.parametrize(
    "page", [page for page in pages() if page.parts[0] == "docs" and page != INDEX], ids=str
)
def test_every_document_is_in_the_index(page: Path) -> None:
    targets = {(ROOT / "docs" / link.partition("#")[0]).resolve() for link in links(INDEX)}
    assert ROOT / page in targets, f"{page} is not in {INDEX}: add a row for its readers"
