"""The claims, one file per theorem."""

from separable.claims import corollary8, lemma1, normalized, polynomial, theorem3, theorem4, theorem5, tight

MODULES = (lemma1, theorem3, theorem4, theorem5, tight, corollary8, polynomial, normalized)

CLAIMS = tuple(claim for module in MODULES for claim in module.CLAIMS)
"""All, in the order of the paper."""
