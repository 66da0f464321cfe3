from studies.settings import Settings
from studies.step import Work
from studies.steps.explained_rows import HELD_OUT, LEARNED, make_explained_rows
from studies.tasks import make_tasks


def test_held_out_rows_are_not_learned_from(few_people):
    work = Work("ppmi", few_people, Settings())
    work.facts["black_boxes"] = {"binary": {"forest": {"chosen": {"n_estimators": 3}}}}
    task = make_tasks(work)["binary"]
    found = make_explained_rows(work, task)
    learned, held = (set(found.tables[name].index) for name in (LEARNED, HELD_OUT))
    assert not learned & held
    assert len(learned) == len(task.parts["train"]) + len(task.parts["validation"])
    assert (found.labels[HELD_OUT] == found.model.predict(found.tables[HELD_OUT])).all()
