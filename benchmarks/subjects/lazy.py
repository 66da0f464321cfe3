"""What lazy training saves, and what it costs where the floor is so high that most candidates fail."""

import time
import warnings

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier

from oleander.candidates import Balls
from oleander.candidates.choosing import Floor, PoolSelection
from oleander.candidates.pool import CandidatePool

CASES = [
    ("one radius, floor 0.9", 1.5, 0.9),
    ("ladder of four, floor 0.9", (1.0, 1.5, 2.0, 3.0), 0.9),
    ("ladder of four, floor 0.99", (1.0, 1.5, 2.0, 3.0), 0.99),
]


def main() -> None:
    warnings.simplefilter("ignore")
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    forest = RandomForestClassifier(50, random_state=0).fit(X, y)
    print("| breast cancer, K = 10, raw share | rows asked, lazy | eager | share | seconds, lazy ÷ eager |")
    print("|---|---|---|---|---|")
    for name, radius, floor in CASES:
        seconds, asked, results = [], [], []
        for training in ("lazy", "eager"):
            start = time.perf_counter()
            balls = Balls(radius, max_candidates=None, n_draws=1000)
            pool = CandidatePool.build(X, forest, balls, random_state=0)
            selection = PoolSelection(pool, Floor("share"), training=training, time_limit=20)
            results.append(selection.select(10, floor))
            seconds.append(time.perf_counter() - start)
            asked.append(pool.n_queries)
        assert all(result.status != "optimal" for result in results) or len({r.objective for r in results}) == 1
        share, ratio = asked[0] / asked[1], seconds[0] / seconds[1]
        print(f"| {name} | {asked[0]:,} | {asked[1]:,} | {share:.1%} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
