# SPDX-License-Identifier: Apache-2.0
"""Feeds tensors to torch.ao's observers and stores what came of it: cases.json and arrays.npz in the folder given."""
import json
import pathlib
import sys
import warnings

import numpy as np
import torch
from torch.ao.quantization import observer as ao

warnings.filterwarnings("ignore")
CLASSES = {
    "minmax": ao.MinMaxObserver,
    "moving_average_minmax": ao.MovingAverageMinMaxObserver,
    "per_channel_minmax": ao.PerChannelMinMaxObserver,
    "moving_average_per_channel_minmax": ao.MovingAveragePerChannelMinMaxObserver,
    "histogram": ao.HistogramObserver,
}
RANGES = [{}, {"quant_min": 0, "quant_max": 127}, {"quant_min": -127, "quant_max": 127}, {"reduce_range": True}]


def batches(kind, generator):
    """Three to five tensors whose range grows, shrinks, stays, or is one point."""
    def normal(*shape):
        return torch.randn(*shape, generator=generator)
    if kind == "grows":
        return [normal(2, 3, 9, 5) * (1 + 0.7 * i) for i in range(4)]
    if kind == "relu":
        return [normal(4, 3, 17).relu() * s for s in (3.0, 1.0, 3.5, 0.5, 8.0)]
    if kind == "positive":
        return [torch.rand(5, 3, 11, generator=generator) + 4.0 for _ in range(3)]
    if kind == "constant first":
        return [torch.full((2, 3), 1.5), torch.full((2, 3), 1.5), normal(2, 3), normal(40, 3)]
    if kind == "zeros":
        return [torch.zeros(2, 3, 4)] * 2
    if kind == "tiny":
        return [normal(3, 3, 8) * 1e-9 for _ in range(3)]
    if kind == "outliers":
        x = normal(4, 3, 2000)
        x[0, 0, 0] = 55.0
        return [x, normal(4, 3, 2000) * 2, normal(4, 3, 2000) - 3]
    if kind == "double and half":
        return [normal(2, 3, 7).double(), normal(2, 3, 7).half()]
    return [normal(8, 3, 64, 33), normal(8, 3, 64, 33).transpose(0, 3).contiguous().transpose(0, 3)]


KINDS = ["grows", "relu", "positive", "constant first", "zeros", "tiny", "outliers", "large"]


def specs():
    for name in ("minmax", "moving_average_minmax", "histogram"):
        for dtype in ("quint8", "qint8"):
            for scheme in ("per_tensor_affine", "per_tensor_symmetric"):
                for extra in RANGES:
                    yield {"observer": name, "dtype": dtype, "qscheme": scheme, **extra}
        yield {"observer": name, "dtype": "qint32", "qscheme": "per_tensor_affine"}
        yield {"observer": name, "dtype": "quint8", "qscheme": "per_tensor_affine", "eps": 2 ** -12}
    yield {"observer": "histogram", "dtype": "quint8", "qscheme": "per_tensor_affine", "bins": 256}
    yield {"observer": "histogram", "dtype": "quint8", "qscheme": "per_tensor_affine", "bins": 1000}
    yield {"observer": "moving_average_minmax", "dtype": "quint8", "qscheme": "per_tensor_affine", "averaging_constant": 0.3}
    for name in ("per_channel_minmax", "moving_average_per_channel_minmax"):
        for scheme in ("per_channel_affine", "per_channel_symmetric", "per_channel_affine_float_qparams"):
            for dtype in ("qint8", "quint8"):
                yield {"observer": name, "dtype": dtype, "qscheme": scheme, "ch_axis": 1}
        yield {"observer": name, "dtype": "qint8", "qscheme": "per_channel_symmetric", "ch_axis": 1, "quant_min": -8, "quant_max": 7}


def make(spec):
    arguments = dict(spec)
    cls = CLASSES[arguments.pop("observer")]
    arguments["dtype"] = getattr(torch, arguments["dtype"])
    arguments["qscheme"] = getattr(torch, arguments["qscheme"])
    return cls(**arguments)


def main(folder):
    torch.set_num_threads(2)
    generator = torch.Generator().manual_seed(20)
    arrays, cases = {}, []
    for k, kind in enumerate(KINDS):
        for i, x in enumerate(batches(kind, generator)):
            arrays[f"x{k}_{i}"] = x.contiguous().numpy()
    for spec in specs():
        for k, kind in enumerate(KINDS):
            try:
                observer = make(spec)
            except (AssertionError, NotImplementedError):
                continue  # torch.ao refuses the combination
            count = 0
            while f"x{k}_{count}" in arrays:
                observer(torch.from_numpy(arrays[f"x{k}_{count}"]))
                count += 1
            c = len(cases)
            cases.append({"spec": spec, "data": k, "kind": kind, "batches": count})
            scale, zero_point = observer.calculate_qparams()
            arrays[f"c{c}_min"] = observer.min_val.reshape(-1).numpy()
            arrays[f"c{c}_max"] = observer.max_val.reshape(-1).numpy()
            arrays[f"c{c}_scale"] = scale.reshape(-1).numpy().astype(np.float32)
            arrays[f"c{c}_zp"] = zero_point.reshape(-1).double().numpy()
            if spec["observer"] == "histogram":
                arrays[f"c{c}_hist"] = observer.histogram.numpy()
    folder = pathlib.Path(folder)
    np.savez(folder / "arrays.npz", **arrays)
    (folder / "cases.json").write_text(json.dumps(cases))


if __name__ == "__main__":
    main(sys.argv[1])
