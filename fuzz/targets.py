"""The fuzzing targets: every function that reads bytes of unknown origin.

A target takes bytes and returns whether they were accepted. A refusal must be one of the package's own errors, with its
reason in one line; any other error is a finding.
"""

import functools
import gzip
import io
import json
import re
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, suppress
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.rivals.lime_linear import LimeLinear
from exports import BREAKERS, compare_exports
from guard import Breach, check_message, watched_folder
from oleander import AggregateExplainer, Balls, Boxes, Floor
from oleander.cli.cells import clean_columns
from oleander.cli.options import CommandError
from oleander.cli.tables import read_how, read_table
from oleander.data.schema import FeatureSchema
from oleander.draws import Draws
from oleander.export.plain import ExportError
from oleander.files.saved import read_file

HOSTILE = (
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "<!--",
    "]]>",
    "{{data}}",
    "' onmouseover='x",
    "\u2028\u2029\x00\x1b[31m",
    "</title></style>",
    "\ud800",
)


@dataclass(frozen=True)
class Target:
    """One fuzzing target.

    Parameters
    ----------
    run : callable
        Takes bytes and returns whether they were accepted.
    seeds : callable
        Returns good inputs to start from.
    is_json : bool
        Whether inputs are JSON, which is changed value by value.
    """

    run: Callable[[bytes], bool]
    seeds: Callable[[], list[bytes]]
    is_json: bool = False


@contextmanager
def refusals(*allowed: type[Exception]) -> Iterator[list[Exception]]:
    """Collect an allowed error after its message is checked."""
    refused: list[Exception] = []
    try:
        # Notes to the user are not tested here.
        with warnings.catch_warnings(), redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield refused
    except allowed as error:
        check_message(error)
        refused.append(error)


# --- tables ---------------------------------------------------------------------------------------------------------


def run_table(data: bytes) -> bool:
    """Read bytes as a CSV file; the first byte decides its name and its options."""
    choice = data[0] if data else 0
    name = ("p.csv", "p.tsv", "p.txt")[choice % 3]
    separator = (None, None, ",", ";", "\t", "|", "::")[choice % 7]
    with watched_folder() as folder, refusals(CommandError, ValueError) as refused:
        (folder / name).write_bytes(data[1:])
        decimal = (None, ",", ".")[choice % 5 % 3]
        marks = {"separator": separator, "decimal": decimal}
        read = [f"{option}={mark}" for option, mark in marks.items() if mark is not None]
        use_table(read_table(folder / name, read_how([*read, "missing=n/k"] if choice % 2 else read)))
    return not refused


def use_table(table: pd.DataFrame) -> None:
    """Treat a table as the command line does, up to the black box."""
    table = clean_columns(table, may_drop=True)
    schema = FeatureSchema.infer(table)
    rows = schema.exact.encode(table)
    again = schema.exact.encode(schema.decode(rows))
    if not np.array_equal(rows, again, equal_nan=True):
        raise Breach("decoding and encoding change the rows")


def seed_tables() -> list[bytes]:
    """Return CSV files of several dialects."""
    return [
        b"\x02age,dose,sex,risk\n61,0.5,F,high\n58,,M,low\n70,2.5,F,low\n",
        b"\x01cost,day,when,share\n$1,2024-03-01,03/14/2024,5%\n\xe2\x82\xac2,n/k,04/01/2024,7%\n",
        "\x00Größe;Tag;Kosten\ngroß;1.3.2024;1.570,50 €\nklein;2.3.2024;0,5 €\n".encode("cp1252"),
        b"\x00age;dose;risk\n61;0,5;high\n58;;low\n",
        b'\x01name\tnote\n"a ""b""\tc"\t1e300\n\xc3\xa9\t-0\n',
        b"\x03\xff\xfea\x00,\x00b\x00\n\x001\x00,\x002\x00\n\x00",
        b"\x04a,b\nTrue,inf\nFalse,nan\n\n,NA\n",
        b"\x05a|b\n2020-01-01|1_000\n0x1F|1e999\n",
    ]


def run_parquet(data: bytes) -> bool:
    """Read bytes as a Parquet file."""
    with watched_folder() as folder, refusals(CommandError, ValueError) as refused:
        (folder / "p.parquet").write_bytes(data)
        use_table(read_table(folder / "p.parquet"))
    return not refused


