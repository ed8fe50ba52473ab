"""Static files and the modules among them."""

from __future__ import annotations

from pathlib import Path

import pytest

from keltis_server.web.render.assets import Assets
from keltis_server.web.render.modules import Modules, imported
from tests.server.web.support.pages import with_imports


def test_modules_import_what_there_is() -> None:
    assets = Assets.load()
    ours = {name for name in assets.files if name.endswith(".js")}
    missing = with_imports(assets, ours) - set(assets.files)
    assert not missing


def test_modules_are_announced_once_and_the_nearest_first(tmp_path: Path) -> None:
    files = {
        "pages/one.js": 'import {\n  a,\n  b,\n} from "../lib/a.js";\nimport "./two.js";\n',
        "pages/two.js": 'import { c } from "../lib/c.js";\nimport { a } from "../lib/a.js";\n',
        "lib/a.js": 'export { b } from "./b.js";\nexport const later = () => import("./d.js");\n',
        "lib/b.js": '/** @import { D } from "./d.js" */\nimport { c } from "./c.js";\n',
        "lib/c.js": 'import { a } from "./a.js"; // and so around\n',
        "lib/d.js": "",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assets = Assets.load(tmp_path)
    assert imported(assets, ("pages/one.js",)) == [
        "lib/a.js",
        "pages/two.js",
        "lib/b.js",
        "lib/c.js",
    ]
    assert imported(assets, ("pages/one.js", "pages/two.js")) == [
        "lib/a.js",
        "lib/c.js",
        "lib/b.js",
    ]
    written = Modules(assets)("pages/one.js", " ")
    assert written.count("modulepreload") == 4
    assert written.count("<script ") == 1
    with pytest.raises(KeyError, match="none"):
        Modules(assets)("pages/none.js")


def test_the_hash_changes_with_every_file(tmp_path: Path) -> None:
    (tmp_path / "one.js").write_text("1")
    before = Assets.load(tmp_path)
    (tmp_path / "one.js").write_text("2")
    assert Assets.load(tmp_path).hash != before.hash
    with pytest.raises(KeyError, match="none"):
        before.url("none.js")
