"""What goes wrong on the command line: one sentence, and a code that scripts can tell apart."""

import functools
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any

import typer

from oleander.aggregate import NothingFoundError
from oleander.black_box.asking import BlackBoxError
from oleander.export.saved_file import FileError

# How a message about a parameter begins in Python: ``radius=-1.0 is not allowed``.
PARAMETER = re.compile(r"(\w+)=(?! )")


class ExitCode(IntEnum):
    """What the command's exit code means."""

    DONE = 0
    UNEXPECTED = 1
    USAGE = 2
    DATA = 3
    MODEL = 4
    FLOOR = 5
    INTERRUPTED = 130


class CommandError(Exception):
    """A sentence for the user, and the exit code."""

    def __init__(self, sentence: str, code: ExitCode = ExitCode.DATA) -> None:
        super().__init__(sentence)
        self.code = code


def note(sentence: str) -> None:
    """Say something beside the answer, where it does not get into a pipe."""
    typer.echo(printable(f"note: {sentence}"), err=True)


def printable(words: str) -> str:
    r"""Return words without what a terminal takes for an order: names in a file may be anybody's.

    Examples
    --------
    >>> printable("age\x1b[31m")
    'age\\x1b[31m'
    """
    return "".join(one if one.isprintable() or one in "\n\t" else repr(one)[1:-1] for one in words)


def plainly(command: Callable[..., None]) -> Callable[..., None]:
    """Make a command end in one sentence and an exit code, whatever happens; with ``debug`` in a traceback too."""

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = _show_warning
            try:
                command(*args, **options)
            except BrokenPipeError:
                # Whoever read the output has seen enough; nothing more may be flushed into the closed pipe.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            except (Exception, KeyboardInterrupt) as error:
                if isinstance(error, typer.Exit):
                    raise
                if options.get("debug"):
                    traceback.print_exc()
                typer.echo(printable(f"oleander: {_sentence(error, options)}"), err=True)
                raise typer.Exit(_code_of(error, options)) from None

    return run


def _code_of(error: BaseException, options: Mapping[str, Any]) -> ExitCode:
    if isinstance(error, CommandError):
        return error.code
    if isinstance(error, KeyboardInterrupt):
        return ExitCode.INTERRUPTED
    if isinstance(error, NothingFoundError):
        return ExitCode.FLOOR
    if isinstance(error, BlackBoxError):
        return ExitCode.MODEL
    if isinstance(error, ImportError):
        return ExitCode.USAGE
    if isinstance(error, ValueError) and (named := PARAMETER.match(str(error))) and named[1] in options:
        return ExitCode.USAGE
    # Rows, columns and files are checked where they are read, with the column and row named.
    return ExitCode.DATA if isinstance(error, (FileError, ValueError, OSError)) else ExitCode.UNEXPECTED


def _sentence(error: BaseException, options: Mapping[str, Any]) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted; nothing was written."
    if isinstance(error, FileExistsError):
        return f"{error.filename} is a file, where a folder is needed."
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    # A parameter's name in Python is an option's here.
    words = " ".join(str(error).split()).replace("include_rows=True", "--include-rows")
    code = _code_of(error, options)
    if code is ExitCode.UNEXPECTED:
        return f"unexpected {type(error).__name__}: {words} (--debug shows where)."
    if code is ExitCode.USAGE and (named := PARAMETER.match(words)):
        return f"--{named[1].replace('_', '-')} {words[named.end() :]}"
    return words


def _show_warning(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
    # What libraries tell each other about their future is no business of whoever reads the answer.
    if issubclass(category, UserWarning):
        note(str(message))
