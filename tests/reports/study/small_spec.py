"""A sweep of audits that takes seconds."""

SPEC = """
paper = "ntp"
seeds = 2
keep = [{keep}]
[data]
generator = "free"
V = [4, 5]
N = 8
L = 3
[settings]
steps1 = 9
steps2 = 9
"""


def small_spec(*keep: str) -> str:
    """It keeps these results of 4 audits."""
    return SPEC.format(keep=", ".join(f'"{name}"' for name in keep))
