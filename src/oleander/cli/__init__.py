"""The command line. Only this folder knows typer and rich, and nobody below it imports it."""

from oleander.running.extras import import_extra


def main() -> None:
    """Run the command line, or say in one sentence how to get it."""
    try:
        for package in ("typer", "rich"):
            import_extra(package, extra="cli", purpose="The command line")
    except ImportError as error:
        raise SystemExit(f"oleander: {error}") from None
    from oleander.cli.app import app

    app(prog_name="oleander")