def seed_parquet() -> list[bytes]:
    """Return Parquet files with every kind of column, allowed or not."""
    tables = [
        pd.DataFrame({"age": [61, 58, 70], "dose": [0.5, np.nan, 2.5], "sex": ["F", "M", None]}),
        pd.DataFrame({"a": pd.Categorical(["x", "y", "x"]), "b": pd.array([1, None, 3], dtype="Int64")}),
        pd.DataFrame({"when": pd.to_datetime(["2020-01-01", "2021-01-01"]), "list": [[1], [2, 3]]}),
        pd.DataFrame({"flag": [True, False], "raw": [b"\x00\xff", b"x"]}),
    ]
    found = []
    for table in tables:
        buffer = io.BytesIO()
        table.to_parquet(buffer)
        found.append(buffer.getvalue())
    return found


# --- the schema's JSON ----------------------------------------------------------------------------------------------


def run_schema(data: bytes) -> bool:
    """Read bytes as the JSON of a schema, write it again, and read rows with it."""
    content = _json(data)
    with watched_folder(), refusals(ValueError) as refused:
        schema = FeatureSchema.from_dict(content)
        again = FeatureSchema.from_dict(json.loads(json.dumps(schema.to_dict())))
        if again != schema:
            raise Breach("writing and reading change the schema")
        codes = np.array([[feature.lower if feature.is_number else 0.0 for feature in schema]] * 2)
        schema.encode(schema.decode(codes))
    return not refused


def seed_schemas() -> list[bytes]:
    """Return the schemas of a table with every kind of column, and of an array."""
    table = pd.DataFrame(
        {
            "weight": [70.5, 81.0, 66.2],
            "age": [61, 58, 70],
            "sex": ["F", "M", "F"],
            "smoker": [True, False, True],
            "dose": [0.5, np.nan, 2.0],
            "grade": pd.Categorical(["low", "high", "mid"], ["low", "mid", "high"], ordered=True),
            "visits": pd.array([1, None, 3], dtype="Int64"),
        }
    )
    schemas = [FeatureSchema.infer(table), FeatureSchema.infer(np.array([[0.5, 1], [1.5, 0], [2.5, 1]]))]
    return [json.dumps(schema.to_dict()).encode() for schema in schemas]


# --- saved explainers -----------------------------------------------------------------------------------------------


def run_saved_file(data: bytes) -> bool:
    """Load bytes as a saved explainer."""
    with watched_folder() as folder, refusals(ValueError) as refused:
        (folder / "atlas.oleander").write_bytes(data)
        use_atlas(folder)
    return not refused


def run_saved_content(data: bytes) -> bool:
    """Load bytes as the JSON of a saved explainer, as an attacker would write it."""
    with watched_folder() as folder, refusals(ValueError) as refused:
        (folder / "atlas.oleander").write_bytes(gzip.compress(data))
        use_atlas(folder)
    return not refused


def use_atlas(folder: Path) -> None:
    """Load, ask, describe, report and save an explainer."""
    atlas = AggregateExplainer.load(folder / "atlas.oleander")
    schema = atlas.schema_
    codes = np.array([[feature.upper if feature.is_number else 0.0 for feature in schema]] * 3)
    rows = schema.decode(codes)
    atlas.predict(rows)
    str(atlas.explain(rows[:1]))
    atlas.summary()
    atlas.report(folder / "page.html")
    atlas.save(folder / "again.oleander", include_rows=True)
    # Numbers of any size are in such a file, and databases refuse some where they overflow.
    with suppress(ExportError), np.errstate(all="ignore"):
        compare_exports(atlas, with_sql=False)


def _label(X: Any) -> Any:
    values = np.asarray(X["weight"], dtype=float)
    return np.where(values > 72, "heavy", np.where(X["sex"] == "F", "light F", "light M"))


@functools.cache
def seed_contents() -> list[bytes]:
    """Return the JSON of explainers of several kinds."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "weight": rng.normal(70, 12, 200),
            "sex": rng.choice(["F", "M"], 200),
            "dose": np.where(rng.random(200) < 0.2, np.nan, rng.uniform(0, 5, 200)),
        }
    )
    generators: list[Any] = [
        Balls(n_draws=200, max_candidates=20),
        Balls(n_draws=200, max_candidates=20, local=LimeLinear()),
        Boxes(),
    ]
    options = {"max_explainers": 2, "min_fidelity": 0.6, "floor": Floor(on="share")}
    found = []
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for generator in generators:
            draws = Draws(600) if isinstance(generator, Boxes) else Draws()
            atlas = AggregateExplainer(_label, candidates=generator, draws=draws, random_state=0, **options).fit(X)
            atlas.tradeoff(max_explainers=[2], min_fidelity=[0.6])
            atlas.save(Path(folder) / "x", include_rows=True)
            found.append(json.dumps(read_file(Path(folder) / "x")).encode())
    return found


def seed_files() -> list[bytes]:
    """Return whole files."""
    return [gzip.compress(content) for content in seed_contents()]


# --- the page's names -----------------------------------------------------------------------------------------------


class _Tags(HTMLParser):
    """The elements of a page, the names of their attributes, and the page's JSON."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[Any] = []
        self.data = ""
        self._is_data = False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, [name for name, _ in attrs]))
        self._is_data = ("id", "data") in attrs

    def handle_endtag(self, tag: str) -> None:
        self.found.append(tag)
        self._is_data = False

    def handle_comment(self, data: str) -> None:
        self.found.append("comment")

    def handle_data(self, data: str) -> None:
        self.data += data if self._is_data else ""


