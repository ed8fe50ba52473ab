"""Build the package: compile the engine with mypyc, or ship it as plain Python where we cannot.

KELTIS_NO_COMPILE=1 skips the compiler; KELTIS_REQUIRE_COMPILE=1 makes its failure fatal.
"""

import os
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ENGINE = Path("engine/keltis_engine")
# A dotted group name puts the library that all modules share inside the package.
GROUP = "keltis_engine.native"
FLAGS = [
    "-fvisibility=hidden",
    "-fno-semantic-interposition",
    "-Wno-error",  # a newer compiler's new warning must not cost the compiled engine
]
NO_COMPILE = os.environ.get("KELTIS_NO_COMPILE") == "1"
# pip asks for the metadata in a process of its own, which needs no C code.
METADATA_ONLY = not {"egg_info", "dist_info", "sdist"}.isdisjoint(sys.argv)
REQUIRE_COMPILE = os.environ.get("KELTIS_REQUIRE_COMPILE") == "1"


class BuildEngine(build_ext):
    """Build all engine modules or none: half a compiled engine would not import."""

    def run(self) -> None:
        super().run()
        built = [Path(self.get_ext_fullpath(extension.name)) for extension in self.extensions]
        if all(path.exists() for path in built):
            return
        for path in built:
            path.unlink(missing_ok=True)
        self.warn("the engine could not be compiled; it is installed as plain Python")


def engine_extensions() -> list[Extension]:
    if NO_COMPILE or METADATA_ONLY:
        return []
    from mypyc.build import mypycify

    modules = sorted(str(path) for path in ENGINE.glob("*.py") if path.name != "__init__.py")
    extensions: list[Extension] = mypycify(modules, opt_level="3", group_name=GROUP)
    for extension in extensions:
        extension.optional = not REQUIRE_COMPILE
        if os.name == "posix":
            # Not +=: the extensions share one list.
            extension.extra_compile_args = [*extension.extra_compile_args, *FLAGS]
    return extensions


setup(ext_modules=engine_extensions(), cmdclass={"build_ext": BuildEngine})
