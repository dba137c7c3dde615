"""SGD on Y in ball arithmetic: on whole matrices, and on coefficients of the features."""