def run_page(data: bytes) -> bool:
    """Read bytes as JSON of names for columns, levels, labels and the title; the page's elements must stay the same."""
    words = [str(word) for word in _strings(_json(data))] or [""]
    content = json.loads(seed_contents()[len(data) % len(seed_contents())])
    renamed = _rename(content, words)
    with watched_folder() as folder, refusals(ValueError) as refused:
        pages = []
        for number, one in enumerate((content, renamed)):
            (folder / "atlas.oleander").write_bytes(gzip.compress(json.dumps(one).encode()))
            title, about = (words[0], words[-1]) if number else ("title", "about")
            atlas = AggregateExplainer.load(folder / "atlas.oleander")
            atlas.report(folder / "page.html", title=title, about=about)
            pages.append(_Tags((folder / "page.html").read_text(encoding="utf-8")))
        if pages[0].found != pages[1].found:
            raise Breach(f"names changed the page's elements: {words!r}")
        if [column["name"] for column in json.loads(pages[1].data)["columns"]] != [one.shown for one in atlas.schema_]:
            raise Breach(f"names are changed in the page: {words!r}")
    return not refused


def _rename(content: dict[str, Any], words: list[str]) -> dict[str, Any]:
    def at(number: int) -> str:
        # A number makes names differ where there are too few words.
        return f"{words[number % len(words)]}{'' if number < len(words) else number}"

    renamed = json.loads(json.dumps(content))
    schema = renamed["schema"]
    for number, feature in enumerate(schema["features"]):
        feature["name"] = schema["columns"][number] = at(number)
        feature["levels"] = [at(10 + level) for level in range(len(feature["levels"]))]
    labels = {"heavy": at(20), "light F": at(21), "light M": at(22)}

    def walk(value: Any) -> Any:
        if isinstance(value, dict):
            if set(value) == {"dtype", "values"}:
                return {"dtype": "object", "values": [labels.get(label, label) for label in value["values"]]}
            return {key: walk(one) for key, one in value.items()}
        return [walk(one) for one in value] if isinstance(value, list) else value

    return {**{key: walk(value) for key, value in renamed.items() if key != "schema"}, "schema": schema}


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, one in value.items():
            yield key
            yield from _strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from _strings(one)
    else:
        yield value if isinstance(value, str) else str(value)


def seed_names() -> list[bytes]:
    """Return names that are known to break pages."""
    return [json.dumps(list(HOSTILE)).encode(), json.dumps([HOSTILE[0], "age"]).encode(), b'["age", "sex", "dose"]']


# --- names in exports ------------------------------------------------------------------------------------------------


def run_exports(data: bytes) -> bool:
    """Read bytes as JSON of names for columns, levels and labels; exports must answer as ``predict`` does.

    Databases refuse empty names, a character 0 and half pairs of surrogates by themselves.
    """
    words = [word for word in _strings(_json(data)) if word and not re.search("[\0\ud800-\udfff]", word)] or ["a"]
    content = json.loads(seed_contents()[len(data) % len(seed_contents())])
    with watched_folder() as folder, refusals(ValueError) as refused:
        (folder / "atlas.oleander").write_bytes(gzip.compress(json.dumps(_rename(content, words)).encode()))
        compare_exports(AggregateExplainer.load(folder / "atlas.oleander"), with_sql=True)
    return not refused


def seed_breakers() -> list[bytes]:
    """Return names that are known to break out of quotations and comments."""
    return [json.dumps(list(BREAKERS)).encode(), json.dumps([BREAKERS[0], "age"]).encode(), *seed_names()]


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None


TARGETS = {
    "table": Target(run_table, seed_tables),
    "parquet": Target(run_parquet, seed_parquet),
    "schema": Target(run_schema, seed_schemas, is_json=True),
    "saved-file": Target(run_saved_file, seed_files),
    "saved-content": Target(run_saved_content, seed_contents, is_json=True),
    "page": Target(run_page, seed_names, is_json=True),
    "exports": Target(run_exports, seed_breakers, is_json=True),
}
