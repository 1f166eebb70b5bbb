# SPDX-License-Identifier: Apache-2.0
"""Random histograms and ranges with torch.ao's choice of range and parameters: arrays.npz in the folder given.

Histograms: h{i} [bins], range{i} [2], chosen{i} [2]. Ranges: table [n, 8] of
(min, max, dtype, symmetric, quant_min, quant_max, scale, zero_point), dtype an index into DTYPES.
"""
import pathlib
import sys
import warnings

import numpy as np
import torch
from torch.ao.quantization import HistogramObserver, MinMaxObserver

warnings.filterwarnings("ignore")
DTYPES = [torch.quint8, torch.qint8, torch.qint32]
RANGES = {torch.quint8: [(0, 255), (0, 127), (0, 15)], torch.qint8: [(-128, 127), (-64, 63), (-127, 127), (-8, 7)],
          torch.qint32: [(-2 ** 31, 2 ** 31 - 1), (-1000, 1000)]}


def histogram_cases(arrays, count, rng):
    for i in range(count):
        bins = int(rng.choice([2048, 2048, 2048, 256, 100, 1000, 7]))
        shape = rng.choice(["normal", "exponential", "uniform", "spikes", "sixteenths"])
        counts = {"normal": lambda: np.exp(-0.5 * ((np.arange(bins) - rng.uniform(0, bins)) / (bins / rng.uniform(2, 20))) ** 2) * 1e4,
                  "exponential": lambda: np.exp(-np.arange(bins) / bins * rng.uniform(1, 30)) * 1e6,
                  "uniform": lambda: rng.uniform(0, 100, bins),
                  "spikes": lambda: (rng.random(bins) < 0.02) * rng.integers(1, 1000, bins),
                  "sixteenths": lambda: rng.integers(0, 1600, bins) / 16}[shape]()
        if shape in ("normal", "exponential"):
            counts = np.floor(counts)
        low = float(np.float32(rng.normal() * 10))
        observer = HistogramObserver(bins=bins, dtype=DTYPES[int(rng.integers(0, 2))])
        observer.histogram = torch.tensor(counts, dtype=torch.float32)
        observer.min_val = torch.tensor(low)
        observer.max_val = torch.tensor(low + float(rng.uniform(0.01, 50)))
        new_min, new_max = observer._non_linear_param_search()
        arrays[f"h{i}"] = observer.histogram.numpy()
        arrays[f"range{i}"] = np.array([observer.min_val, observer.max_val], dtype=np.float32)
        arrays[f"chosen{i}"] = np.array([new_min, new_max], dtype=np.float32)


def range_cases(count, rng):
    rows = []
    for _ in range(count):
        index = int(rng.integers(0, 3))
        dtype = DTYPES[index]
        quant_min, quant_max = RANGES[dtype][int(rng.integers(0, len(RANGES[dtype])))]
        symmetric = bool(rng.integers(0, 2))
        width = 10.0 ** rng.uniform(-12, 8)
        low = np.float32(rng.normal() * width)
        high = np.float32(low + abs(np.float32(rng.normal() * width)))
        observer = MinMaxObserver(dtype=dtype, qscheme=torch.per_tensor_symmetric if symmetric else torch.per_tensor_affine,
                                  quant_min=quant_min, quant_max=quant_max)
        observer.min_val, observer.max_val = torch.tensor(low), torch.tensor(high)
        scale, zero_point = observer.calculate_qparams()
        rows.append([low, high, index, symmetric, quant_min, quant_max, scale.item(), zero_point.item()])
    return np.array(rows, dtype=np.float64)


def main(folder):
    torch.set_num_threads(1)
    rng = np.random.default_rng(5)
    arrays = {"table": range_cases(3000, rng)}
    histogram_cases(arrays, 60, rng)
    np.savez(pathlib.Path(folder) / "arrays.npz", **arrays)


if __name__ == "__main__":
    main(sys.argv[1])
