"""Compile the sandbox's init; as a script, for all architectures into ``init.py``."""

from __future__ import annotations

import base64
import re
import subprocess
import tempfile
from pathlib import Path

from tests.places import ROOT

SOURCES = ROOT / "ladder" / "keltis_ladder" / "sandbox"
SOURCE = SOURCES / "init.c"
MODULE = SOURCES / "init.py"
COMPILERS = {"aarch64": "aarch64-linux-gnu-gcc", "x86_64": "x86_64-linux-gnu-gcc"}
WIDTH = 88
OPTIONS = [
    *("-Os", "-Wall", "-Wextra", "-Werror", "-s", "-static", "-nostdlib", "-ffreestanding"),
    *("-fno-pie", "-no-pie", "-fno-stack-protector", "-fno-asynchronous-unwind-tables"),
    "-Wl,--nmagic,--build-id=none,-z,noexecstack,-z,norelro",
]


def compile_init(compiler: str) -> bytes:
    """Return the program, compiled by this compiler."""
    with tempfile.TemporaryDirectory() as scratch:
        program = Path(scratch) / "init"
        subprocess.run([compiler, *OPTIONS, "-o", str(program), str(SOURCE)], check=True)
        return program.read_bytes()


def main() -> None:
    """Write the programs into the module."""
    entries = []
    for machine, compiler in COMPILERS.items():
        text = base64.b64encode(compile_init(compiler)).decode()
        lines = "\n".join(f'        "{text[i : i + WIDTH]}"' for i in range(0, len(text), WIDTH))
        entries.append(f'    "{machine}": (\n{lines}\n    ),\n')
    module = MODULE.read_text(encoding="utf-8")
    head, tail = re.split(r"(?s)(?<=PROGRAMS: Final = \{\n).*?(?=\}\n)", module, maxsplit=1)
    MODULE.write_text(head + "".join(entries) + tail, encoding="utf-8")


if __name__ == "__main__":
    main()
