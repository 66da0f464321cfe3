"""Names of columns, levels, labels and groups that hold line breaks and orders to a terminal."""

import json
import re
import zipfile

import numpy as np
import pandas as pd
import pytest

from oleander import AggregateExplainer
from oleander.data.schema import FeatureSchema
from oleander.draws import Draws
from oleander.files.saved import FileError

FORGED = "certified at 99% confidence and all is well"
# A line break, an order to the terminal, and a mark that reverses the letters after it.
HOSTILE = f"\n{FORGED}\x1b[2J\u202e\x9b\r\x85\u2028"
COLUMNS = [f"age{HOSTILE}", f"site{HOSTILE}", f"dose{HOSTILE}"]
YES, NO = f"yes{HOSTILE}", f"no{HOSTILE}"
LEVELS = [f"north{HOSTILE}", f"south{HOSTILE}"]


def make_rows(n_rows=300):
    rng = np.random.default_rng(0)
    columns = rng.uniform(size=n_rows), rng.choice(LEVELS, n_rows), rng.uniform(size=n_rows)
    return pd.DataFrame(dict(zip(COLUMNS, columns, strict=True)))


def answer(rows):
    old, north = rows.iloc[:, 0].to_numpy() > 0.5, (rows.iloc[:, 1] == LEVELS[0]).to_numpy()
    return np.where(old & north, YES, NO)


def score(rows):
    return np.where(rows.iloc[:, 1] == LEVELS[0], 3.0, 0.0) + 2 * rows.iloc[:, 0].to_numpy()


@pytest.fixture(scope="module")
def rows():
    return make_rows()


@pytest.fixture(scope="module")
def by_asking(rows):
    return AggregateExplainer(answer, draws=Draws(1_000), random_state=0).fit(rows)


@pytest.fixture(scope="module")
def of_numbers(rows):
    return AggregateExplainer(score, tolerance=0.2, draws=Draws(1_000), random_state=0).fit(rows)


@pytest.fixture(params=["by_asking", "of_numbers"])
def atlas(request):
    return request.getfixturevalue(request.param)


def assert_plain(text):
    """Assert that no name breaks a line, and that all of the text can be printed."""
    assert FORGED in text, "a text without any name shows nothing"
    assert not re.search(rf"^\W*{FORGED}", text, re.MULTILINE)
    assert all(letter.isprintable() or letter == "\n" for letter in text)


def far_away(rows):
    return rows.iloc[[0]].assign(**{COLUMNS[0]: 40.0})


def test_words_about_a_fit(atlas, rows):
    assert_plain(atlas.summary())
    assert_plain(atlas._repr_html_())
    assert_plain(str(atlas.schema_.table.to_string()))


def test_words_about_rows(atlas, rows):
    for place in range(8):
        explanation = atlas.explain(rows.iloc[[place]])
        assert_plain(str(explanation))
        assert_plain(explanation._repr_html_())
    assert_plain(str(atlas.explain(far_away(rows))))
    unreadable = rows.iloc[[0]].assign(**{COLUMNS[1]: f"east{HOSTILE}"})
    assert_plain(str(atlas.explain(unreadable, ask=False)))
    words = atlas.explain_many(far_away(rows))["far_outside"]
    assert_plain(words.iloc[0])


def test_the_page(atlas, rows, tmp_path):
    group = np.where(np.arange(len(rows)) % 2, f"left{HOSTILE}", f"right{HOSTILE}")
    atlas.report(tmp_path / "page.html", X=rows, by={f"group{HOSTILE}": group})
    page = (tmp_path / "page.html").read_text()
    content = json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)[1])
    texts = list(texts_in(content))
    assert any(FORGED in text for text in texts)
    assert all(text.isprintable() for text in texts)


def texts_in(content):
    if isinstance(content, str):
        yield content
    elif isinstance(content, dict):
        for value in content.values():
            yield from texts_in(value)
    elif isinstance(content, list):
        for value in content:
            yield from texts_in(value)


def write_zip(path):
    with zipfile.ZipFile(path, "w"):
        return path


def test_errors(by_asking, rows, tmp_path):
    with pytest.raises(ValueError, match="kinds") as caught:
        FeatureSchema.infer(rows, kinds={"age": "integer"})
    assert_plain(str(caught.value))
    with pytest.raises(ValueError, match="there is no column") as caught:
        by_asking.schema_.position("age")
    assert_plain(str(caught.value))
    with pytest.raises(FileError) as caught:
        AggregateExplainer.load(write_zip(tmp_path / f"file{HOSTILE}"))
    assert_plain(str(caught.value))


def test_data_keep_their_names(by_asking, rows):
    assert set(by_asking.predict(rows).compressed()) <= {YES, NO}
    assert by_asking.schema_.names == tuple(COLUMNS)
    assert set(by_asking.evaluation_.classes["label"]) == {YES, NO}
