"""SGD on Y in ball arithmetic: on whole matrices, and in terms of the features."""
