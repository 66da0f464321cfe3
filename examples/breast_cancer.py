"""The main job: explain a forest with a handful of rules, and show how good that handful is."""

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from oleander import AggregateExplainer, Balls, Program


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = y.map({0: "malignant", 1: "benign"})
    # One part trains the black box, a second that is new to it is explained, and a third measures the explanation.
    X_train, X_rest, y_train, y_rest = train_test_split(X, y, test_size=0.6, random_state=0)
    X_explain, X_new, y_explain, _ = train_test_split(X_rest, y_rest, test_size=0.3, random_state=0)
    black_box = RandomForestClassifier(50, random_state=0).fit(X_train, y_train)

    atlas = AggregateExplainer(black_box, max_explainers=5, random_state=0)
    atlas.fit(X_explain, y_explain, background=X_train)
    print(
        f"Explaining {black_box} on {len(X_explain)} rows that are new to it; {atlas.n_queries_:,} rows were asked.\n"
    )
    print(atlas.summary())
    print(f"\nOn {len(X_new)} other rows: {atlas.evaluate(X_new)}.")
    print(atlas.uncovered(X_new))
    print("\nOne of these rows:")
    print(atlas.explain(X_new.iloc[0]))
    table = atlas.tradeoff(max_explainers=[1, 2, 5], min_fidelity=[0.8, 0.9, 0.95]).table
    print("\nShare of rows answered for each number of explainers (down) and each floor (across):")
    print(table.pivot(index="max_explainers", columns="min_fidelity", values="coverage").round(3).to_string())

    balls = AggregateExplainer(
        black_box, candidates=Balls(n_draws=500), program=Program(time_limit=10), max_explainers=5, random_state=0
    )
    balls.fit(X_explain, y_explain)
    most = balls.coverage_ * (1 + balls.proof_.gap)
    print(
        "\nThe paper's candidates instead, local trees in balls chosen by an integer program: "
        f"{len(balls.explainers_)} cover {balls.coverage_:.1%} of the rows; no choice covers more than {most:.1%}. "
        f"{balls.n_queries_:,} rows were asked.\nOn the other rows: {balls.evaluate(X_new)}."
    )


if __name__ == "__main__":
    main()
