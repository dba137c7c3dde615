"""What the tests themselves tolerate."""

import ast
from pathlib import Path


def test_a_relative_comparison_says_what_it_tolerates_near_zero() -> None:
    """`pytest.approx` alone takes all numbers below 1e-12 as equal: rounding bounds, late direction errors, losses."""
    silent = []
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "rel=" in text else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.approx":
                given = {keyword.arg for keyword in node.keywords}
                if "rel" in given and "abs" not in given:
                    silent.append(f"{path.name}:{node.lineno}")
    assert silent == []
