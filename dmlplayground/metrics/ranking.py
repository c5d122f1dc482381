"""Ranks of positives (first, plain form)."""

from __future__ import annotations

import numpy as np

from .points import Points
from .retrieval import Ranks


def rank_positives(
    points: Points, labels, gallery: Points | None, gallery_labels, *, depth: int, memory, threads
) -> Ranks:
    own = gallery is None
    gallery, gallery_labels = (points, labels) if own else (gallery, gallery_labels)
    lists, relevant, depths = [], [], []
    squares = (gallery.rows**2).sum(1)
    for i in range(len(points)):
        d = squares - 2 * gallery.rows @ points.rows[i]
        order = np.argsort(d, kind="stable")
        order = order[order != i] if own else order
        hits = np.flatnonzero(gallery_labels[order] == labels[i]) + 1
        relevant.append(len(hits))
        depths.append(max(depth, len(hits)))
        lists.append(hits[hits <= depths[-1]])
    return Ranks(
        np.concatenate(lists), np.array([len(x) for x in lists]), np.array(relevant), np.array(depths)
    )
