"""Expressions of a map: values, rounding, and what is refused."""

import numpy as np
import pytest

from marginaudit.orders import InputError
from marginaudit.orders.arrays import Floats
from marginaudit.training.weight_files.expressions import parse
from marginaudit.training.weight_files.operations import Gradient, Value

RNG = np.random.default_rng(0)
TENSORS = {
    "k.weight": RNG.normal(size=(6, 4)),
    "q.weight": RNG.normal(size=(6, 4)),
    "q.bias": RNG.normal(size=6),
    "W": RNG.normal(size=(3, 4, 4)),
    "blocks.0.attn/W-K": RNG.normal(size=(4, 4)),
    "0.weight": RNG.normal(size=(4, 4)),
    "scale": np.array(0.25),
}
K, Q, BIAS, W, ODD, FIRST = (TENSORS[name] for name in list(TENSORS)[:6])
U = 2.0**-24


def leaf(name: str) -> Value:
    if name not in TENSORS:
        raise InputError("file", got=name, expected="a tensor")
    return Value(TENSORS[name], U * np.abs(TENSORS[name]))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k.weight.T @ q.weight", K.T @ Q),
        ("k.weight.T @ q.weight / sqrt(64)", K.T @ Q / 8),
        ("k.weight[0:3].T @ q.weight[0:3] + k.weight[3:6].T @ q.weight[3:].T.T", K.T @ Q),
        ("-W[2, :, :]", -W[2]),
        ("W[1].T - 2 * W[0] * 1e-1", W[1].T - 0.2 * W[0]),
        ("W[0:3].T[1] @ W.T[1].T", W.T[1] @ W.T[1].T),
        ("W[0].T.T + W[1].T.T[0:4]", W[0] + W[1]),
        ('"blocks.0.attn/W-K".T', ODD.T),
        ("0.weight @ (0.weight + 0.weight.T)", FIRST @ (FIRST + FIRST.T)),
        ("k.weight.T @ (q.weight + q.bias[:, None])", K.T @ (Q + BIAS[:, None])),
        ("0.weight / scale", FIRST * 4),
        ("0.weight * sqrt(2 + 2) / (3 - 1)", FIRST),
        ("k.weight.T @ q.weight @ 0.weight", K.T @ Q @ FIRST),
    ],
)
def test_values(text: str, expected: Floats) -> None:
    np.testing.assert_allclose(parse("--map", text).evaluate(leaf).value, expected, rtol=1e-14, atol=1e-15)


def test_the_bound_of_a_product_and_of_the_way_back() -> None:
    """2 +- 0.1 times 3 +- 0.2, and 1 +- 0.01 back: to first order, as float64's own rounding is small."""
    errors = {"a": (2.0, 0.1), "b": (3.0, 0.2)}
    found: dict[str, Gradient] = {}

    def of(name: str) -> Value:
        value, error = (np.full((1, 1), one) for one in errors[name])
        return Value(value, error, lambda gradient: found.update({name: gradient}))

    product = parse("--map", "a @ b").evaluate(of)
    assert float(product.rounding[0, 0]) == pytest.approx(2 * 0.2 + 0.1 * 3.2)
    product.back(Gradient(np.ones((1, 1)), np.full((1, 1), 0.01), U))
    assert float(found["a"].rounding[0, 0]) == pytest.approx(0.01 * 3 + 0.2, rel=1e-5, abs=0)
    assert float(found["b"].rounding[0, 0]) == pytest.approx(0.01 * 2 + 0.1, rel=1e-5, abs=0)


@pytest.mark.parametrize(("value", "error"), [(4.0, 0.1), (0.25, 0.2), (0.0, 0.0625)])
def test_the_bound_of_a_root_and_of_the_way_back(value: float, error: float) -> None:
    """It covers the roots of all numbers within the error, and their slopes; beside 0 the slope has no bound."""
    passed: list[Gradient] = []
    expression = parse("--map", "sqrt(a)").evaluate
    found = expression(lambda _: Value(np.array(value), np.array(error), passed.append))
    roots = np.sqrt([max(value - error, 0), value + error])
    assert (np.abs(roots - found.value) <= found.rounding).all()
    assert found.rounding <= 2 * np.abs(roots - found.value).max()
    with np.errstate(all="ignore"):
        found.back(Gradient(np.array(1.0), np.array(0.0), U))
        slopes = 1 / (2 * roots)
    (back,) = passed
    assert not np.isfinite(back.rounding) or (np.abs(slopes - back.value) <= back.rounding).all()
    assert np.isfinite(back.rounding) == (value > error)


