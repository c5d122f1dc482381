"""Sums, log-sum-exps and lookups over the rows of a matrix."""

from functools import partial

HIDDEN = -1e30
"""Added to a logit, takes it out of every softmax; unlike minus infinity it never makes a NaN."""


def flat(F, matrix):
    return F.reshape(matrix, shape=(-1,))


def row_sums(F, matrix):
    """(B, N) -> (B, 1)."""
    return F.FullyConnected(matrix, ones_row(F, matrix), num_hidden=1, no_bias=True)


def ones_row(F, matrix):
    """(1, N)."""
    return F.ones_like(F.slice_axis(matrix, axis=0, begin=0, end=1))


def total(F, values, weights):
    """The sum of ``values`` times ``weights``, as one number."""
    return F.dot(flat(F, values), flat(F, weights))


def log_sum_exp(F, logits, column=None, keepdims=False):
    """The log-sum-exp of every row, (B, N) -> (B,), or (B, 1) with ``keepdims``; about HIDDEN where everything is hidden.

    Read off at the row's ``column``, any that is not hidden, or else at its largest, which is longer to find.
    """
    column = F.argmax(logits, axis=1) if column is None else column
    pick = partial(F.pick, index=column, axis=1, keepdims=keepdims)
    return pick(logits) - pick(F.log_softmax(logits, axis=1))


def unit(F, x):
    """Rows at unit length; a row of zeros stays, with a finite slope."""
    squares = F.maximum(row_sums(F, F.square(x)), 1e-24)  # beneath the root, which has no slope at zero
    return F.broadcast_div(x, F.sqrt(squares))


def mean(F, losses, weights=None):
    """The mean over rows, (B,) or (B, 1) -> (1,). ``weights``, (B,) or nothing, multiply; the divisor stays."""
    return F.mean(losses if weights is None else F.reshape_like(losses, weights) * weights)


def width(F, matrix):
    """The number of columns, (1, 1), for a matrix of floats."""
    last = F.slice_axis(F.contrib.arange_like(matrix, axis=1), axis=0, begin=-1, end=None)
    return F.reshape(last + 1, shape=(1, 1))


def entry(F, matrix, column):
    """Of every row the entry in its column, (B, R), (B, 1) -> (B, 1)."""
    return F.pick(matrix, flat(F, column), axis=1, keepdims=True)


def smallest(F, matrix, among):
    """The column of every row's smallest entry among those that are allowed, (B, 1)."""
    return F.argmin(matrix + (1 - among) * -HIDDEN, axis=1, keepdims=True)


def largest(F, matrix, among):
    """The column of every row's largest entry among those that are allowed, (B, 1)."""
    return F.argmax(matrix + (1 - among) * HIDDEN, axis=1, keepdims=True)


def own_row(F, matrix):
    """The diagonal, (B, B) -> (B,)."""
    return F.pick(matrix, F.contrib.arange_like(matrix, axis=0), axis=1)


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


def log_one_plus(F, logits):
    """log(1 + sum of exp(logits)) of every row, (B, N) -> (B,); zero where all is hidden."""
    return softplus(F, log_sum_exp(F, logits))


def softplus(F, x):
    """log(1 + e^x)."""
    return F.Activation(x, act_type="softrelu")


def hidden(F, counts):
    """HIDDEN where ``counts`` is zero, to be added to logits."""
    return F.BlockGrad((counts <= 0) * HIDDEN)


def log_weights(F, weights):
    """What added to a logit makes its exponential count by that weight; HIDDEN for zero."""
    none = weights <= 0
    return F.BlockGrad(F.log(weights + none) + none * HIDDEN)


def sum_of(F, matrix):
    """The sum of all entries, (1,)."""
    return F.reshape(F.sum(row_sums(F, matrix)), shape=(1,))


def above(F, excess, counts):
    """[excess]+, each entry times its count, and the counts of those above zero; a ``relu`` takes long on its way back."""
    active = (excess > 0) * counts
    return excess * active, active


def active_mean(F, excess, counts):
    """The mean of the entries of [excess]+ above zero, each as often as it counts; zero if there is none."""
    above = F.BlockGrad((excess > 0) * counts)
    return total(F, excess, above) / F.maximum(sum_of(F, above), 1)


def count_mean(F, values, counts):
    """The mean of the entries, each as often as it counts; zero if none does."""
    return total(F, values, counts) / F.maximum(sum_of(F, counts), 1)


def hinge_mean(F, excess, counts):
    """The mean of [excess]+, each entry as often as it counts; zero if none does."""
    return count_mean(F, F.relu(excess), counts)
