"""From a black box and a row to one local explainer: draws in a ball, the information filter, a small tree."""

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from oleander.generators import Balls
from oleander.local import FilteredTree
from oleander.pool import CandidatePool


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    names = {0: "malignant", 1: "benign"}
    X_train, X_test, y_train, _ = train_test_split(X, y.map(names), random_state=0)
    black_box = RandomForestClassifier(50, random_state=0).fit(X_train, y_train)

    # One candidate explainer per row that is new to the black box; none is trained yet.
    pool = CandidatePool.build(X_test, black_box, Balls(radius=2.0, local=FilteredTree(max_leaves=6)), random_state=0)
    widest = int(pool.support.argmax())
    pool.train([widest])
    explainer = pool.explainers[widest]

    ball, kept = pool.candidates[widest].region, explainer.filter_
    print(f"The black box: {black_box}")
    print(f"The region: {ball.describe()}; it holds {pool.support[widest]} of {len(X_test)} rows.")
    print(f"The filter kept {len(kept.features)} of {X.shape[1]} features; it stopped since {kept.stopped}:")
    for feature, added in zip(kept.features, kept.information, strict=True):
        print(f"  {X.columns[feature]:<24} {added:.3f} nats")
    print(f"The tree has {explainer.complexity} leaves:")
    for rule in explainer.rules():
        print(f"  {rule}")
    print(f"It says what the black box says on {pool.draw_fidelity[widest]:.1%} of its draws", end=" ")
    print(f"and on {pool.fidelity[widest]:.1%} of the rows in its region.")
    row = pool.rows.values[pool.points_of(widest)[0]]
    print(f"One row of the region: {explainer.path(row)}")
    print(f"Rows that the black box was asked about: {pool.n_queries:,}")


if __name__ == "__main__":
    main()
