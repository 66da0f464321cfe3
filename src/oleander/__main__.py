"""``python -m oleander`` is the command ``oleander``."""

import sys

from oleander.cli import main

if __name__ == "__main__":
    sys.exit(main())
