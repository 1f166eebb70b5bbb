# SPDX-License-Identifier: Apache-2.0
"""Calibration and comparison on a device beside PyTorch's float forward of the same batches, in one run; started by ../gpu.sh.

    bench_gpu.py PROGRAM [--device cuda|cpu] [--quick] [--models resnet18,mobilenet_v2,vit_b_16] [--rounds 2] [--minutes 8] [--files FOLDER]

`quantize` calibrates and compares on N batches each; then calibrates on 2 N; then compares on 2 N. The differences, divided by N, are the cost of a
batch of calibration and of comparison: seconds, calls of the CUDA runtime, copies. What is left is the start-up. PyTorch's forward includes the copy
of a batch to the device from pinned memory.
"""
import argparse
import json
import pathlib
import statistics
import sys
import tempfile
import time

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import count_cuda  # noqa: E402
import models  # noqa: E402
from bench_pipeline import process  # noqa: E402

PER_TENSOR = {"dtype": "quint8", "qscheme": "per_tensor_affine", "reduce_range": True}
OBSERVERS = {"histogram": (1.05, {"observer": "histogram", **PER_TENSOR}),
             "minmax": (1.05, {"observer": "minmax", **PER_TENSOR}),
             "per channel": (1.10, {"observer": "per_channel_minmax", "dtype": "quint8", "qscheme": "per_channel_affine", "ch_axis": 1, "reduce_range": True})}
WEIGHT = {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric", "ch_axis": 0}
LIBRARIES = 300  # MiB of the prediction
COPIES = ("launches", "copies_to_device", "copies_to_host", "stream_waits", "device_waits", "event_waits", "host_allocations", "device_allocations")


class Sizes:
    """Samples of a batch, side of an image, batches of the shorter run."""

    def __init__(self, quick, device):
        self.batch, self.side, self.batches = (8, 64, 4) if quick else (32, 224, 8) if device != "cpu" else (8, 224, 4)


def exported(name, sizes, files):
    """The network's .pt2, made once for a folder."""
    path = files / f"{name}-{sizes.side}.pt2"
    if not path.exists():
        example = torch.randn(2, 3, sizes.side, sizes.side)
        shapes = ({0: torch.export.Dim("batch", min=1, max=1024)},)
        torch.export.save(torch.export.export(models.network(name), (example,), dynamic_shapes=shapes), path)
    return path


def images(sizes, files):
    """{batches: .npz} for N and 2 N, and the 2 N batches as tensors."""
    count = 2 * sizes.batches * sizes.batch
    x = torch.randn(count, 3, sizes.side, sizes.side, generator=torch.Generator().manual_seed(1))
    paths = {batches: files / f"images-{batches}x{sizes.batch}-{sizes.side}.npz" for batches in (sizes.batches, 2 * sizes.batches)}
    for batches, path in paths.items():
        if not path.exists():
            np.savez(path, x=x[:batches * sizes.batch].numpy())
    return paths, x.split(sizes.batch)


def recipe_of(observer, sizes, batches, folder):
    path = folder / "recipe.json"
    path.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": "x86",
                                "qconfigs": {"bench": {"activation": OBSERVERS[observer][1], "weight": WEIGHT}}, "mapping": {"global": "bench"},
                                "calibration": {"batch_size": sizes.batch, "batches": batches}}))
    return path


