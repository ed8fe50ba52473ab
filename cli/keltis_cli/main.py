"""The command itself: finds the subcommand, and turns errors into one clear line."""

from __future__ import annotations

import gc
import importlib
import os
import sys
from typing import Annotated, Any, Final, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from keltis_cli.commands import COMMANDS
from keltis_cli.exit_codes import ExitCode

PROGRAM: Final = "keltis-ladder"
HELP_OPTIONS: Final = ("-h", "--help")


_USERS_ERRORS: Final = [
    ("keltis_ladder.errors", "LadderError"),
    ("keltis_bots.manifest", "BadManifest"),
]


class LazyGroup(TyperGroup):
    """Imports a subcommand only when it is asked for, so that each one starts quickly."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names for ``--help``."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Load one subcommand."""
        if cmd_name not in self.commands and cmd_name in COMMANDS:
            self.commands[cmd_name] = load(cmd_name)
        return self.commands.get(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the subcommand; for an unknown one, typer suggests from those it has."""
        if args and args[0] not in COMMANDS:
            self._outline()
        return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Tell what there is, without loading any of it."""
        self._outline()
        super().format_help(ctx, formatter)

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the options of the program itself."""
        options: list[Any] = _show_as_flags(super().get_params(ctx))
        return options

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete the name of a subcommand, which need not be loaded for that."""
        self._outline()
        return super().shell_complete(ctx, incomplete)

    def _outline(self) -> None:
        """Have something of each subcommand that can be named, but not run."""
        for name, entry in COMMANDS.items():
            outline = TyperCommand(name, help=entry.help, rich_help_panel=entry.panel)
            self.commands.setdefault(name, outline)


def load(name: str) -> Any:
    """Import the module of a subcommand and build it."""
    entry = COMMANDS[name]
    gc.disable()  # nothing that is imported is garbage: looking for it takes a tenth of the time
    try:
        found = getattr(importlib.import_module(entry.module), entry.name)
    finally:
        gc.enable()
    if not isinstance(found, typer.Typer):
        command = typer.Typer(add_completion=False)
        command.command(name)(found)
        found = command
    built: Any = typer.main.get_command(found)
    built.name = name
    built.rich_help_panel = entry.panel
    _prepare_help(built)
    return built


def _show_as_flags(options: Any) -> Any:
    """Let the help show options without a value as ``--json``, not as ``--json <bool>``."""
    for option in options:
        if getattr(option, "is_flag", False) and option.metavar is None:
            option.metavar = ""
    return options


def _prepare_help(command: Any) -> None:
    """Prepare the help of a command and its subcommands, their ``--help`` options included.

    Paragraphs of docstrings are broken for the source; the help breaks them for the terminal.
    """
    context = typer.Context(command, help_option_names=list(HELP_OPTIONS))
    _show_as_flags(command.get_params(context))
    command.help = "\n\n".join(" ".join(p.split()) for p in (command.help or "").split("\n\n"))
    for subcommand in getattr(command, "commands", {}).values():
        _prepare_help(subcommand)


app = typer.Typer(
    cls=LazyGroup,
    name=PROGRAM,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": list(HELP_OPTIONS)},
)


def _tell_version(wanted: bool) -> None:
    if wanted:
        from keltis_cli.games.about import version

        version()
        raise typer.Exit


@app.callback()
def keltis_ladder(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_tell_version, is_eager=True, help="Show the version, and exit."
        ),
    ] = False,
) -> None:
    """Write bots for the four Keltis games, and play, watch and check them.

    New here? Try `keltis-ladder demo`, then `play`; to write a bot, `init` and `match`.
    """


def main() -> NoReturn:
    """Run the command; ``ExitCode`` says how it can end."""
    try:
        app(prog_name=PROGRAM, standalone_mode=True)
        code: int = ExitCode.DONE
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else ExitCode.FAILED
    except BrokenPipeError:
        code = _hang_up()
    except (OSError, ValueError) as error:
        if not _is_users(error):
            raise
        print(f"{PROGRAM}: {_explain(error)}", file=sys.stderr)
        code = getattr(error, "exit_code", ExitCode.REFUSED)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = _hang_up()
    sys.exit(code)


def _is_users(error: OSError | ValueError) -> bool:
    """Return whether the error is about what the user gave us rather than an internal error."""
    from keltis_engine import EngineError

    if isinstance(error, OSError | EngineError):
        return True
    # Code that raised one of these has imported its module; other commands need not.
    return any(
        isinstance(error, getattr(sys.modules[module], name))
        for module, name in _USERS_ERRORS
        if module in sys.modules
    )


def _explain(error: OSError | ValueError) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"cannot use {os.fsdecode(error.filename)}: {error.strerror}; check the path"
    return " ".join(str(error).split())


def _hang_up() -> int:
    """Stop quietly when the reader of our output has gone, as ``head`` does."""
    # Python flushes once more at exit; that must not meet the broken pipe again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return ExitCode.DONE


if __name__ == "__main__":
    main()
