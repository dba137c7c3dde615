"""The bipartite graph of contextual tokens and classes; distinct and common tokens."""

from typing import TYPE_CHECKING

from marginaudit.orders.reading import Token
from marginaudit.orders.snap.classes import SequenceClasses

if TYPE_CHECKING:
    import networkx as nx

TOKEN, CLASS = "token", "class"


def token_class_graph(dataset: SequenceClasses, query: Token | None = None) -> "nx.Graph[tuple[str, Token]]":
    """Graph of contextual tokens l and classes n, with an edge of attribute ``probability`` P(l|n) if that is > 0.

    Nodes are ``("token", l)`` and ``("class", next token)``, with attribute ``bipartite`` 0 and 1 as in networkx. With
    a query, the graph has only its classes and their tokens. The neighbours of a token's node are Omega(l).

    Source: arXiv 2305.16380, section 3.2.

    >>> data = SequenceClasses.from_weights("two", None, [("m", "q", {"a": 1, "the": 1}), ("n", "q", {"the": 1})])
    >>> graph = token_class_graph(data)
    >>> sorted(graph["token", "the"]), graph.edges[("token", "a"), ("class", "m")]
    ([('class', 'm'), ('class', 'n')], {'probability': 0.5})
    """
    import networkx as nx

    classes = [c for c in dataset.classes if query is None or c.query == query]
    graph: nx.Graph[tuple[str, Token]] = nx.Graph()
    occurring = {token for c in classes for token in c.support}
    graph.add_nodes_from(((TOKEN, token) for token in dataset.contextual if token in occurring), bipartite=0)
    graph.add_nodes_from(((CLASS, c.next) for c in classes), bipartite=1)
    for c in classes:
        for token in c.support:
            graph.add_edge((TOKEN, token), (CLASS, c.next), probability=c.probabilities[token])
    return graph


def common_tokens(dataset: SequenceClasses, query: Token | None = None) -> tuple[Token, ...]:
    """G_CT: the tokens of more than one class, |Omega(l)| > 1; with a query, within its classes.

    >>> data = SequenceClasses.from_weights("two", None, [("m", "p", {"a": 1, "the": 1}), ("n", "q", {"the": 1})])
    >>> common_tokens(data), common_tokens(data, "q")
    (('the',), ())
    """
    graph = token_class_graph(dataset, query)
    return tuple(token for token in dataset.contextual if (TOKEN, token) in graph and graph.degree[TOKEN, token] > 1)


def distinct_tokens(dataset: SequenceClasses, query: Token | None = None) -> dict[Token, tuple[Token, ...]]:
    """G_DT(n) of each class, by next token: the tokens of this class alone; with a query, within its classes.

    >>> data = SequenceClasses.from_weights("two", None, [("m", "p", {"a": 1, "the": 1}), ("n", "q", {"the": 1})])
    >>> distinct_tokens(data), distinct_tokens(data, "q")
    ({'m': ('a',), 'n': ()}, {'n': ('the',)})
    """
    graph = token_class_graph(dataset, query)
    found: dict[Token, list[Token]] = {name: [] for kind, name in graph if kind == CLASS}
    for token in dataset.contextual:
        if (TOKEN, token) in graph and graph.degree[TOKEN, token] == 1:
            [(_, following)] = graph[TOKEN, token]
            found[following].append(token)
    return {following: tuple(tokens) for following, tokens in found.items()}
