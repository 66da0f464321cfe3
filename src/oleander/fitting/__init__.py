"""From rows to explainers: propose candidates, choose by a program, judge.

Rules are learned on draws (``rules_on_draws``), and the paper's balls are chosen from a pool (``choice_from_pool``).
Both keep an ``engine``, which answers further questions.
"""
