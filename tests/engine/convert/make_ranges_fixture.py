# SPDX-License-Identifier: Apache-2.0
"""Samples of several shapes with what NumPy and plain searches choose for them: arrays.npz in the folder given.

For case i: x{i} the samples, h{i} their histogram over range{i}, kind{i} = (symmetric, levels), percentiles{i} [len(PERCENTS), 2],
squared{i} the least mean squared error that a grid of ranges reaches, divergence{i} [bins + 1] the Kullback-Leibler divergence of keeping
that many bins, infinite where there are fewer than levels; empty where the data have two ends to move.
"""
import pathlib
import sys

import numpy as np

BINS = 2048
PERCENTS = [100.0, 99.99, 99.0, 90.0]


def samples(rng):
    tail = rng.normal(size=40000)
    tail[:20] *= 40
    yield tail, True, 256
    yield tail, False, 256
    yield np.abs(tail), False, 128
    relu = np.maximum(rng.normal(size=60000), 0)
    relu[7] = 30
    yield relu, False, 256
    yield rng.uniform(-3, 5, 50000), False, 256
    yield rng.uniform(0, 1, 50000), False, 16
    yield rng.laplace(size=50000) + 1, False, 256
    yield -rng.exponential(size=30000) ** 2, False, 256
    yield rng.standard_t(2, size=50000), True, 256


def fake_quantize(x, low, high, symmetric, levels):
    low, high = min(low, 0.0), max(high, 0.0)
    if symmetric:
        scale, zero, first = max(-low, high) / ((levels - 1) / 2), 0, -levels // 2
    else:
        scale, first = (high - low) / (levels - 1), 0
        zero = int(np.clip(-np.rint(low / scale), 0, levels - 1))
    return (np.clip(np.rint(x / scale) + zero, first, first + levels - 1) - zero) * scale


def least_error(x, symmetric, levels):
    low, high = min(x.min(), 0.0), max(x.max(), 0.0)
    shares = np.concatenate([np.linspace(0.02, 1, 40)])
    lows = shares * low if low < 0 and not symmetric else [low]
    best = np.inf
    for a in lows:
        for b in (shares * high if high > 0 else [high]):
            ends = (-max(-low, high) * b / high, max(-low, high) * b / high) if symmetric else (a, b)
            best = min(best, np.mean((fake_quantize(x, *ends, symmetric, levels) - x) ** 2))
    return best


def divergences(counts, levels):
    """The cost of keeping the first n bins, by the definition: P clipped, Q merged and spread over P's support."""
    counts = counts.astype(np.float64)
    counts[0] = min(counts[0], counts[1])
    out = np.full(len(counts) + 1, np.inf)
    for n in range(levels, len(counts) + 1):
        p = counts[:n].copy()
        p[-1] += counts[n:].sum()
        q = np.zeros(n)
        edges = np.floor(np.arange(levels + 1) * n / levels + 0.5).astype(int)
        for a, b in zip(edges, edges[1:]):
            support = p[a:b] > 0
            if support.any():
                q[a:b][support] = counts[a:b].sum() / support.sum()
        if counts[:n].sum() == 0:
            continue
        p, q = p / p.sum(), np.maximum(q / counts[:n].sum(), 1e-9)
        used = p > 0
        share = counts[:n].sum() / counts.sum()  # Q has no more mass than was kept
        out[n] = np.sum(p[used] * np.log(p[used] / q[used])) - np.log(share) - 1 + share
    return out


def main(folder):
    rng = np.random.default_rng(11)
    arrays = {"percents": np.array(PERCENTS)}
    for i, (x, symmetric, levels) in enumerate(samples(rng)):
        x = x.astype(np.float32)
        counts, edges = np.histogram(x, BINS, (x.min(), x.max()))
        arrays[f"x{i}"], arrays[f"h{i}"] = x, counts.astype(np.float32)
        arrays[f"range{i}"] = np.array([x.min(), x.max()])
        arrays[f"kind{i}"] = np.array([symmetric, levels], dtype=np.int64)
        arrays[f"percentiles{i}"] = np.array([np.percentile(x, [(100 - p) / 2, (100 + p) / 2]) for p in PERCENTS], dtype=np.float64)
        arrays[f"squared{i}"] = np.array([least_error(x.astype(np.float64), symmetric, levels)])
        one_sided = x.min() >= 0
        arrays[f"divergence{i}"] = divergences(counts, levels) if one_sided else np.zeros(0)
    np.savez(pathlib.Path(folder) / "arrays.npz", **arrays)


if __name__ == "__main__":
    main(sys.argv[1])
