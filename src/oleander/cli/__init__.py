"""The command line. No other folder imports this one."""

from oleander.cli.app import main as main
