"""Steps of gradient descent: where the weights live, what moves them, and the compiled form."""
