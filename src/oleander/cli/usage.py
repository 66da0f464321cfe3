"""Wrong options: one sentence instead of the usage lines that typer prints, with the same exit code."""

import re
import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from oleander.cli.errors import ExitCode

# The base class of typer's errors of usage. Its module has moved between versions; this way to it works in all.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]


class PlainGroup(TyperGroup):
    """The commands, with one sentence for an unknown command, option or value."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command that the arguments name, and exit with its code."""
        words = list(sys.argv[1:] if args is None else args)
        try:
            # Without arguments the help is printed.
            code = super().main(words or ["--help"], prog_name, standalone_mode=False, **extra)
        except UsageError as error:
            typer.echo(f"oleander: {describe_error(error, words)}", err=True)
            sys.exit(ExitCode.USAGE)
        except typer.Abort:
            typer.echo("oleander: interrupted; nothing was written.", err=True)
            sys.exit(ExitCode.INTERRUPTED)
        sys.exit(code if isinstance(code, int) else ExitCode.DONE)


def describe_error(error: Any, words: Sequence[str]) -> str:
    """Return typer's message as one sentence: what was given, what is allowed, and the command that shows more.

    Examples
    --------
    >>> describe_error(UsageError("No such command 'dmo'. Did you mean 'demo'?"), ["dmo"])
    "no such command 'dmo'; did you mean 'demo'? (oleander --help)"
    """
    command = "oleander" if getattr(error, "ctx", None) is None else error.ctx.command_path
    return f"{_reason(error, words)} ({command} --help)"


def _reason(error: Any, words: Sequence[str]) -> str:
    if hasattr(error, "possibilities") and hasattr(error, "option_name"):
        near = " or ".join(sorted(error.possibilities or ()))
        return f"there is no option {error.option_name}" + (f"; did you mean {near}?" if near else ".")
    param = getattr(error, "param", None)
    if param is None:
        return _one_sentence(error.format_message())
    is_option = param.param_type_name == "option"
    name = param.opts[-1] if is_option else param.metavar or param.name.upper()
    if hasattr(error, "param_type"):
        return f"{name} is missing."
    given = _value_of(param.opts, words) if is_option else None
    subject = name if given is None else f"{name} {given}"
    return f"{subject} is not allowed: {_one_sentence(error.message)}"


def _one_sentence(message: str) -> str:
    """Return a library's message in the style of the other messages."""
    message = re.sub(r"^(Value error, )", "", " ".join(message.split()))
    message = re.sub(r"^Input should be (.*?)(, unable to parse .*)?$", r"it should be \1", message)
    message = message.replace("a valid integer", "a whole number").replace("a valid number", "a number")
    message = message.replace("greater than or equal to", "at least").replace("less than or equal to", "at most")
    message = re.sub(r"\. (?=\w)", lambda _: "; ", message.rstrip("."))
    message = message.replace("; Did you", "; did you")
    if re.match(r"[A-Z][a-z]", message):
        message = message[0].lower() + message[1:]
    return message if message.endswith("?") else f"{message}."


def _value_of(names: Sequence[str], words: Sequence[str]) -> str | None:
    """Return the last value of an option among the arguments, or None if it is not there."""
    value = None
    for word, after in zip(words, [*words[1:], None], strict=True):
        option, equals, attached = word.partition("=")
        if option in names:
            value = attached if equals else after
    return value
