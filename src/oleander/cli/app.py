"""The program ``oleander`` and its commands."""

import json
from typing import Annotated

import typer

from oleander import __version__
from oleander.cli.comparing import compare_models
from oleander.cli.demo import demo
from oleander.cli.errors import plainly
from oleander.cli.explaining import compare, explain
from oleander.cli.monitoring import evaluate
from oleander.cli.saved import export, predict, report, tradeoff
from oleander.cli.usage import PlainGroup

ABOUT = """Explain any black-box model with a handful of small models that say where they do not know.

Exit codes: 0 done; 1 unexpected error; 2 wrong options; 3 data or files that cannot be used; 4 a model that cannot be
used; 5 no explainer reaches the floor; 6 evaluate: the floor is broken on the new rows; 130 interrupted.
"""

# Plain text, because names of columns in a message are not markup.
app = typer.Typer(cls=PlainGroup, help=ABOUT, add_completion=False, rich_markup_mode=None)
for command in (demo, explain, predict, evaluate, export, report, tradeoff, compare, compare_models):
    app.command()(plainly(command))


@app.callback(invoke_without_command=True)
def about(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="With --version: as JSON.")] = False,
) -> None:
    """Print the version if it is asked for, and the help otherwise."""
    if version:
        typer.echo(json.dumps({"version": __version__}) if as_json else f"oleander {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())
