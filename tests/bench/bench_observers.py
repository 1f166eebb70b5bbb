# SPDX-License-Identifier: Apache-2.0
"""Our histogram observer and torch.ao's side by side on 20 million values: ratio of the times, equality of the results.

Run by hand: bench_observers.py PROGRAM [VALUES]. Start it with OMP_WAIT_POLICY=PASSIVE on a quiet machine.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch
from torch.ao.quantization import HistogramObserver

ROUNDS = 5


def torch_ao(x):
    torch.set_num_threads(2)
    observer = HistogramObserver()
    seconds, processor = [], []
    for _ in range(ROUNDS):
        start, before = time.perf_counter(), time.process_time()
        observer(x)
        seconds.append(time.perf_counter() - start)
        processor.append(time.process_time() - before)
    return observer, seconds, processor


def ours(program, path):
    out = subprocess.run([program, path, str(ROUNDS)], check=True, capture_output=True, text=True)
    return json.loads(out.stdout)


def main(program, values):
    generator = torch.Generator().manual_seed(1)
    ratios = []
    for kind in ("normal", "relu"):
        x = torch.randn(values, generator=generator)
        if kind == "relu":
            x = x.relu()
        with tempfile.TemporaryDirectory() as folder:
            path = str(pathlib.Path(folder) / "x.npz")
            np.savez(path, x=x.numpy())
            mine = ours(program, path)
        observer, seconds, processor = torch_ao(x)
        scale, zero_point = observer.calculate_qparams()
        same = (np.array_equal(np.array(mine["counts"], dtype=np.float32), observer.histogram.numpy())
                and np.float32(mine["min"]) == observer.min_val.numpy() and np.float32(mine["max"]) == observer.max_val.numpy()
                and np.float32(mine["scale"]) == scale.numpy()[0] and mine["zero_point"] == int(zero_point))
        ratio = float(np.median(seconds) / np.median(mine["seconds"]))
        ratios.append(ratio)
        print(f"{kind}: torch.ao {np.median(seconds) * 1e3:.1f} ms, ours {np.median(mine['seconds']) * 1e3:.1f} ms, "
              f"{ratio:.1f} times as fast (processor {np.median(processor) / np.median(mine['processor']):.1f}), results {'equal' if same else 'DIFFERENT'}")
        if not same:
            return 1
    print(f"smallest ratio {min(ratios):.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20_000_000))
