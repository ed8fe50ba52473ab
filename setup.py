"""Build the package: compile the engine with mypyc, or ship it as plain Python where we cannot.

KELTIS_NO_COMPILE=1 skips the compiler; KELTIS_REQUIRE_COMPILE=1 makes its failure fatal.
"""

import os
import sys
import sysconfig
from pathlib import Path
from tempfile import TemporaryDirectory

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError

# What is compiled together calls each other natively. The dotted name of a group puts the library
# that its modules share inside a package.
GROUPS = {
    # The players that think belong to the engine that they think with.
    "keltis_engine.native": [
        "engine/keltis_engine/*.py",
        "engine/keltis_engine/*/*.py",
        "bots/keltis_bots/budget.py",
        "bots/keltis_bots/greedy.py",
        "bots/keltis_bots/search*.py",
        "bots/keltis_bots/judges/*.py",
    ],
    # A bot that needs no engine does not load it.
    "keltis_bots.native": [
        "bots/keltis_bots/framing.py",
        "bots/keltis_bots/messages.py",
        "bots/keltis_bots/request.py",
        "bots/keltis_bots/sdk.py",
        "bots/keltis_bots/stopwatch.py",
    ],
    # What runs for every decision of every match, and for every match of a recomputation.
    "keltis_ladder.native": [
        "ladder/keltis_ladder/referee/charging*.py",
        "ladder/keltis_ladder/match/clock.py",
        "ladder/keltis_ladder/sandbox/meter.py",
        "ladder/keltis_ladder/referee/bot_process.py",
        "ladder/keltis_ladder/ratings/joint/descent.py",
        "ladder/keltis_ladder/ratings/joint/graph.py",
        "ladder/keltis_ladder/ratings/joint/leads.py",
        "ladder/keltis_ladder/ratings/joint/matrices.py",
        "ladder/keltis_ladder/ratings/joint/ranges.py",
        "ladder/keltis_ladder/ratings/normal.py",
        "ladder/keltis_ladder/ratings/ranking.py",
        "ladder/keltis_ladder/ratings/refit_*.py",
        "ladder/keltis_ladder/ratings/skill.py",
        "ladder/keltis_ladder/referee/referee.py",
        "ladder/keltis_ladder/referee/messages.py",
        "ladder/keltis_ladder/spectate/vocabulary.py",
    ],
}
FLAGS = [
    "-fvisibility=hidden",
    "-fno-semantic-interposition",
    # Fused multiply-adds round once where Python rounds twice: ratings would differ by machine.
    "-ffp-contract=off",
    "-Wno-error",  # a newer compiler's new warning must not cost the compiled engine
]
NO_COMPILE = os.environ.get("KELTIS_NO_COMPILE") == "1"
# pip asks for the metadata in a process of its own, which needs no C code.
METADATA_ONLY = not {"egg_info", "dist_info", "sdist"}.isdisjoint(sys.argv)
REQUIRE_COMPILE = os.environ.get("KELTIS_REQUIRE_COMPILE") == "1"
PLAIN = "the engine could not be compiled; it is installed as plain Python"


class BuildEngine(build_ext):
    """Build all engine modules or none: half a compiled engine would not import."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = os.cpu_count() or 1  # a group is one long file for the C compiler

    def run(self) -> None:
        super().run()
        built = [Path(self.get_ext_fullpath(extension.name)) for extension in self.extensions]
        if all(path.exists() for path in built):
            return
        for path in built:
            path.unlink(missing_ok=True)
        self.warn(PLAIN)


def modules(patterns: list[str]) -> list[str]:
    found = {path for pattern in patterns for path in Path().glob(pattern)}
    return sorted(str(path) for path in found if path.name != "__init__.py")


def can_compile() -> bool:
    """Tell whether there is a C compiler and Python.h, before mypyc works on what they get."""
    # What setuptools brings along, since Python 3.12 has no distutils of its own any more.
    from distutils.ccompiler import new_compiler
    from distutils.sysconfig import customize_compiler

    with TemporaryDirectory() as scratch:
        source = Path(scratch, "smallest.c")
        source.write_text("#include <Python.h>\n")
        try:
            compiler = new_compiler()
            customize_compiler(compiler)
            include = [sysconfig.get_path("include"), sysconfig.get_path("platinclude")]
            compiler.compile([str(source)], scratch, include_dirs=include)
        except (BaseError, CCompilerError, OSError):
            return False
    return True


def engine_extensions() -> list[Extension]:
    if NO_COMPILE or METADATA_ONLY:
        return []
    if not REQUIRE_COMPILE and not can_compile():
        print(PLAIN, file=sys.stderr)
        return []
    from mypyc.build import mypycify

    extensions: list[Extension] = []
    for group, patterns in GROUPS.items():
        extensions += mypycify(modules(patterns), opt_level="3", group_name=group)
    for extension in extensions:
        extension.optional = not REQUIRE_COMPILE
        if os.name == "posix":
            # Not +=: the extensions share one list.
            extension.extra_compile_args = [*extension.extra_compile_args, *FLAGS]
    return extensions


setup(ext_modules=engine_extensions(), cmdclass={"build_ext": BuildEngine})
