"""The limit of long sequences: Y trained on fixed features f_n, arXiv 2305.16380, section 4 and appendix D.

`h_star` and `continuous` are the growth h*(s) and h(t) of a class's row of W = F^T Y, and `gamma` is the speed control
coefficient. `fluctuation` is SGD with the modified gradient of Lemma 3 at the counts of many seeds, and `descend` is
SGD with the gradient of eq. 7. `decoder` is Theorem 5, and `backpropagated` has beta and xi of Theorem 1.
"""
