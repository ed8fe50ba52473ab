"""Inverses of small matrices, in a fixed order of exact operations: + - * / and square roots."""

from __future__ import annotations

import math

from librt.vecs import vec
from mypy_extensions import i64


def zeros(count: i64) -> vec[float]:
    """Return that many zeros."""
    return vec[float]([0.0] * count)


def invert(matrix: vec[float], size: i64, into: vec[float], at: i64) -> None:
    """Write the inverse of a symmetric, positive matrix, by its root (Cholesky)."""
    root = zeros(size * size)  # the inverse of the root, once it is done
    for j in range(size):
        left = matrix[j * size + j]
        for k in range(j):
            left -= root[j * size + k] * root[j * size + k]
        if not left > 0.0:
            raise ValueError("a covariance is not positive: its correlations contradict each other")
        diagonal = math.sqrt(left)
        root[j * size + j] = diagonal
        for i in range(j + 1, size):
            left = matrix[i * size + j]
            for k in range(j):
                left -= root[i * size + k] * root[j * size + k]
            root[i * size + j] = left / diagonal
    for j in range(size):
        root[j * size + j] = 1.0 / root[j * size + j]
        for i in range(j + 1, size):
            total = 0.0
            for k in range(j, i):
                total -= root[i * size + k] * root[k * size + j]
            root[i * size + j] = total / root[i * size + i]
    for i in range(size):
        for j in range(i + 1):
            total = 0.0
            for k in range(i, size):
                total += root[k * size + i] * root[k * size + j]
            into[at + i * size + j] = total
            into[at + j * size + i] = total
