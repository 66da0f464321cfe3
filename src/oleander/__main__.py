"""``python -m oleander`` is the command ``oleander``."""

from oleander.cli import main

if __name__ == "__main__":
    main()
