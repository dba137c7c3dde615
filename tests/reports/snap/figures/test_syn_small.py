"""Figures 4 and 5: every colour is attention found another way, where the figure says."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from marginaudit.orders.snap import syn_small
from marginaudit.reports.snap.figures.syn_small import snap_4, snap_5
from marginaudit.training.snap.sgd import Recipe, train_sampled


def attention(recipe: Recipe, rates: tuple[float, float], n: int) -> Any:
    """c_n(l), tokens 0 to 29, before and after each update."""
    data = syn_small()
    Z = train_sampled(data, recipe, [rates], 0).Z[0, :, 0]
    found = np.zeros((len(Z), 30))
    for token, p in data.classes[n].probabilities.items():
        found[:, int(token)] = p * np.exp(Z[:, data.contextual.index(token)])
    return found / found.sum(axis=1, keepdims=True)


def maps(figure: Figure) -> list[Any]:
    """The images of a figure, in the order of its axes."""
    return [axis.images[0] for axis in figure.axes if axis.images]


def test_sgd() -> None:
    figure = snap_4()
    recipe = Recipe(updates=200, batch=128, length=127, optimizer="momentum", momentum=0.9, start="zero")
    shown = maps(figure)
    cells = [(n, rates) for n in range(2) for rates in ((1.0, 1.0), (10.0, 1.0))]
    for image, (n, rates) in zip(shown, cells, strict=True):
        np.testing.assert_allclose(image.get_array(), attention(recipe, rates, n), rtol=0, atol=1e-12)
        assert image.get_extent() == [-0.5, 29.5, 200.5, -0.5]
        assert image.get_clim() == shown[0].get_clim()
    titles = [axis.get_title(loc="left") for axis in figure.axes[:2]]
    assert titles == ["η_Y = 1, η_Z = 1", "η_Y = 10, η_Z = 1"]
    assert [figure.axes[i].get_ylabel() for i in (0, 2)] == ["class 1: update", "class 2: update"]
    assert "K = 2, M = 30, momentum .9, batch 128, seed 0" in figure.get_suptitle()


def test_adam() -> None:
    figure = snap_5()
    recipe = Recipe(updates=200, batch=128, length=127, optimizer="adam", start="zero")
    for image, eta in zip(maps(figure), (0.1, 0.5, 1.0), strict=True):
        np.testing.assert_allclose(image.get_array(), attention(recipe, (eta, eta), 0)[:, 10:20], rtol=0, atol=1e-12)
        assert image.get_extent() == [9.5, 19.5, 200.5, -0.5]
    titles = [axis.get_title(loc="left") for axis in figure.axes[:3]]
    assert titles == [f"η_Y = η_Z = {eta}" for eta in ("0.1", "0.5", "1")]
