"""Errors of the command line: one sentence for the user, and an exit code for scripts."""

import re
from collections.abc import Collection
from enum import IntEnum

import typer

from oleander.messages import visible

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
    SUSPICION = 7
    INTERRUPTED = 130


class CommandError(Exception):
    """An error with a sentence for the user and an exit code."""

    def __init__(self, sentence: str, code: ExitCode = ExitCode.DATA) -> None:
        super().__init__(sentence)
        self.code = code


def wrong_option(sentence: str) -> CommandError:
    """Return the error of an option that is not allowed, or that would do nothing."""
    return CommandError(sentence, ExitCode.USAGE)


def note(sentence: str) -> None:
    """Print a note to standard error, so that it does not mix with the output."""
    typer.echo(visible(f"note: {sentence}"), err=True)


def to_command_error(error: BaseException, options: Collection[str]) -> CommandError:
    """Return any error as one sentence with an exit code.

    Parameters
    ----------
    error : BaseException
    options : collection of str
        The parameters of the command: a message about one of them is about an option.
    """
    if isinstance(error, CommandError):
        return error
    # Imported here, because a wrong option is answered before scikit-learn is imported.
    from oleander.black_box.answers import BlackBoxError
    from oleander.files.saved import FileError
    from oleander.fitting.options import NothingFoundError

    message = " ".join(str(error).split()).replace("include_rows=True", "--include-rows")
    named = PARAMETER.match(message)
    match error:
        case KeyboardInterrupt():
            return CommandError("interrupted; nothing was written.", ExitCode.INTERRUPTED)
        case FileExistsError():
            return CommandError(f"{error.filename} is a file, where a folder is needed.")
        case OSError() if error.filename is not None:
            return CommandError(f"{error.filename}: {error.strerror}.")
        case NothingFoundError():
            return CommandError(message, ExitCode.FLOOR)
        case BlackBoxError():
            return CommandError(message, ExitCode.MODEL)
        case ImportError():
            return wrong_option(message)
        case ValueError() if named and named[1] in options:
            # Parameters of Python are options here.
            return wrong_option(f"--{named[1].replace('_', '-')} {message[named.end() :]}")
        case FileError() | ValueError() | OSError():
            # Rows, columns and files are checked where they are read, with the column and row named.
            return CommandError(message)
    sentence = f"unexpected {type(error).__name__}: {message} (--debug shows where)."
    return CommandError(sentence, ExitCode.UNEXPECTED)
