"""Problems min |w| s.t. x_n.w >= 1 and e_m.w = b_m with rational rows, in four norms, and their certificates."""

from marginaudit.margins.linear.problem import HardMargin, Norm

__all__ = ["HardMargin", "Norm"]
