"""What the losses share: distances, masks over the pairs of a batch, and sums that stay finite.

MXNet's plain reductions, ``where`` and index lookups cost several times a pass over memory, its matrix
products and softmax do not; hence sums as products with ones, masks as factors, and log-sum-exp read off a
softmax.
"""

from __future__ import annotations

from mxnet import init

from ..errors import UserError

HIDDEN = -1e30
"""Added to a logit, takes it out of every softmax; unlike minus infinity it never makes a NaN."""

_TINY = 1e-20  # under a root: keeps its gradient finite at zero, where what flows into it is exactly zero


# --- rows --------------------------------------------------------------------------------------------------


def flat(F, matrix):
    return F.reshape(matrix, shape=(-1,))


def row_sums(F, matrix):
    """(B, N) -> (B, 1)."""
    return F.FullyConnected(
        matrix, F.ones_like(F.slice_axis(matrix, axis=0, begin=0, end=1)), num_hidden=1, no_bias=True
    )


def total(F, values, weights):
    """The sum of ``values`` times ``weights``, as one number."""
    return F.dot(flat(F, values), flat(F, weights))


def log_sum_exp(F, logits, column=None):
    """Of every row, (B, N) -> (B,); HIDDEN or so where all is hidden.

    Read off at the row's ``column``, any that is not hidden, or else at its largest, which is longer to find.
    """
    column = F.argmax(logits, axis=1) if column is None else column
    return F.pick(logits, column, axis=1) - F.pick(F.log_softmax(logits, axis=1), column, axis=1)


def own_row(F, matrix):
    """The diagonal, (B, B) -> (B,)."""
    return F.pick(matrix, F.contrib.arange_like(matrix, axis=0), axis=1)


# --- pairs of rows -----------------------------------------------------------------------------------------


def squared_distances(F, x):
    """|x_i - x_j|^2 as (B, B), never negative."""
    left, right = factors(F, x)
    return F.relu(F.dot(left, right, transpose_b=True))


def factors(F, x):
    """Two (B, E + 2) whose product is the squared distances: rows' squares ride in it as two more columns."""
    squares = row_sums(F, x * x)
    ones = F.ones_like(squares)
    return F.concat(-2 * x, squares, ones, dim=1), F.concat(x, ones, squares, dim=1)


def root(F, squares):
    """The square root, with a finite gradient (zero, for squared distances) at zero."""
    return F.sqrt(squares + _TINY)


def distances(F, x):
    return root(F, squared_distances(F, x))


def row_distances(F, x, y):
    """|x_i - y_i|, (B, E), (B, E) -> (B, 1)."""
    return root(F, row_sums(F, F.square(x - y)))


def same_class(F, labels):
    """(B, B): 1 where the labels agree, the diagonal included."""
    return F.broadcast_equal(F.expand_dims(labels, 1), F.expand_dims(labels, 0))


def positive_pairs(F, labels):
    """(same_class, the same without its diagonal)."""
    same = same_class(F, labels)
    return same, same - same_class(F, F.contrib.arange_like(labels, axis=0))


def row_starts(F, rows, columns=None):
    """Where the rows of a matrix start in the flattened one, (B, 1); plus a column, a place.

    It has as many rows as ``rows`` and as many columns as ``columns``, both int32, or else ``rows``.
    """
    columns = rows if columns is None else columns
    width = F.slice_axis(F.contrib.arange_like(columns, axis=1), axis=0, begin=-1, end=None) + 1
    return F.expand_dims(F.broadcast_mul(F.contrib.arange_like(rows, axis=0), width), 1)


def lookup(F, matrix, places):
    """The entries at ``places`` of the flattened matrix, in the shape of ``places``."""
    return F.take(flat(F, matrix), places)


