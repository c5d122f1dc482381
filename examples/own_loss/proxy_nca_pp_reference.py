"""The loss once more, in slow loops written from its formula: what the fast one is tested against."""

import math

import numpy as np


def value(embeddings, labels, parameters, *, scale=3.0):
    proxies = [proxy / math.sqrt(np.dot(proxy, proxy) + 1e-10) for proxy in parameters["proxies"]]
    total = 0.0
    for x, y in zip(embeddings, labels):
        near = [-(scale**2) * np.sum((x - proxy) ** 2) for proxy in proxies]
        highest = max(near)
        total += highest + math.log(sum(math.exp(one - highest) for one in near)) - near[y]
    return total / len(labels)
