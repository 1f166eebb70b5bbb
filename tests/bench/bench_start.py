# SPDX-License-Identifier: Apache-2.0
"""How soon the programs are there, and whether memory stays flat.

    bench_start.py BUILD [--rounds 5] [--files FOLDER] [--only start|memory]

start: from process start to its end, by the clock and in processor time (user and system, with children), each with its bound: `inspect` of resnet18,
the empty window, the window with a decoder of 20,000 nodes and with a project whose results it shows (offscreen, until the picture is laid out,
painted and written), `inspect` of 2,750 blocks of convolution, batch norm, relu and addition as TorchScript and as .pt2 (27,500 nodes), and what
`torch.jit.load` takes for the former. memory: peak memory of `quantize` for 4, 16 and 64 batches, next to the bound: weights, twice the largest live
set, 300 MB.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import torch
from torch import nn

import models
from bench_pipeline import process

LARGE, SMALLER, WIDTH = 740, 455, 16  # layers: 32,562 and 20,022 nodes, of them 19,240 and 11,830 operators
BLOCKS, CHANNELS = 2750, 4
LOAD = "import sys, time, torch; torch.set_num_threads(1); start = time.process_time(); torch.jit.load(sys.argv[1]); print(time.process_time() - start)"


class Layer(nn.Module):
    """One layer of a decoder: 27 operators."""

    def __init__(self):
        super().__init__()
        self.before, self.after = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.q, self.k, self.v, self.o = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.up, self.gate, self.down = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        y = self.before(x)
        q, k, v = (f(y).unflatten(-1, (2, WIDTH // 2)).transpose(1, 2) for f in (self.q, self.k, self.v))
        scores = torch.softmax(q @ k.transpose(-1, -2) / 3.0, -1)
        x = x + self.o((scores @ v).transpose(1, 2).flatten(2))
        y = self.after(x)
        return x + self.down(torch.nn.functional.silu(self.gate(y)) * self.up(y))


def decoder(folder, layers):
    path = pathlib.Path(folder) / f"decoder{layers}.pt2"
    if not path.exists():
        model = nn.Sequential(*(Layer() for _ in range(layers))).eval()
        torch.export.save(torch.export.export(model, (torch.randn(1, 4, WIDTH),)), path)
    return str(path)


class Block(nn.Module):
    """Ten nodes: four operators and six tensors; in a .pt2 also the counter of batches."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(CHANNELS, CHANNELS, 1), nn.BatchNorm2d(CHANNELS)

    def forward(self, x):
        return x + torch.relu(self.norm(self.conv(x)))


def blocks(folder):
    """The same chain of blocks as TorchScript and as .pt2; they take two minutes."""
    traced, exported = (pathlib.Path(folder) / f"blocks{end}" for end in (".pt", ".pt2"))
    model, x = nn.Sequential(*(Block() for _ in range(BLOCKS))).eval(), torch.randn(1, CHANNELS, 4, 4)
    if not traced.exists():
        torch.jit.trace(model, x, check_trace=False).save(traced)
    if not exported.exists():
        torch.export.save(torch.export.export(model, (x,)), exported)
    return str(traced), str(exported)


def project(build, model, data, folder):
    """A project of the model and eight images, with the results of a run, in one folder: the window asks about files elsewhere."""
    folder = pathlib.Path(folder)
    shutil.copy(model, folder / "net.pt2")
    images = np.load(data)
    np.savez(folder / "few.npz", **{key: images[key][:8] for key in images.files})
    subprocess.run([f"{build}/bin/quantscope", "quantize", folder / "net.pt2", "--data", folder / "few.npz", "--device", "cpu", "--export", "none",
                    "--out", folder / "results"], check=True, capture_output=True)
    path = folder / "net.project.json"
    path.write_text(json.dumps({"format": "quantscope.project", "version": 1, "model": "net.pt2", "data": "few.npz", "device": "cpu",
                                "result": "results"}))
    return str(path)