# --- losses over all pairs, in little memory ---------------------------------------------------------------
# Recording the operations on a (B, B) matrix keeps the results of most until the backward pass. A loss that
# knows its slopes computes its gradient along with its value and keeps nothing but that. And what it needs
# meanwhile it needs for a block of rows only, if one follows the other. Shapes come from small arrays there,
# or from one for all: MXNet's memory plan never frees what an operator (arange_like, reshape_like) takes no
# more than a shape from.


def with_gradient(F, value, x, gradient):
    """``value``, with ``gradient`` as its gradient with respect to ``x``."""
    along = total(F, x, F.BlockGrad(gradient))
    return F.BlockGrad(value) + (along - F.BlockGrad(along))


def blocks(F, matrix, number):
    """Every ``number``-th row from the first on, from the second on ...; rows of -1 even them out."""
    padding = -F.ones_like(F.slice_axis(matrix, axis=0, begin=0, end=1))
    padded = F.concat(matrix, *[padding] * (number - 1), dim=0)
    ends = [*range(1 - number, 0), None]
    return [F.slice(padded, begin=(k, None), end=(ends[k], None), step=(number, 1)) for k in range(number)]


def joined(F, parts, like):
    """The rows of ``blocks`` in their order again, as many as ``like`` has."""
    return F.slice_like(F.reshape(F.stack(*parts, axis=1), shape=(-3, 0)), like, axes=(0,))


def sum_over_pairs(F, number, embeddings, labels, find, *more):
    """The sum of a loss over rows, each against all, with its gradient; and how many positive pairs exist.

    It goes by a ``number`` of blocks: more of them need less memory, and more time where batches are small.

    ``find(squares, same, own, labels, *more)`` is given a block of rows: squared distances to all rows, where
    the class is the same, its labels and all, its rows of ``more``. It returns the slopes of the loss by the
    squared distances, and its value for every row. Rows of class -1, which there is not, are but padding.
    """
    x = F.BlockGrad(embeddings)
    own_labels, labels = F.expand_dims(labels, 1), F.expand_dims(labels, 0)
    left, right = factors(F, x)
    by_left, by_right, sums, shape = [], 0, 0, None
    for rows, own, *rest in zip(*(blocks(F, each, number) for each in (left, own_labels, *more))):
        same = F.broadcast_equal(own, labels)
        shape = same if shape is None else shape
        slopes, losses = find(F.relu(F.dot(rows, right, transpose_b=True)), same, own, labels, *rest)
        # One node that all of the block goes through: with it done, the block is.
        found = F.concat(F.reshape_like(slopes, shape), losses, row_sums(F, same), dim=1)
        sums = sums + F.sum(F.slice_axis(found, axis=1, begin=-2, end=None), axis=0)
        slopes = F.slice_axis(found, axis=1, begin=0, end=-2)
        by_left.append(F.dot(slopes, right))
        by_right = by_right + F.dot(slopes, rows, transpose_a=True)
    gradient = _factors_gradient(F, joined(F, by_left, x), by_right, x)
    value, same = (F.slice_axis(sums, axis=0, begin=k, end=k + 1) for k in (0, 1))
    return with_gradient(F, value, embeddings, gradient), same - F.sum(F.ones_like(labels))


def by_squares(F, slopes, distances):
    """Twice the slopes by squared distances, from those by distances; nothing where the distance is zero."""
    return slopes * distances / (F.square(distances) + _TINY)


def _factors_gradient(F, by_left, by_right, x):
    """With respect to x, from those with respect to its ``factors``."""
    by_squares = F.slice_axis(by_left, axis=1, begin=-2, end=-1) + F.slice_axis(
        by_right, axis=1, begin=-1, end=None
    )
    pulls = F.slice_axis(by_right - 2 * by_left, axis=1, begin=0, end=-2)
    return pulls + F.broadcast_mul(x, 2 * by_squares)


# --- a batch of pairs --------------------------------------------------------------------------------------


def require_even(method, rows):
    if rows % 2:
        raise UserError(
            f"{method} reads pairs a0 p0 a1 p1 ..., so a batch has an even number of rows, not {rows}."
        )


