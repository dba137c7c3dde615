"""Certificates are written of exact solutions alone."""

import pytest

from marginaudit.margins import NotExact
from marginaudit.margins.ntp import certificate_document, solve_kq, solve_ov
from marginaudit.orders.ntp import CASES
from tests.solutions import inexact


def test_a_rounded_solution_has_no_certificate() -> None:
    data = CASES["example-1"]()
    ov, kq = solve_ov(data), solve_kq(data)
    for rounded in (solve_kq(data, method="cvxpy"), inexact(kq)):
        with pytest.raises(NotExact, match="kq: the solution is a float64 one, and a certificate needs"):
            certificate_document(data, ov=ov, kq=rounded)
    with pytest.raises(NotExact, match="ov: the solution is a float64 one, and a certificate needs"):
        certificate_document(data, ov=solve_ov(data, method="cvxpy"), kq=kq)


def test_what_is_not_given_is_not_written() -> None:
    data = CASES["example-1"]()
    whole = certificate_document(data, ov=solve_ov(data), kq=solve_kq(data))
    assert list(whole) == ["format", "dataset", "ov", "kq"]
    assert certificate_document(data) == {"format": whole["format"], "dataset": "example-1"}
    assert certificate_document(data, kq=solve_kq(data))["kq"] == whole["kq"]
    assert set(whole["kq"]["closed_form"]) == set(data.orders)
