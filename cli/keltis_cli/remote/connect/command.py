"""Commands that ask a server and print its answer.

``remote`` declares once what they share: the options, the confirmation, the connection, and that
the answer is printed as JSON for programs or in lines for people.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Concatenate, Final, ParamSpec

from rich.text import Text

from keltis_cli import arguments
from keltis_cli.draw.look import Look, console, look
from keltis_cli.draw.printable import printable
from keltis_cli.remote.connect.calls import (
    ServerOption,
    TokenOption,
    confirm,
    print_json,
    print_lines,
    talk,
)
from keltis_cli.remote.connect.connection import Server

P = ParamSpec("P")
Say = Callable[[int, Look], Sequence[Text] | str | None]  # none: it has printed everything itself

_OPTIONS: Final[dict[str, tuple[Any, Any]]] = {  # in the order of the help; name: type, default
    "yes": (arguments.YesOption, False),
    "server": (ServerOption, ""),
    "token": (TokenOption, ""),
    "as_json": (arguments.JsonOption, False),
    "ascii_only": (arguments.AsciiOption, False),
}


@dataclass(frozen=True)
class Answer:
    """An answer of a server: as plain data, and as a text or lines that fit into a width."""

    plain: Any
    say: Say | str

    def print_for_people(self, ascii_only: bool) -> None:
        """Print it in lines."""
        said = (
            self.say if isinstance(self.say, str) else self.say(console().width, look(ascii_only))
        )
        if isinstance(said, str):
            print(said)
        elif said is not None:
            print_lines(said)


def remote(
    *, draws: bool = False, as_operator: bool = False, sure: str | Callable[..., str] = ""
) -> Callable[[Callable[Concatenate[Server, P], Awaitable[Answer]]], Callable[..., None]]:
    """Make a command of a function that asks a server; its other parameters are options.

    ``draws`` adds ``--ascii``. ``sure`` is the question that has to be confirmed first, and adds
    ``--yes``: a template of the parameters, or a function of them that returns the question or "".
    """
    left_out = {name for name, wanted in (("yes", sure), ("ascii_only", draws)) if not wanted}
    shared = {name: option for name, option in _OPTIONS.items() if name not in left_out}

    def decorate(
        question: Callable[Concatenate[Server, P], Awaitable[Answer]],
    ) -> Callable[..., None]:
        def command(**given: Any) -> None:
            options = {name: given.pop(name) for name in shared}
            if sure:
                _confirm(sure, given, options["yes"])

            def conversation(server: Server) -> Awaitable[Answer]:
                asked: Awaitable[Answer] = question(server, **given)  # type: ignore[call-arg]
                return asked

            answer = talk(options["server"], options["token"], conversation, as_operator)
            if options["as_json"]:
                print_json(answer.plain)
            else:
                answer.print_for_people(options.get("ascii_only", False))

        own = list(inspect.signature(question, eval_str=True).parameters.values())[1:]
        parameters = [
            *own,
            *(
                inspect.Parameter(
                    name, inspect.Parameter.KEYWORD_ONLY, default=value, annotation=kind
                )
                for name, (kind, value) in shared.items()
            ),
        ]
        command.__name__, command.__doc__ = question.__name__, question.__doc__
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        return command

    return decorate


def _confirm(sure: str | Callable[..., str], given: dict[str, Any], yes: bool) -> None:
    if isinstance(sure, str):
        text = sure.format(**{name: printable(str(value)) for name, value in given.items()})
    else:
        text = sure(**given)
    if text:
        confirm(text, yes)
