from studies.drawing import SYNTHETIC, Pen, to_png


def test_the_same_figure_gives_the_same_picture():
    pictures = []
    for _ in range(2):
        figure, axes = Pen(is_synthetic=True).sheet("A title")
        axes[0, 0].plot([0, 1], [0, 1])
        pictures.append(to_png(figure))
    assert pictures[0] == pictures[1]
    assert pictures[0].startswith(b"\x89PNG")
    assert SYNTHETIC in figure.get_suptitle()
