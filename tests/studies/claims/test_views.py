from studies.claims import views


def test_figures_on_the_data_are_by_the_definition(make_facts):
    facts = make_facts({"anchors": ((0.0, 0.4), (None, 0.9))})
    assert views.figures(facts, "by_trial", "strict 0.9") == "50.0% of D at 96.0%, held out 50.0% at 96.0%"
    # A tree is one explainer of all rows.
    assert views.figures(facts, "by_trial", "naive tree") == "100.0% of D at 100.0%, held out 100.0% at 70.0%"
    assert views.figures(facts, "by_trial", "anchors", 0) == "0.0% of D at undefined, held out 0.0% at undefined"
