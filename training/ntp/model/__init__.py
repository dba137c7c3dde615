"""The losses, the samples merged into classes and edges, and the exact W*_kq on them."""
