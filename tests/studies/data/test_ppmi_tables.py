import pandas as pd
import pytest

from studies.data.ppmi_tables import TABLES, read_tables

NAME = "MDS_UPDRS_Part_II__Patient_Questionnaire"


def test_the_newest_download_counts(export):
    (file,) = export.rglob(f"{NAME}_01*.csv")
    table = pd.read_csv(file)
    table.assign(NP2PTOT=1).to_csv(export / f"{NAME}_02Feb2023.csv", index=False)
    assert read_tables(export)["updrs2"]["NP2PTOT"].tolist() == [5, 7, 0, 1]
    table.assign(NP2PTOT=2).to_csv(export / "mds-updrs part ii patient questionnaire_02Feb2025.csv", index=False)
    assert read_tables(export)["updrs2"]["NP2PTOT"].tolist() == [2, 2, 2, 2]


@pytest.mark.parametrize("key", TABLES)
def test_a_missing_file_is_named(export, key):
    name = TABLES[key].names[0]
    (file,) = export.rglob(f"{name}_01*.csv")
    file.unlink()
    with pytest.raises(ValueError, match=rf"lacks 1 of the 14 tables.*\n- .*: no file {name}\.csv"):
        read_tables(export)


@pytest.mark.parametrize(("key", "column"), [(key, table.columns[-1]) for key, table in TABLES.items()])
def test_a_missing_column_is_named(export, key, column):
    (file,) = export.rglob(f"{TABLES[key].names[0]}_01*.csv")
    lost = [column, *TABLES[key].older[-1:]]
    pd.read_csv(file).drop(columns=lost, errors="ignore").to_csv(file, index=False)
    with pytest.raises(ValueError, match=rf"- {TABLES[key].about}: {file.name} has no column .*{column}"):
        read_tables(export)


def test_all_problems_are_named_at_once(export, tmp_path):
    for file in export.rglob("*UPDRS_Part*.csv"):
        file.unlink()
    with pytest.raises(ValueError, match=r"(?s)lacks 2 of the 14 tables.*Part_II__.*Part_III\.csv"):
        read_tables(export)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        read_tables(tmp_path / "nowhere")