@pytest.mark.parametrize(
    "text",
    [
        "k.weight.T @ q.weight / sqrt(64)",
        "k.weight[0:3].T @ (q.weight + q.bias[:, None])[3:6] - 0.5 * W[1].T @ W[0]",
        "0.weight * scale @ 0.weight / scale",
        "W[0] / scale + scale",
        "W[0] * sqrt(3 * scale) / sqrt(scale + 1)",
    ],
)
def test_the_way_back_is_the_gradient(text: str) -> None:
    """Of the sum of the entries times fixed numbers, against differences."""
    parsed = parse("--map", text)
    parts = {key: parsed.part(leaf, key).value for key in parsed.parts}
    upstream = np.random.default_rng(1).normal(size=(4, 4))

    def loss(values: dict[str, Floats]) -> float:
        zero = np.zeros(())
        return float((upstream * parsed.of_parts(lambda key: Value(values[key], zero * values[key])).value).sum())

    found = {key: np.zeros_like(value) for key, value in parts.items()}

    def kept(key: str) -> Value:
        def back(of: Gradient) -> None:
            found[key] += of.value
            assert (of.rounding >= 0).all()

        return Value(parts[key], np.zeros_like(parts[key]), back)

    parsed.of_parts(kept).back(Gradient(upstream, np.zeros((4, 4)), U))
    for key, value in parts.items():
        for place in np.ndindex(value.shape):
            sides = []
            for step in (1e-6, -1e-6):
                moved = value.copy()
                moved[place] += step
                sides.append(loss(parts | {key: moved}))
            assert found[key][place] == pytest.approx((sides[0] - sides[1]) / 2e-6, rel=1e-6, abs=1e-8)


def test_parts_are_as_written() -> None:
    parsed = parse("--map", "k.weight[0:3].T @ q.weight [3:6] [0:1, :] + k.weight.T")
    assert [*parsed.parts] == ["k.weight[0:3]", "q.weight[3:6] [0:1, :]", "k.weight"]
    assert not parsed.plain
    assert parse("--map", "k.weight[0:4].T").plain


def test_names_are_those_of_the_tensors() -> None:
    parsed = parse("--map", 'q.weight.T @ k.weight + 2 * "blocks.0.attn/W-K" + q.weight.T @ k.weight * sqrt(4)')
    assert parsed.names == ("q.weight", "k.weight", "blocks.0.attn/W-K")


@pytest.mark.parametrize(
    "text", ["k.weight.T @ q.weight / 3", "W[0] + W[1] @ W[2]", "0.weight / scale", "W[0] * scale", "-W[0] @ W[1].T"]
)
def test_the_bound_covers_tensors_that_were_rounded(text: str) -> None:
    """Values of float32 tensors, against those of the float64 ones before; the bound is at most 40 times too large."""
    single = {name: one.astype(np.float32).astype(np.float64) for name, one in TENSORS.items()}
    expression = parse("--map", text).evaluate
    exact = expression(leaf).value
    found = expression(lambda name: Value(single[name], U * np.abs(single[name])))
    apart = np.abs(found.value - exact)
    assert (apart <= found.rounding).all()
    assert apart.max() > found.rounding.max() / 40


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "got the end in '', expected a tensor's name"),
        ("k.weight.T @", "got the end in 'k.weight.T @', expected a tensor's name"),
        ("(k.weight", r"expected '\)'"),
        ("k.weight q.weight", "got 'q.weight' in 'k.weight q.weight', expected an operator or the end"),
        ("__import__('os').system('true')", r"got '\(' in"),
        ("k.weight[0:3", "expected ']'"),
        ("k.weight[]", "expected an index, a slice such as 0:8, or None"),
        ("k.weight[-1]", "expected an index, a slice"),
        ("k.weight[0:7]", "got a slice to 7 of 6x4, expected one inside its 6"),
        ("k.weight[4:4]", "got a slice to 4 of 6x4"),
        ("W[3]", "got a slice to 4 of 3x4x4, expected one inside its 3"),
        ("q.bias[0, 0]", "got a slice to 1 of 6, expected one inside its 0"),
        ("k.weight @ q.weight", "got a product of 6x4 and 6x4, expected matrices of equal inner size"),
        ("k.weight * q.weight", r"got \* of 6x4 and 6x4, expected a number on one side, or @"),
        ("k.weight + q.weight.T", "got a sum of 6x4 and 4x6, expected equal shapes"),
        ("k.weight / q.weight", "got a division by 6x4, expected a number other than 0"),
        ("k.weight / 0", "got a division by 0"),
        ("sqrt(k.weight)", "got sqrt of 6x4"),
        ("sqrt(0 - 1)", "got sqrt of a number, expected sqrt of a number from 0 on"),
        ("k.weight;q", "got ';q'"),
        ("(" * 100 + "1" + ")" * 100, "expected at most 40 nested parentheses"),
        ("1+" * 1500 + "1", "got 3001 characters, expected at most 2000"),
    ],
)
def test_what_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        parse("--map", text).evaluate(leaf)
    assert str(refused.value).startswith("--map: ")
