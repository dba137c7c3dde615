"""Named instances: a function, a matrix pair, parameters; claims about them need no kind of dataset and no run."""