def timed(what, bound, command, rounds):
    runs = [process(command) for _ in range(rounds)]
    if not all(run["ok"] for run in runs):
        print(f"{what}: failed: {runs[-1]['error']}")
        return
    print(f"{what}: {statistics.median(r['wall'] for r in runs):.2f} s, best {min(r['wall'] for r in runs):.2f} s, "
          f"{statistics.median(r['cpu'] for r in runs):.2f} s of processor" + (f" (bound {bound} s)" if bound else ""), flush=True)


def bench_start(build, resnet, data, files, rounds):
    program, window = f"{build}/bin/quantscope", f"{build}/bin/quantscope-ui"
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    os.environ.pop("OMP_WAIT_POLICY", None)  # the programs set it themselves
    large, smaller = decoder(files, LARGE), decoder(files, SMALLER)
    traced, exported = blocks(files)
    with tempfile.TemporaryDirectory() as folder:
        picture = ["--screenshot", f"{folder}/w.png", "--size", "1280x800"]
        timed("inspect of resnet18", 0.25, [program, "inspect", resnet], rounds)
        timed("empty window", 0.5, [window, *picture], rounds)
        timed("window with resnet18", 0.5, [window, resnet, *picture], rounds)
        timed("window with a decoder of 20,022 nodes", 1.5, [window, smaller, *picture], rounds)
        saved = project(build, resnet, data, folder)
        shown = []
        for _ in range(rounds):
            run = process([window, saved, *picture])
            facts = json.loads(pathlib.Path(f"{folder}/w.png.json").read_text())
            shown.append(run["wall"] - facts["seconds"] + facts["result_seconds"])
        print(f"window with a project, results shown: {statistics.median(shown):.2f} s, best {min(shown):.2f} s (bound 1.0 s)", flush=True)
        timed("the same, converted and with a preview", None, [window, saved, *picture], rounds)
    timed("inspect of a decoder of 32,562 nodes as JSON", 2.5, [program, "inspect", large, "--json"], rounds)
    timed("inspect of the blocks, .pt2", 2.0, [program, "inspect", exported], rounds)
    timed("inspect of the blocks, TorchScript", 3.0, [program, "inspect", traced], rounds)
    loads = [float(subprocess.run([sys.executable, "-c", LOAD, traced], check=True, capture_output=True).stdout) for _ in range(rounds)]
    print(f"torch.jit.load of the blocks: {statistics.median(loads):.2f} s of processor")


def bench_memory(build, model, data):
    facts = json.loads(subprocess.run([f"{build}/tests/bench_calibration", model, data, "histogram", "1", "1"], check=True, capture_output=True).stdout)
    bound = (facts["weights"] + 2 * facts["live"]) / 2 ** 20 + 300
    print(f"weights {facts['weights'] / 2 ** 20:.0f} MB, largest live set {facts['live'] / 2 ** 20:.0f} MB, bound {bound:.0f} MB")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        images = np.load(data)
        key = images.files[0]
        many = np.concatenate([images[key]] * 4)[:512]
        np.savez(folder / "many.npz", **{key: many})
        for batches in (4, 16, 64):
            recipe = folder / "recipe.json"
            recipe.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": "x86",
                                          "calibration": {"batch_size": 8, "batches": batches}}))
            run = process([f"{build}/bin/quantscope", "quantize", model, "--recipe", str(recipe), "--data", str(folder / "many.npz"), "--device", "cpu",
                           "--out", str(folder / f"out{batches}")])
            print(f"quantize, {batches} batches of 8: {run['mb']:.0f} MB" if run["ok"] else f"failed: {run['error']}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--files", default=str(pathlib.Path(tempfile.gettempdir()) / "quantscope-bench"))
    parser.add_argument("--only", choices=("start", "memory"))
    options = parser.parse_args()
    resnet, data = models.files("resnet18", options.files)
    if options.only != "memory":
        bench_start(options.build, resnet, data, options.files, options.rounds)
    if options.only != "start":
        bench_memory(options.build, resnet, data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
