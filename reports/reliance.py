"""What a source derives from a statement of its own that is refuted."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Reliance:
    """Statements whose printed proofs use a refuted one.

    Attributes
    ----------
    refuted : str
        A claim.
    relied : tuple of str
        The claims whose printed proofs use it.
    remains : str
        In words: what of them is true all the same, and from what it follows.
    """

    refuted: str
    relied: tuple[str, ...]
    remains: str
