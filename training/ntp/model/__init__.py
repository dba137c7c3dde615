"""The losses, the samples merged into classes and edges, and the answers of a trained model."""
