"""Sweeps: a paper's runs over a grid of settings and seeds, in parts that survive whatever ends the program."""
