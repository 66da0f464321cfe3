"""The command line. Only this folder imports typer and rich, and no other folder imports this one."""

from oleander.messages import import_extra


def main() -> None:
    """Run the command line, or exit with one sentence that says how to install it."""
    try:
        for package in ("typer", "rich"):
            import_extra(package, extra="cli", purpose="The command line")
    except ImportError as error:
        raise SystemExit(f"oleander: {error}") from None
    from oleander.cli.app import app

    app(prog_name="oleander")
