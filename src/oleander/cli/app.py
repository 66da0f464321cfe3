"""The program ``oleander``: its commands, and one sentence with an exit code wherever it fails."""

import json
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from oleander import __version__
from oleander.cli import options
from oleander.cli.options import CommandError, ExitCode, note, to_command_error
from oleander.messages import visible
from oleander.running.progress import show_progress

# The base class of typer's errors of usage. Its module has moved between versions; this way to it works in all.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]
ABOUT = """Explain any black-box model with a handful of small models that say where they do not know.

Exit codes: 0 done; 1 unexpected error; 2 wrong options; 3 data or files that cannot be used; 4 a model that cannot be
used; 5 no explainer reaches the floor; 6 evaluate: the floor is broken on the new rows, watch: alarm, edit: the reserve
does not certify, compare-models: the gate is not shown; 7 watch: suspicion; 130 interrupted.
"""
# The record of each command's options, the module with the function of its name, and an example.
COMMANDS: dict[str, tuple[type[options.Options], str, str]] = {
    "demo": (options.Demo, "explaining", ""),
    "explain": (options.Explain, "explaining", "patients.csv --target risk --read missing=n/k --out out"),
    "paper": (options.Paper, "explaining", "patients.csv --target risk --radius 8 --max-explainers 5"),
    "compare-models": (options.CompareModels, "explaining", "old.ubj new.ubj march.csv --target risk --gate 0.05"),
    "predict": (options.Predict, "saved", "out/atlas.oleander today.csv --out answers.csv"),
    "explain-row": (options.ExplainRow, "saved", "out/atlas.oleander --data today.csv --row 17"),
    "evaluate": (options.Evaluate, "saved", "out/atlas.oleander march.csv --labels model_said"),
    "watch": (
        options.Watch,
        "saved",
        "out/atlas.oleander today.csv --labels model_said --log watch.sqlite --name 2026-03-01",
    ),
    "edit": (
        options.Edit,
        "saved",
        "out/atlas.oleander --apply edits.json --data march.csv --labels model_said --out edited.oleander",
    ),
    "export": (options.Export, "saved", "out/atlas.oleander --format sql --dialect sqlite"),
    "report": (options.Report, "saved", "out/atlas.oleander --data today.csv --out report.html"),
    "tradeoff": (options.Tradeoff, "saved", "out/atlas.oleander"),
}


class GroupedCommand(TyperCommand):
    """A command whose help shows its options in named groups, as plain text: typer's boxes take long to import."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments and the groups of options."""
        groups: dict[str, list[tuple[str, str]]] = {title: [] for title in options.GROUPS}
        for param in self.get_params(ctx):
            if (record := param.get_help_record(ctx)) is not None:
                is_argument = param.param_type_name == "argument"
                group = "Arguments" if is_argument else getattr(param, "rich_help_panel", None) or "Options"
                groups[group].append(record)
        for title, records in groups.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


class Program(TyperGroup):
    """The commands; every error ends in one sentence on standard error, and ``--debug`` adds the traceback."""

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
        # Users repeat the command that failed, and add the option at its end.
        is_debug = "--debug" in words
        words = [word for word in words if word != "--debug"]
        try:
            # Without arguments the help is printed.
            code = super().main(words or ["--help"], prog_name, standalone_mode=False, **extra)
        except (CommandError, UsageError, typer.Abort) as error:
            if is_debug:
                traceback.print_exc()
            if isinstance(error, UsageError):
                error = CommandError(describe_misuse(error, words), ExitCode.USAGE)
            failure = to_command_error(KeyboardInterrupt() if isinstance(error, typer.Abort) else error, ())
            typer.echo(visible(f"oleander: {failure}"), err=True)
            sys.exit(failure.code)
        sys.exit(code if isinstance(code, int) else ExitCode.DONE)

    def invoke(self, ctx: Any) -> Any:
        """Run a command, with any error turned into a ``CommandError`` and warnings into notes."""
        with warnings.catch_warnings(), show_progress(None):
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = _show_warning
            try:
                return super().invoke(ctx)
            except (UsageError, typer.Exit, typer.Abort):
                raise
            except BrokenPipeError:
                # The reader of the output, such as ``head``, has closed the pipe; nothing more may be flushed into it.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            except (Exception, KeyboardInterrupt) as error:
                command = self.commands.get(ctx.invoked_subcommand)
                names = [str(param.name) for param in command.params] if command else []
                raise to_command_error(error, names) from error


def describe_misuse(error: Any, words: Sequence[str]) -> str:
    """Return typer's message as one sentence: what was given, what is allowed, and the command that shows more.

    >>> describe_misuse(UsageError("No such command 'dmo'. Did you mean 'demo'?"), ["dmo"])
    "no such command 'dmo'; did you mean 'demo'? (oleander --help)"
    """
    command = "oleander" if getattr(error, "ctx", None) is None else error.ctx.command_path
    return f"{_reason(error, words)} ({command} --help)"


def _reason(error: Any, words: Sequence[str]) -> str:
    if hasattr(error, "possibilities") and hasattr(error, "option_name"):
        near = [*(error.possibilities or ())][:1]
        return f"there is no option {error.option_name}" + (f"; did you mean {near[0]}?" if near else ".")
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


def _show_warning(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
    # Warnings of deprecation are for developers of libraries, not for readers of the output.
    if issubclass(category, UserWarning):
        note(str(message))


# Plain text, because names of columns in a message are not markup.
app = typer.Typer(cls=Program, help=ABOUT, add_completion=False, rich_markup_mode=None)


def make_command(name: str, record: type[options.Options], module: str) -> Callable[..., None]:
    """Return the function that typer calls: it fills the record, and then imports what the command works with.

    So the help, and the answer to a wrong option, need not wait for scikit-learn.
    """

    def command(**given: Any) -> None:
        getattr(import_module(f"oleander.cli.{module}"), name.replace("-", "_"))(record(**given))

    command.__doc__ = record.__doc__
    command.__signature__ = options.signature_of(record)  # type: ignore[attr-defined]
    return command


for name, (record, module, example) in COMMANDS.items():
    epilog = f"Example: oleander {name} {example}".rstrip()
    app.command(name, cls=GroupedCommand, epilog=epilog)(make_command(name, record, module))


@app.callback(invoke_without_command=True)
def about(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --version: as JSON.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="With any command: show the traceback of an error.")] = False,
) -> None:
    """Print the version if it is asked for, and the help otherwise."""
    if version:
        typer.echo(json.dumps({"version": __version__}) if as_json else f"oleander {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())
