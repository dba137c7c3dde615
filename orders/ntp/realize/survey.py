"""Counts of how far a text meets Assumption 1, at several sizes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import scipy  # its subpackages load when first used

from marginaudit.orders.ntp.realize.matching import NONE, best_matching, pair_weights, pieces
from marginaudit.orders.ntp.realize.part import Part, largest_part
from marginaudit.orders.ntp.realize.reduced_samples import ReducedSamples, samples_of
from marginaudit.orders.ntp.realize.winners import answered
from marginaudit.orders.ntp.realize.words import Text
from marginaudit.orders.ntp.relations import Encoded, relations, together
from marginaudit.orders.relations import Indices, Relations


@dataclass(frozen=True, eq=False)
class Survey:
    """Counts of how far a text meets Assumption 1.

    Attributes
    ----------
    tokens : int
        V.
    samples, distinct : int
        Samples with and without repetitions.
    one_next, several_next : int
        Tokens x with one next token, and with several, in the length-1 samples [x] -> n(x) that define n in the source.
    fits : int
        Largest number of samples that fit one collocation: an injective n with n(x) = y for a token x of the sentence.
        If several n attain it, the one closest to the part's is used for the counts below.
    queries, well_ordered, unconfused : int
        Queries that head a relation under this n; those with a strict partial order; those without confused tokens.
    confused : int
        Tokens confused under some query.
    part : Part
        The largest part found that meets Assumption 1.
    """

    tokens: int
    samples: int
    distinct: int
    one_next: int
    several_next: int
    fits: int
    queries: int
    well_ordered: int
    unconfused: int
    confused: int
    part: Part


def survey(samples: ReducedSamples) -> Survey:
    """Counts for samples."""
    part = largest_part(samples)
    source = _closest_to(part, samples)
    found = relations_of_fitting(samples, source)
    V = samples.vocabulary_size
    wins, loses = (np.unique(found.query * V + end) for end in (found.winner, found.loser))
    next_tokens = np.unique(samples.query[samples.length == 1], return_counts=True)[1]
    both = np.intersect1d(wins, loses, assume_unique=True)
    queries = len(np.unique(found.query))
    return Survey(
        tokens=V,
        samples=samples.total,
        distinct=len(samples),
        one_next=int((next_tokens == 1).sum()),
        several_next=int((next_tokens > 1).sum()),
        fits=part.fits,
        queries=queries,
        well_ordered=queries - len(_in_cycles(found, V)),
        unconfused=queries - len(np.unique(both // V)),
        confused=len(np.unique(both % V)),
        part=part,
    )


def _closest_to(part: Part, samples: ReducedSamples) -> Indices:
    """Inverse of a collocation that fits the most samples; among all, one that agrees most with the part's."""
    V = samples.vocabulary_size
    y = np.flatnonzero(part.source != NONE)
    agrees = scipy.sparse.coo_array((np.ones(len(y), dtype=np.int64), (part.source[y], y)), shape=(V, V)).tocsr()
    return best_matching((V + 1) * pair_weights(samples, samples.eligible) + agrees)[0]


def relations_of_fitting(samples: ReducedSamples, source: Indices) -> Relations:
    """Relations of Definition 1 under the inverse collocation ``source``, from the samples that fit it.

    Computed for some samples at a time, to limit memory.
    """
    place = answered(samples, source)
    found = [_related(samples, lo + np.flatnonzero(place[lo:hi] != NONE), place) for lo, hi in pieces(samples.start)]
    return together(found, samples.vocabulary_size)


def _related(samples: ReducedSamples, fits: Indices, place: Indices) -> Relations:
    """The relations of some samples, each with the number of such a sample."""
    size = samples.size[fits]
    owner = np.repeat(np.arange(len(fits)), size)
    at = np.arange(len(owner)) - np.repeat(np.cumsum(size) - size, size) + np.repeat(samples.start[fits], size)
    encoded = Encoded(
        token=samples.token[at],
        owner=owner.astype(np.int32),
        query=samples.query[fits],
        next=samples.next[fits],
        optimal=at == place[fits][owner],
        vocabulary_size=samples.vocabulary_size,
    )
    found = relations(encoded)
    return replace(found, sample=fits[found.sample])


def _in_cycles(found: Relations, V: int) -> Indices:
    """Queries with a cycle: a strongly connected component of two or more tokens."""
    names, node = np.unique(
        np.concatenate([found.query * V + end for end in (found.winner, found.loser)]), return_inverse=True
    )
    winner, loser = np.split(node, 2)
    graph = scipy.sparse.coo_array(
        (np.ones(len(winner), dtype=np.int8), (winner, loser)), shape=(len(names), len(names))
    )
    component = scipy.sparse.csgraph.connected_components(graph, connection="strong")[1]
    return np.unique(names[np.bincount(component)[component] > 1] // V)


def surveys(text: Text, *, majority: bool = False) -> Iterator[tuple[str, int, Survey]]:
    """Surveys at halved vocabulary, sample length and number of sentences: name, value and counts.

    Each is halved repeatedly from that of the whole text, with the other two unchanged.
    """
    whole = survey(samples_of(text, majority=majority))
    for varied, largest, least, restricted in (
        ("vocabulary", len(text.vocabulary), 4, text.of_vocabulary),
        ("length", text.longest, 2, text.up_to_length),
        ("sentences", text.sentences, 4, text.of_sentences),
    ):
        yield varied, largest, whole
        value = largest // 2
        while value >= least:
            yield varied, value, survey(samples_of(restricted(value), majority=majority))
            value //= 2