def split_pairs(F, embeddings, labels):
    """Anchors, positives and the pairs' labels out of interleaved rows a0 p0 a1 p1 ..."""
    pairs = F.reshape(embeddings, shape=(-4, -1, 2, 0))
    anchors = F.reshape(F.slice_axis(pairs, axis=1, begin=0, end=1), shape=(0, -1))
    positives = F.reshape(F.slice_axis(pairs, axis=1, begin=1, end=2), shape=(0, -1))
    labels = F.reshape(F.slice_axis(F.reshape(labels, shape=(-1, 2)), axis=1, begin=0, end=1), shape=(-1,))
    return anchors, positives, labels


def mean_squares(F, anchors, positives):
    """Mean over pairs of |a|^2 + |p|^2, what the pair losses call their L2 regulariser."""
    return F.mean(row_sums(F, F.square(anchors)) + row_sums(F, F.square(positives)))


def pick_own_pair(F, anchors, positives, targets):
    """N-pairs: the mean over anchors of the cross-entropy of their inner products with all positives."""
    similarities = F.dot(anchors, positives, transpose_b=True)
    return -F.mean(row_sums(F, targets * F.log_softmax(similarities, axis=1)))


def shared_targets(F, labels):
    """(B, B): every row spread evenly over the pairs of its class."""
    same = same_class(F, labels)
    return F.broadcast_div(same, row_sums(F, same))


# --- proxies -----------------------------------------------------------------------------------------------

SMALL = init.Normal(0.01 / 8)
"""The study's proxies: their length is the loss's to set, their direction is all that matters."""


def check_classes(loss, label_smoothing=0.0):
    classes = loss.num_classes
    loss.require(
        classes >= 2,
        f"proxies of other classes are needed, so num_classes must be at least 2, not {classes}.",
    )
    loss.require(
        0 <= label_smoothing < 1, f"label_smoothing is a share from 0 to below 1, not {label_smoothing}."
    )


def check_width(loss, width, expected):
    loss.require(width == expected, f"embeddings must have {expected} columns, not {width}.")


def nearness(F, x, proxies, num_proxies, sharpness):
    """sharpness x_i.p_k, the proxies p brought to unit length, as (B, num_proxies).

    Rather than the proxies the products are divided by their lengths: that touches fewer numbers.
    """
    scales = sharpness * F.rsqrt(row_sums(F, F.square(proxies)) + 1e-10)
    rows = F.ones_like(F.slice_axis(x, axis=1, begin=0, end=1))
    products = F.FullyConnected(x, proxies, num_hidden=num_proxies, no_bias=True)
    return products * F.dot(rows, scales, transpose_b=True)


def smoothed(F, values, labels, num_classes, smoothing):
    """The mean of each row under its target: 1 - smoothing on the label, the rest in equal shares on the
    others.
    """
    own = F.pick(values, labels, axis=1)
    if not smoothing:
        return own
    share = smoothing / (num_classes - 1)
    return (1 - smoothing - share) * own + share * flat(F, row_sums(F, values))


def cross_entropy(F, logits, labels, num_classes, smoothing=0.0, hidden=None):
    """The mean over rows of log sum_k exp(logits_k) - (the logits under the smoothed target).

    ``hidden``, which is ``hide_own``, takes the label's own entry out of the sum (not out of the target).
    """
    if hidden is None:
        return -F.mean(smoothed(F, F.log_softmax(logits, axis=1), labels, num_classes, smoothing))
    another = labels == 0  # class 1 for rows of class 0, class 0 for the rest
    return F.mean(
        log_sum_exp(F, logits + hidden, another) - smoothed(F, logits, labels, num_classes, smoothing)
    )


def hide_own(F, labels, num_classes, dtype):
    """(B, num_classes): HIDDEN in the column of the row's label, zero elsewhere."""
    return F.one_hot(labels, num_classes, on_value=HIDDEN, dtype=dtype)
