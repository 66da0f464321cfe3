"""The program ``oleander``: its commands, and one sentence with an exit code wherever it fails."""

import argparse
import gc
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from dataclasses import MISSING, Field, fields
from inspect import getdoc
from pathlib import Path
from types import NoneType
from typing import Any, Literal, NoReturn, get_args, get_origin, get_type_hints

from oleander import __version__
from oleander.cli import options
from oleander.cli.options import ExitCode, note, show, to_command_error, wrong_option
from oleander.messages import name_nearest, visible
from oleander.running import import_without_collecting
from oleander.running.progress import show_progress

ABOUT = "Explain any black-box model with a handful of rules that say where they do not know."
EXIT_CODES = """\
exit codes:
  0 done; 1 unexpected error; 2 wrong options; 3 data or files that cannot be used; 4 a model that cannot be used;
  5 no explainer reaches the floor; 6 evaluate: the floor is broken on the new rows, watch: alarm, edit: the reserve
  does not certify; 7 watch: suspicion; 130 interrupted"""
METAVARS: dict[Any, str] = {int: "N", float: "X", Path: "FILE"}
# The record of each command's options, the module with the function of its name, and an example.
COMMANDS: dict[str, tuple[type[options.Options], str, str]] = {
    "demo": (options.Demo, "explaining", ""),
    "explain": (options.Explain, "explaining", "patients.csv --target risk --read missing=n/k --out out"),
    "paper": (options.Paper, "explaining", "patients.csv --target risk --radius 8 --max-explainers 5"),
    "predict": (options.Predict, "saved", "out/atlas.oleander today.csv --out answers.csv"),
    "explain-row": (options.ExplainRow, "saved", "out/atlas.oleander --data today.csv --row 17"),
    "evaluate": (options.Evaluate, "saved", "out/atlas.oleander march.csv --labels model_said"),
    "watch": (options.Watch, "saved", "out/atlas.oleander today.csv --labels model_said --log watch.sqlite"),
    "edit": (options.Edit, "saved", "old.oleander --apply edits.json --data may.csv --labels said --out new.oleander"),
    "export": (options.Export, "saved", "out/atlas.oleander --format sql --dialect sqlite"),
    "report": (options.Report, "saved", "out/atlas.oleander --data today.csv --out report.html"),
    "tradeoff": (options.Tradeoff, "saved", "out/atlas.oleander"),
}


