"""Draw docs/panels.png: the paper's two panels on the patients of README (``make picture``)."""

import re
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def main() -> None:
    """Run the blocks of README that build the paper's system, and draw their panels here."""
    blocks = re.findall(r"^```python\n(.*?)^```", README.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    code = "".join(blocks[:2]).replace('"panels.png"', repr(str(Path(__file__).with_name("panels.png"))))
    exec(compile(code, "<README>", "exec"), {"__name__": "README"})


if __name__ == "__main__":
    main()
