from studies.steps import variants
from studies.steps.paper_program import bounds_of, train_pool


def test_every_kind_has_its_own_draws_and_filter(small_work, explained):
    for kind in variants.KINDS:
        pool = train_pool(small_work, explained, kind)
        recipe = pool.candidates[0].recipe
        assert recipe.bounds == bounds_of(kind)
        assert (recipe.local.alpha is None) == kind.startswith("letter")


def test_a_line_for_each_budget(small_work, explained):
    table = variants._solve(small_work, explained, "ours, clipped")
    assert (table["budget"].tolist(), table["draws"].tolist()) == ([4, 4], ["clipped"] * 2)
