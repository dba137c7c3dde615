"""Example 1 of arXiv 2409.17335, on its dataset up to renaming of tokens."""

from collections.abc import Mapping
from itertools import permutations, product

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Equal
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.quotation import quoted
from marginaudit.claims.series import Series, exact_series
from marginaudit.claims.standing import proved
from marginaudit.orders.ntp import CASES, Token

TOKENS = "SVOP"


COLLOCATION = {"S": "V", "V": "O", "O": "P", "P": "S"}


RELATIONS = (("S", "S", "P"), ("V", "V", "S"), ("O", "O", "S"), ("O", "O", "V"), ("P", "O", "P"))
"""(query, winner, loser)."""

PAIRS, TRIPLES = (list(product(TOKENS, repeat=number)) for number in (2, 3))
"""All possible (x, n(x)) and (query, winner, loser)."""


def names(run: Run) -> Mapping[str, Token] | None:
    """The run's token for each of S, V, O, P if its samples are those of Example 1, else None."""
    example = CASES["example-1"]()
    if run.dataset.V != example.V or run.dataset.N != example.N:
        return None
    present = {(sample.tokens, sample.next) for sample in run.dataset.samples}
    for tokens in permutations(run.dataset.vocabulary):
        name = dict(zip(TOKENS, tokens, strict=True))
        if present == {(tuple(name[x] for x in s.tokens), name[s.next]) for s in example.samples}:
            return name
    return None


def not_the_example(run: Run) -> str | None:
    """Reason why the run is not on Example 1, or None."""
    return None if names(run) else "The statement is about the dataset of Example 1, up to the names of its tokens."


def named(run: Run) -> Mapping[str, Token]:
    """The token for each of S, V, O, P of a run on Example 1."""
    name = names(run)
    if name is None:
        raise ValueError("the dataset is not that of Example 1")
    return name


def _found(run: Run) -> Series:
    """Indicator of n(x) = y and of x >_q x' in the data, over all x, y, x', q."""
    name, data = named(run), run.dataset
    values = [int(data.collocation.maps(name[x], name[y])) for x, y in PAIRS]
    for q, winner, loser in TRIPLES:
        order = data.orders.get(name[q])
        values.append(int(order is not None and (name[winner], name[loser]) in order.samples))
    labels = [f"n({x}) = {y}" for x, y in PAIRS] + [f"{w} >_{q} {z}" for q, w, z in TRIPLES]
    return exact_series(values, label=tuple(labels))


def _printed(_: Run) -> Series:
    return exact_series([int(COLLOCATION[x] == y) for x, y in PAIRS] + [int(triple in RELATIONS) for triple in TRIPLES])


EXAMPLE_1 = Claim(
    id="ntp.example1",
    source="arXiv 2409.17335, Example 1",
    source_words=quoted(
        "section 4.1, Example 1",
        "Let the training dataset be {SVOP, VOP, OPP, PSV}. .. S >_S P. V >_V S. O >_O S, O >_O V. O >_P P.",
        "Each sentence stands for all its prefixes as samples; the list of relations is complete.",
    ),
    statement=(
        "Sentences SVOP, VOP, OPP, PSV: collocation S>V>O>P>S; S >_S P; V >_V S; O >_O S, V; O >_P P; "
        "and no other relation."
    ),
    formula=r"S>_SP;\quad V>_VS;\quad O>_OS,V;\quad O>_PP",
    assumptions=(),
    judgement=Equal(measure=_found, expected=_printed),
    absent=not_the_example,
    standing=proved("docs/proofs.md#154-ntpexample1", hunted=0),
)

CLAIMS = (EXAMPLE_1,)
