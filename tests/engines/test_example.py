import pytest

from examples.engines import ENGINES, main


# Dask and ibis lag behind pandas.
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "engine", [pytest.param(name, marks=pytest.mark.slow if name in ("postgres", "spark") else ()) for name in ENGINES]
)
def test_the_example_says_the_same_of_every_engine(engine, request, monkeypatch, capsys):
    if engine == "spark":
        request.getfixturevalue("spark")
    if engine == "postgres":
        host = request.getfixturevalue("postgres")
        monkeypatch.setenv("WAREHOUSE", f"postgres://oleander@/postgres?host={host}")
    main(engine)
    said = capsys.readouterr().out.partition(": ")
    assert said[0] == engine
    assert said[2] == "20,000 of 20,000 answers match, certified at least 0.9998\n"
