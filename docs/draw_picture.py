"""Draw docs/page.png: the first screen of the page that ``oleander demo`` writes (``make picture``)."""

import os
import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from oleander.cli import main as run_command


def main() -> None:
    """Run the demo, open its page in chromium, and keep what is seen first."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("chromium is needed to draw the picture: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as session:
        if run_command(["demo", "--out", folder, "--debug"]):
            raise SystemExit("the demo has failed")
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = session.chromium.launch(executable_path=chromium, args=arguments)
        page = browser.new_page(viewport={"width": 1180, "height": 880}, color_scheme="light")
        page.goto((Path(folder) / "report.html").as_uri())
        page.screenshot(path=Path(__file__).with_name("page.png"))
        browser.close()


if __name__ == "__main__":
    main()
