"""The wheel: what it holds, and that it works without a C compiler."""

import importlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import keltis_engine
from tests.places import ROOT

PACKAGES = {"keltis_engine", "keltis_bots", "keltis_ladder", "keltis_server", "keltis_cli"}
FOLDERS = ("engine", "bots", "ladder", "server", "cli")
DIST_INFO = "keltis_ladder-0.1.0.dist-info"


def run(*command: str | Path, **environment: str) -> str:
    """Run the command and return what it prints; its whole output is the message of a failure."""
    done = subprocess.run(
        command,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def build_wheel(folder: Path, **environment: str) -> Path:
    """Build a wheel from a copy of the sources, so that no build touches another's files."""
    sources = folder / "sources"
    sources.mkdir()
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, sources)
    for name in FOLDERS:
        ignore = shutil.ignore_patterns("__pycache__", "*.so", "*.egg-info")
        shutil.copytree(ROOT / name, sources / name, ignore=ignore)
    pip("wheel", "--no-deps", "--no-build-isolation", "-w", folder, sources, **environment)
    (wheel,) = folder.glob("*.whl")
    return wheel


def pip(command: str, *arguments: str | Path, **environment: str) -> None:
    run(
        *(sys.executable, "-m", "pip", command, "--no-index", "--disable-pip-version-check"),
        *arguments,
        **environment,
    )


def source_files() -> set[str]:
    """Names, as in the wheel, of every file of ours that belongs in it."""
    return {
        path.relative_to(ROOT / folder).as_posix()
        for folder in FOLDERS
        for package in (ROOT / folder).glob("keltis_*")
        for path in package.rglob("*")
        if path.is_file() and path.suffix not in (".pyc", ".so")
    }


@pytest.mark.slow
def test_the_wheel_holds_exactly_the_five_packages(tmp_path: Path) -> None:
    wheel = build_wheel(tmp_path, KELTIS_NO_COMPILE="1")

    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == PACKAGES | {DIST_INFO}
    assert {name for name in names if not name.startswith(DIST_INFO)} == source_files()
    assert {f"{package}/py.typed" for package in PACKAGES} <= set(names)


@pytest.mark.slow
def test_without_a_compiler_the_package_installs_and_runs_interpreted(tmp_path: Path) -> None:
    wheel = build_wheel(tmp_path, CC="/bin/false", KELTIS_REQUIRE_COMPILE="0")
    site = tmp_path / "site"
    pip("install", "--no-deps", "--target", site, wheel)

    assert not list(site.rglob("*.so"))
    version = run(site / "bin" / "keltis-ladder", "version", PYTHONPATH=str(site))
    assert "interpreted" in version
    assert run(sys.executable, "-m", "keltis_cli", "version", PYTHONPATH=str(site)) == version


def test_the_installed_package_keeps_everything_inside_the_five_packages() -> None:
    # Only site-packages: a build leaves metadata of its own beside the sources.
    installed = [sysconfig.get_path("platlib")]
    (package,) = importlib.metadata.distributions(name="keltis-ladder", path=installed)
    files = package.files or []

    outside = {file.as_posix() for file in files if file.parts[0] not in PACKAGES | {DIST_INFO}}
    assert outside == {"../../../bin/keltis-ladder"}
    modules = {file.stem for file in files if file.parent.name == "keltis_engine"}
    shared_library = [name for name in modules if name.startswith("native__mypyc")]
    assert len(shared_library) == 1


def test_every_engine_module_is_compiled_or_none_is() -> None:
    suffix = ".so" if keltis_engine.COMPILED else ".py"
    sources = ROOT / "engine"
    for path in sources.rglob("[!_]*.py"):
        module = importlib.import_module(".".join(path.relative_to(sources).with_suffix("").parts))
        assert (module.__file__ or "").endswith(suffix), module.__file__


def test_importing_the_engine_imports_nothing_heavy() -> None:
    """A bot that searches with the engine has to start at once."""
    script = "import sys, keltis_engine; print(*sys.modules)"
    loaded = set(run(sys.executable, "-c", script).split())
    assert loaded & {"asyncio", "rich", "typer", "msgpack", "numpy", "unittest"} == set()
