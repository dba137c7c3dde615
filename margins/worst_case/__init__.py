"""Worst cases of first-order methods over a class of functions, proved in rational arithmetic."""
