"""A cross-batch memory, slot by slot, and the loss against it by the loss's own reference."""

import importlib

import numpy as np

MEANS_OVER_ROWS = ("multi_similarity", "generalized_lifted")


class Memory:
    def __init__(self, size: int):
        self.slots: list = [None] * size
        self.head = 0
        self.places: list[int] = []

    def write(self, x, labels) -> None:
        self.places = []
        for row, label in zip(x, labels):
            self.slots[self.head] = (np.array(row), int(label))
            self.places.append(self.head)
            self.head = (self.head + 1) % len(self.slots)

    def joined(self, x, labels):
        """The batch's rows and then those remembered, their labels, and each batch row's own copy."""
        filled = [place for place, slot in enumerate(self.slots) if slot is not None]
        rows = [*x, *(self.slots[place][0] for place in filled)]
        classes = [*map(int, labels), *(self.slots[place][1] for place in filled)]
        return np.array(rows), classes, [len(x) + filled.index(place) for place in self.places]

    def pairs(self, x, labels, own_too: bool):
        rows, classes, copies = self.joined(x, labels)
        positives, negatives = [], []
        for i in range(len(x)):
            for j in range(len(x), len(rows)):
                if classes[i] != classes[j]:
                    negatives.append((i, j))
                elif own_too or j != copies[i]:
                    positives.append((i, j))
        return positives, negatives

    def value(self, key, reads, x, labels, form, mined=None, parameters=None, **options) -> float:
        """The loss against the memory; ``mined`` says of rows, positives and negatives which pairs are kept."""
        reference = importlib.import_module(f"reference.{key}")
        rows, classes, _ = self.joined(x, labels)
        positives, negatives = self.pairs(x, labels, own_too=form == "library")
        if mined:
            positives, negatives = mined(rows, positives, negatives)
        if reads == "pairs":
            lists = [[pair[end] for pair in pairs] for pairs in (positives, negatives) for end in (0, 1)]
            value = reference.on_pairs(rows, classes, parameters, *lists, **options)
        else:
            triplets = [(a, p, n) for a, p in positives for b, n in negatives if a == b]
            lists = [[triplet[end] for triplet in triplets] for end in range(3)]
            if key == "margin":
                value = reference.value(rows, classes, parameters, triplets=lists, **options)
            else:
                value = reference.on_triplets(rows, classes, parameters, *lists, **options)
        if key in MEANS_OVER_ROWS and form != "library":
            value *= len(rows) / len(x)
        return value
