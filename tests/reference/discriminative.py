from ._arithmetic import squared_distance


def value(embeddings, labels, parameters=None) -> float:
    """Mean over rows (x, y) of |x - e_y|^2 - (1 / (3 (C - 1))) sum_{k != y} |x - e_k|^2.

    The centroids e_k are the one-hot corners of R^C, so the embedding has one dimension a class.

    The paper multiplies the sum over the n training rows by G = 3 (C - 1)(n / C - 1)(n / C). In a set with
    n / C rows a class there are n (n / C - 1)(n / C)(C - 1) triplets, and G over that count is 3 / n. So G is
    what makes the sum a bound of the sum over all triplets (where the distance obeys the triangle
    inequality), and a bound of their mean is three times this mean over rows, whatever n: n is not needed,
    and the 3, a plain factor of the learning rate, is left out. (The released code puts the batch size for
    n, which makes G zero or negative for batches up to C, and the loss drive rows from their own class.)
    """
    classes = len(embeddings[0])
    total = 0.0
    for x, y in zip(embeddings, labels):
        corners = [[1.0 if j == k else 0.0 for j in range(classes)] for k in range(classes)]
        total += squared_distance(x, corners[y])
        for k in range(classes):
            if k != y:
                total -= squared_distance(x, corners[k]) / (3 * (classes - 1))
    return total / len(labels)
