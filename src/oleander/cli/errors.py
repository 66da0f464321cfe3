"""Errors of the command line: one sentence for the user, and an exit code for scripts."""

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

from oleander.running.progress import show_progress
from oleander.running.wording import printable

# The start of a message about a parameter in Python, such as ``radius=-1.0 is not allowed``.
PARAMETER = re.compile(r"(\w+)=(?! )")


class ExitCode(IntEnum):
    """The exit codes of all commands."""

    DONE = 0
    UNEXPECTED = 1
    USAGE = 2
    DATA = 3
    MODEL = 4
    FLOOR = 5
    BROKEN = 6
    INTERRUPTED = 130


class CommandError(Exception):
    """An error with a sentence for the user and an exit code."""

    def __init__(self, sentence: str, code: ExitCode = ExitCode.DATA) -> None:
        super().__init__(sentence)
        self.code = code


def note(sentence: str) -> None:
    """Print a note to standard error, so that it does not mix with the output."""
    typer.echo(printable(f"note: {sentence}"), err=True)


def plainly(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with every error turned into one sentence and an exit code; ``debug`` adds the traceback."""

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = _show_warning
            try:
                with show_progress(None):
                    command(*args, **options)
            except BrokenPipeError:
                # The reader of the output, such as ``head``, has closed the pipe; nothing more may be flushed into it.
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
    # Imported here, because a wrong option is answered before scikit-learn is imported.
    from oleander.black_box.asking import BlackBoxError
    from oleander.export.saved_file import FileError
    from oleander.fitting.nothing_found import NothingFoundError

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
    # Parameters of Python are options here.
    message = " ".join(str(error).split()).replace("include_rows=True", "--include-rows")
    code = _code_of(error, options)
    if code is ExitCode.UNEXPECTED:
        return f"unexpected {type(error).__name__}: {message} (--debug shows where)."
    if code is ExitCode.USAGE and (named := PARAMETER.match(message)):
        return f"--{named[1].replace('_', '-')} {message[named.end() :]}"
    return message


def _show_warning(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
    # Warnings of deprecation are for developers of libraries, not for readers of the output.
    if issubclass(category, UserWarning):
        note(str(message))