@torch.no_grad()
def torch_forward(net, batches, device):
    """Seconds of a batch in eager mode, from memory that is pinned for a GPU, after one batch that warms up."""
    on_gpu = device != "cpu"
    net = net.to(device)
    given = [batch.pin_memory() if on_gpu else batch for batch in batches]
    net(given[0].to(device))
    if on_gpu:
        torch.cuda.synchronize()
    start = time.perf_counter()
    for batch in given:
        net(batch.to(device, non_blocking=True))
    if on_gpu:
        torch.cuda.synchronize()
    return (time.perf_counter() - start) / len(given)


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder, self.files = options, folder, pathlib.Path(options.files)
        self.files.mkdir(parents=True, exist_ok=True)
        self.sizes = Sizes(options.quick, options.device)
        self.library = count_cuda.built(folder) if options.device != "cpu" else None
        self.end = time.monotonic() + 60 * options.minutes
        self.data, self.batches = images(self.sizes, self.files)
        self.above, self.predicted = [], {}

    def quantized(self, model, observer, calibrated, compared):
        """(facts of one run on so many batches, its error)"""
        calls = self.folder / "calls"
        calls.unlink(missing_ok=True)
        words = [self.options.program, "quantize", str(model), "--recipe", str(recipe_of(observer, self.sizes, calibrated, self.folder)), "--data",
                 str(self.data[2 * self.sizes.batches]), "--compare-on", str(self.data[compared]), "--device", self.options.device, "--export", "none", "--out", str(self.folder / "out")]
        run = process(words, count_cuda.counting(self.library, calls) if self.library else None)
        if not run["ok"]:
            return None, run["error"]
        document = json.loads((self.folder / "out" / "result.json").read_text())
        return {"wall": run["wall"], "stages": document["timing_s"], "calls": count_cuda.counted(calls), "device": document["device"]}, None

    def run(self, names):
        """Observer by observer, so that every network has its first figures before the time is over."""
        nets = {name: models.network(name) for name in names}
        self.predicted = {name: self.memory(name, exported(name, self.sizes, self.files)) for name in names}
        for observer in OBSERVERS:
            for name in names:
                if time.monotonic() > self.end:
                    print(f"{name}, {observer}: left out, no time is left")
                    continue
                self.observer(name, nets[name], exported(name, self.sizes, self.files), observer)

    def observer(self, name, net, model, observer):
        few, many = self.sizes.batches, 2 * self.sizes.batches
        runs, floats = {(few, few): [], (many, few): [], (few, many): []}, []
        for _ in range(self.options.rounds):  # in turn
            for amounts, facts in runs.items():
                told, error = self.quantized(model, observer, *amounts)
                if error:
                    print(f"{name}, {observer}: failed: {error}")
                    self.above.append(f"{name}, {observer}: failed")
                    return
                facts.append(told)
            floats.append(torch_forward(net, self.batches, self.options.device))
        self.tell(name, observer, list(runs.values()), statistics.median(floats))

    def tell(self, name, observer, runs, forward):
        added, (base, calibrated, compared) = self.sizes.batches, runs

        def batch_of(more, read):
            return statistics.median((read(b) - read(a)) / added for a, b in zip(base, more))

        calibrate = batch_of(calibrated, lambda run: run["stages"]["calibrate"])
        compare = batch_of(compared, lambda run: run["stages"]["compare"])
        start = statistics.median(run["wall"] for run in base) - added * (calibrate + compare)
        bound, ratio = OBSERVERS[observer][0], calibrate / forward
        is_above = ratio > bound
        if is_above:
            self.above.append(f"{name}, {observer}: {ratio:.2f}")
        print(f"{name}, {observer}: calibration / torch float {ratio:.2f} (bound {bound}{': above' if is_above else ''}), {self.sizes.batch / calibrate:.0f} images/s "
              f"(torch float {self.sizes.batch / forward:.0f}); comparison / two forwards {compare / (2 * forward):.2f}; start-up {start:.2f} s; on {base[0]['device']}", flush=True)
        if not base[0]["calls"]:
            print(f"{name}, {observer}: no copies counted: " + ("it ran on the CPU" if self.options.device == "cpu" else "no C compiler, or nothing was called"))
            return
        for what, more in (("calibration", calibrated), ("comparison", compared)):
            print(f"{name}, {observer}: a batch of {what}: "
                  + ", ".join(f"{kind} {batch_of(more, lambda run, kind=kind: run['calls'][kind]):.1f}" for kind in COPIES), flush=True)
        peak = max(run["calls"]["peak_device_bytes"] for facts in runs for run in facts) / 2**20
        print(f"{name}, {observer}: peak allocated on the device {peak:.0f} MiB, {peak / (self.predicted[name] - LIBRARIES):.2f} of the prediction without libraries "
              f"({self.predicted[name] - LIBRARIES:.0f} MiB)", flush=True)

    def memory(self, name, model):
        """Tells what is predicted for a run; returns the MiB that must be free on a device."""
        recipe = recipe_of("histogram", self.sizes, self.sizes.batches, self.folder)
        planned = process([self.options.program, "plan", str(model), "--recipe", str(recipe), "--json"])
        assert planned["ok"], planned["error"]
        memory = json.loads(planned["out"])["memory"]
        predicted = memory["device"] / 2**20
        print(f"{name}: predicted for batches of {memory['batch_size']}: {predicted:.0f} MiB on a device; main memory, MiB: "
              + ", ".join(f"{stage} {size / 2**20:.0f}" for stage, size in memory["stages"].items()), flush=True)
        return predicted


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--models")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--files", default=str(pathlib.Path(tempfile.gettempdir()) / "quantscope-bench-gpu"))
    options = parser.parse_args()
    options.models = options.models or ("resnet18" if options.quick else "resnet18,mobilenet_v2,vit_b_16")
    options.rounds = options.rounds or (1 if options.quick else 2)
    if options.device != "cpu" and not torch.cuda.is_available():
        print("no device: PyTorch sees no GPU; nothing is measured (--device cpu tries the script)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, pathlib.Path(folder))
        bench.run(options.models.split(","))
    print("above their bounds: " + ("; ".join(bench.above) or "none"))
    return 1 if any("failed" in one for one in bench.above) else 0


if __name__ == "__main__":
    sys.exit(main())
