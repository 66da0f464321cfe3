import numpy as np

from oleander.candidates.grid import Grid, Memberships, mask_table, read_tables
from oleander.candidates.nodes import lay_nodes
from oleander.kernels import unpack
from oleander.rules.growth import grow_tree


def test_codes_boxes_and_conditions_agree(mixed_schema, mixed):
    """A box on the grid, its conditions and the node of the tree contain the same rows, new ones too."""
    rows = mixed_schema.encode(mixed)
    new = mixed_schema.encode(mixed.sample(frac=1.0, random_state=1))
    labels = np.random.default_rng(0).integers(3, size=len(rows))
    grid = Grid.learn(rows, mixed_schema)
    features = tuple(range(len(mixed_schema)))
    tree = grow_tree(rows, labels, np.arange(3), mixed_schema, features, 30, simplify=False)
    members = Memberships(grid, grid.codes)
    keys, laid = lay_nodes(tree, members)
    others = Memberships.lay(grid, new, set(keys))
    for node, key in enumerate(keys):
        box = grid.to_box(key)
        inside = unpack(members.of_box(key), len(rows))
        assert (unpack(laid[node], len(rows)) == inside).all()
        assert inside.sum() == tree.n_draws[node]
        assert (inside == box.contains(rows)).all()
        assert (unpack(others.of_box(key), len(new)) == box.contains(new)).all()


def test_masks_and_tables_are_the_same():
    for n_codes in (0, 1, 7, 8, 64, 100):
        mask = (1 << n_codes) | 5 if n_codes > 2 else 1
        table = mask_table(mask, n_codes)
        assert table.tolist() == [bool(mask >> code & 1) for code in range(n_codes + 1)]
        assert read_tables(table[None]) == [mask]
