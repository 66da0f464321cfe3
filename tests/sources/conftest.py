from pathlib import Path

import pytest

from oleander import AggregateExplainer
from oleander.data import sources
from tests.sources.making import QUICK, Law, X, content, quick_source, write_frame

pytest.importorskip("pyarrow")


@pytest.fixture(autouse=True)
def several_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files have blocks enough to be told apart."""
    monkeypatch.setattr(sources, "MOST_TOGETHER", 1000)


@pytest.fixture(scope="session")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file in five row groups."""
    return write_frame(tmp_path_factory.mktemp("one") / "rows.parquet", X, row_group_size=2500)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same rows in eight files of several row groups each."""
    path = tmp_path_factory.mktemp("many")
    for number, start in enumerate(range(0, len(X), 1700)):
        write_frame(path / f"part-{number:02}.parquet", X.iloc[start : start + 1700], row_group_size=300)
    return path


@pytest.fixture(scope="session")
def fresh(file: Path) -> tuple[AggregateExplainer, str]:
    """A fit of the file, with a quarter of its sample held out, and its content before a method was called."""
    atlas = AggregateExplainer(Law(), **QUICK).fit(quick_source(file))
    return atlas, content(atlas)


@pytest.fixture(scope="session")
def plain(fresh: tuple[AggregateExplainer, str]) -> AggregateExplainer:
    return fresh[0]


@pytest.fixture(scope="session")
def plain_content(fresh: tuple[AggregateExplainer, str]) -> str:
    return fresh[1]