class Parser(argparse.ArgumentParser):
    """A parser whose errors are errors of the program, and whose options are not abbreviated."""

    def __init__(self, **details: Any) -> None:
        super().__init__(**details, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        """Raise the error of a wrong option."""
        raise wrong_option(f"{message.removeprefix('argument ')} ({self.prog} --help)")

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        """Return what the words say, options and arguments in any order; refuse an option that is not there."""
        given, unknown = self.parse_known_intermixed_args(words)
        if unknown and unknown[0].startswith("-"):
            option = unknown[0].partition("=")[0]
            flags = [flag for action in self._actions for flag in action.option_strings]
            self.error(f"there is no option {option}.{name_nearest(option, flags)}")
        if unknown:
            self.error(f"there is no argument for {unknown[0]!r}.")
        return given


def main(words: Sequence[str] | None = None) -> int:
    """Run the command that the words name, by default those of the shell, and return its exit code."""
    is_program = words is None
    words = list(sys.argv[1:] if words is None else words)
    # Users repeat the command that failed, and add the option at its end.
    is_debug = "--debug" in words
    words = [word for word in words if word != "--debug"]
    name = words[0] if words else ""
    known: Sequence[str] = ()
    try:
        with warnings.catch_warnings(), show_progress(None):
            warnings.simplefilter("default", UserWarning)
            warnings.showwarning = _show_warning
            if name not in COMMANDS:
                return run_alone(words)
            record, module, _ = COMMANDS[name]
            known = [one.name for one in fields(record)]
            given = record(**vars(make_parser(name).read(words[1:])))
            # What the command works with is imported only now: help, and the answer to a wrong option, are quick.
            run = getattr(import_without_collecting(f"oleander.cli.{module}"), name.replace("-", "_"))
            if is_program:
                # Nothing of what was imported is ever garbage in this process, which saves a tenth of the time.
                gc.freeze()
            return run(given) or ExitCode.DONE
    except BrokenPipeError:
        # The reader of the output, such as ``head``, has closed the pipe; nothing more may be flushed into it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.DONE
    except (Exception, KeyboardInterrupt) as error:
        if is_debug:
            traceback.print_exc()
        failure = to_command_error(error, known)
        show(visible(f"oleander: {failure}"), file=sys.stderr)
        return failure.code


def run_alone(words: Sequence[str]) -> ExitCode:
    """Print the version if it is asked for, and the help otherwise; refuse a command that is not there."""
    if words and not words[0].startswith("-"):
        raise wrong_option(f"there is no command {words[0]}.{name_nearest(words[0], COMMANDS)} (oleander --help)")
    summaries = [f"  {name:16}{(record.__doc__ or '').splitlines()[0]}" for name, (record, _, _) in COMMANDS.items()]
    epilog = "\n".join(["commands:", *summaries, "", EXIT_CODES])
    parser = Parser(prog="oleander", usage="oleander COMMAND [options]", description=ABOUT, epilog=epilog)
    parser.add_argument("--version", action="store_true", help="Print the version and exit.")
    parser.add_argument("--debug", action="store_true", help="With any command: show the traceback of an error.")
    given = parser.read(words)
    if given.version:
        show(f"oleander {__version__}")
    else:
        parser.print_help()
    return ExitCode.DONE


def make_parser(name: str) -> Parser:
    """Return what reads the options of a command."""
    record, _, example = COMMANDS[name]
    hints, known = get_type_hints(record), fields(record)
    arguments = [one.metadata["metavar"] for one in known if one.metadata["group"] == options.ARGUMENTS]
    parser = Parser(
        prog=f"oleander {name}",
        usage=" ".join([f"oleander {name}", *arguments, "[options]"]),
        description=getdoc(record),
        epilog=f"example: oleander {name} {example}".rstrip(),
    )
    groups = {title: parser.add_argument_group(title) for title in options.GROUPS}
    for one in known:
        add_option(groups[one.metadata["group"]], hints[one.name], one)
    return parser


def add_option(group: Any, hint: Any, one: Field[Any]) -> None:
    """Add the field of a record to a group of the help, as an option or as an argument."""
    about, is_required = one.metadata["help"], one.default is MISSING
    # A flag has no default to name. A number may be 0, which equals False.
    if one.default is not False and one.default not in (MISSING, None, "", ()):
        about += f" Default: {one.default}."
    # A percent sign would begin a mark of the formatter.
    details = {"help": about.replace("%", "%%"), "metavar": one.metadata["metavar"]}
    if not is_required:
        details["default"] = one.default
    kind = next((part for part in get_args(hint) if NoneType in get_args(hint)), hint)
    if kind is bool:
        del details["metavar"]
        details["action"] = "store_true"
    elif get_origin(kind) is Literal:
        details["choices"] = get_args(kind)
    elif kind == options.Names:
        details |= {"action": "extend", "type": options.split_names, "default": []}
    elif get_origin(kind) is list:
        details["action"] = "append"
    else:
        details |= {"type": kind, "metavar": details["metavar"] or METAVARS.get(kind)}
    if one.metadata["group"] == options.ARGUMENTS:
        group.add_argument(one.name, nargs=None if is_required else "?", **details)
    else:
        flag = one.metadata["flag"] or f"--{one.name.replace('_', '-')}"
        group.add_argument(flag, dest=one.name, required=is_required, **details)


def _show_warning(message: Any, category: type[Warning], *_: Any, **__: Any) -> None:
    # Warnings of deprecation are for developers of libraries, not for readers of the output.
    if issubclass(category, UserWarning):
        note(str(message))
