"""Steps of gradient descent: the spaces of the weights, both losses, and the compiled form."""
