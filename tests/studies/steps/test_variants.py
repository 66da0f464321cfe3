from studies.steps import variants
from studies.steps.paper_program import bounds_of, train_pool


def test_every_kind_has_its_own_draws_and_filter(small_work, explained):
    for kind in variants.KINDS:
        pool = train_pool(small_work, explained, kind)
        recipe = pool.candidates[0].recipe
        assert recipe.bounds == bounds_of(kind)
        assert (recipe.local.alpha is None) == kind.startswith("letter")
