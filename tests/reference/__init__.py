"""Slow float64 references of the losses: loops written from the formulas, sharing no code with the package.

One module a method, named by its key, with ``value(embeddings, labels, parameters, **options) -> float``.
The options are the constructor names of the loss; ``parameters`` holds the loss's own arrays by short name
(``proxies``, ``beta``, ``class_map``), and a method without any ignores it.
"""
