"""Label probabilities of the trained model, for any sentence."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.ntp import Dataset, Token
from marginaudit.training.ntp.steps.iterate import Floats
from marginaudit.training.ntp.trained import Training


def log_probabilities(scores: Floats, B: Floats, bag: NDArray[np.int64]) -> Floats:
    """log of softmax(W_ov X softmax(X^T W_kq q)) of one sentence, over the labels.

    Parameters
    ----------
    scores : (keys,) array
        x^T W_kq q of every token x, for the sentence's query q.
    B : (labels, tokens) array
        Logit of each label where all attention is on the token; A times the indicator of v = n(x)
        where all margins are A.
    bag : (tokens,) integer array
        Multiplicity of each token in the sentence.

    Returns
    -------
    (labels,) array

    >>> B = 5 * np.eye(2)
    >>> np.exp(log_probabilities(np.array([40.0, 0.0]), B, np.array([1, 3]))).round(4).tolist()
    [0.9933, 0.0067]

    Raises
    ------
    ValueError
        The sentence is empty.
    """
    present = np.flatnonzero(bag)
    if not len(present):
        raise ValueError("sentence: got no token, expected at least 1")
    weight = scores[present] + np.log(bag[present])
    phi = np.exp(weight - weight.max())
    logits = B[:, present] @ (phi / phi.sum())
    shifted = logits - logits.max()
    return np.asarray(shifted - np.log(np.exp(shifted).sum()))


def predict(dataset: Dataset, training: Training, sentence: Sequence[Token], record: int = -1) -> Floats:
    """Log-probabilities of the next token of any sentence over the vocabulary, shape (labels,).

    Parameters
    ----------
    training : Training
        Of that dataset.
    sentence : sequence of tokens, the query last
    record : int
        Which record of stage 2 gives W_kq; the last by default.

    Raises
    ------
    ValueError
        The sentence is empty.
    KeyError
        A token is not in the vocabulary.
    """
    tokens = [dataset.index[x] for x in sentence]
    if not tokens:
        raise ValueError("sentence: got no token, expected at least 1")
    scores = training.stage2.score_matrix(record, dataset.V)[:, tokens[-1]]
    return log_probabilities(scores, label_logits(dataset, training), np.bincount(tokens, minlength=dataset.V))


def label_logits(dataset: Dataset, training: Training) -> Floats:
    """B of `log_probabilities`, shape (labels, tokens): A at (n(x), x) if all margins of W_ov are one A."""
    if not training.common_margin:
        return training.B
    n = dataset.collocation.require_function()
    B = np.zeros((dataset.V, dataset.V))
    B[[dataset.index[n[x]] for x in dataset.vocabulary], np.arange(dataset.V)] = training.margin
    return B
