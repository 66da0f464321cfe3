"""Explainers of every kind on a table with every kind of column, and a browser to open their pages."""

import importlib
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer, Balls, Floor, Program
from oleander.draws import Draws
from tests.making import OwnTrees

SCREENSHOTS = Path(__file__).parents[2] / "screenshots"
HOSTILE = "</script><script>window.hit=1</script>"
LEVELS = ['"><img src=x onerror="window.hit=1">', 'it\'s "so" & so', "😀 {{data}}", "שלום"]


def make_table(n_rows: int = 500, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "weight": rng.normal(70, 12, n_rows),
            "age": rng.integers(18, 90, n_rows),
            "smoker": rng.random(n_rows) < 0.3,
            HOSTILE: rng.choice(LEVELS, n_rows),
            "dose": np.where(rng.random(n_rows) < 0.2, np.nan, rng.uniform(0, 5, n_rows)),
        }
    )
    table.loc[rng.random(n_rows) < 0.1, HOSTILE] = None
    return table


def label_table(table: pd.DataFrame) -> np.ndarray:
    heavy = (table["weight"] > 72).to_numpy()
    odd = (table[HOSTILE] == LEVELS[0]).fillna(False).to_numpy(dtype=bool)
    old = (table["age"] > 55 + 10 * table["smoker"]).to_numpy()
    return np.select([table["dose"].isna().to_numpy() & old, heavy & ~odd], ["<i>no dose</i>", "heavy"], "light ☂")


def number_table(table: pd.DataFrame) -> np.ndarray:
    odd = (table[HOSTILE] == LEVELS[0]).fillna(False).to_numpy(dtype=bool)
    return np.where(table["age"] > 50, 0.1 * table["weight"], 3 + 2 * odd - table["dose"].fillna(1.0))


SHARE = Floor(on="share")
OPTIONS: dict[str, dict[str, Any]] = {
    "asking": {"draws": Draws(2000), "min_fidelity": 0.75},
    "numbers": {"draws": Draws(2000), "min_fidelity": 0.75, "tolerance": 0.5},
    "trees": {"candidates": OwnTrees(), "min_fidelity": 0.85},
    "nodes": {"candidates": OwnTrees(by_leaf=True), "min_fidelity": 0.8},
    "balls": {"candidates": Balls(n_draws=300, max_candidates=40), "min_fidelity": 0.75, "floor": SHARE},
}


class Atlases(dict[str, AggregateExplainer]):
    """Explainers by kind, each fitted when it is first asked for."""

    def __missing__(self, kind: str) -> AggregateExplainer:
        # Explainers that are learned by asking are certified by rows beside a background, others by held-out rows.
        asks = kind in ("asking", "numbers")
        black_box = number_table if kind == "numbers" else label_table
        options = {**OPTIONS[kind], **({} if asks else {"holdout": 0.25, "program": Program(time_limit=10)})}
        atlas = AggregateExplainer(black_box, max_explainers=5, random_state=0, **options)
        self[kind] = atlas.fit(make_table(), background=make_table(seed=1) if asks else None)
        return self[kind]


@pytest.fixture(scope="session")
def atlases() -> Atlases:
    return Atlases()


@pytest.fixture(scope="session")
def make_rows():
    return make_table


@pytest.fixture(scope="session")
def label_rows():
    return label_table


@pytest.fixture(scope="session")
def hostile() -> str:
    return HOSTILE


@pytest.fixture(scope="session")
def levels() -> list[str]:
    return LEVELS


@dataclass
class Opened:
    """A page in a browser, with its messages and requests."""

    tab: Any
    path: Path
    atlas: AggregateExplainer
    messages: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def check(self) -> None:
        assert not self.messages
        assert set(self.requests) == {self.path.as_uri()}
        assert self.tab.evaluate("window.hit === undefined")

    def shoot(self, name: str, **options: Any) -> None:
        SCREENSHOTS.mkdir(exist_ok=True)
        self.tab.screenshot(path=SCREENSHOTS / f"{name}.png", **options)


@pytest.fixture(scope="session")
def chromium():
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    try:
        playwright = importlib.import_module("playwright.sync_api")
    except ModuleNotFoundError:
        playwright = None
    if found is None or playwright is None:
        # In CI the page must be opened; elsewhere tests without a browser are skipped.
        end = pytest.fail if os.environ.get("OLEANDER_CI") else pytest.skip
        end("chromium and playwright are needed: apt-get install chromium; pip install playwright")
    # Chromium has no sandbox for root, and containers run as root.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with playwright.sync_playwright() as session:
        browser = session.chromium.launch(executable_path=found, args=arguments)
        yield browser
        browser.close()


def open_tab(
    chromium: Any, path: Path, atlas: AggregateExplainer, X: Any, browser: Any = None, **options: Any
) -> Opened:
    atlas.report(path, X, **{"title": f"A page of {HOSTILE}", "about": HOSTILE, **options})
    tab = chromium.new_page(**{"viewport": {"width": 1280, "height": 800}, **(browser or {})})
    opened = Opened(tab, path, atlas)
    tab.on("console", lambda message: opened.messages.append(message.text))
    tab.on("pageerror", lambda error: opened.messages.append(str(error)))
    tab.on("dialog", lambda dialog: opened.messages.append(dialog.message))
    tab.on("request", lambda request: opened.requests.append(request.url))
    tab.goto(path.as_uri())
    return opened


@pytest.fixture
def open_page(chromium, tmp_path):
    """Open the page of an explainer, for one test alone, and check it at the end."""
    opened = []

    def open_atlas(atlas: AggregateExplainer, X: Any = None, **options: Any) -> Opened:
        opened.append(open_tab(chromium, tmp_path / "report.html", atlas, X, **options))
        return opened[-1]

    yield open_atlas
    for page in opened:
        page.check()
        page.tab.close()


@pytest.fixture(scope="session")
def pages() -> dict[str, Opened]:
    return {}


@pytest.fixture
def shared_page(chromium, atlases, pages, tmp_path_factory):
    """Show the page of a kind of explainers, opened once, as it begins, and check it at the end of each test."""
    by, shown = {f"own {HOSTILE}": np.resize(["<b>x</b>", "'y'"], 500)}, []

    def show(kind: str) -> Opened:
        if kind not in pages:
            path = tmp_path_factory.mktemp("pages") / f"{kind}.html"
            pages[kind] = open_tab(chromium, path, atlases[kind], make_table(), by=by)
        tab = pages[kind].tab
        tab.set_viewport_size({"width": 1280, "height": 800})
        tab.emulate_media(media="screen", color_scheme="light")
        # The address keeps what another test has selected.
        tab.evaluate("history.replaceState(null, '', location.href.split('#')[0])")
        tab.reload()
        shown.append(pages[kind])
        return pages[kind]

    yield show
    for page in shown:
        page.check()
