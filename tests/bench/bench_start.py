# SPDX-License-Identifier: Apache-2.0
"""How soon the programs are there, and whether memory stays flat.

    bench_start.py BUILD [--rounds 5] [--files FOLDER] [--only start|memory]

start: `inspect` of resnet18 and of a decoder of 20,000 operators, and the window with resnet18 (offscreen, until its picture is laid out and
painted), each from process start, processor and wall seconds. memory: peak memory of `quantize` for 4, 16 and 64 batches, next to the bound:
weights, twice the largest live set, 300 MB.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np
import torch
from torch import nn

import models
from bench_pipeline import process

LAYERS, WIDTH = 740, 16


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


def decoder(folder):
    path = pathlib.Path(folder) / "decoder.pt2"
    if not path.exists():
        model = nn.Sequential(*(Layer() for _ in range(LAYERS))).eval()
        torch.export.save(torch.export.export(model, (torch.randn(1, 4, WIDTH),)), path)
    return str(path)


def timed(what, bound, command, rounds):
    runs = [process(command) for _ in range(rounds)]
    if not all(run["ok"] for run in runs):
        print(f"{what}: failed: {runs[-1]['error']}")
        return
    print(f"{what}: {statistics.median(r['wall'] for r in runs):.2f} s, best {min(r['wall'] for r in runs):.2f} s, "
          f"{statistics.median(r['cpu'] for r in runs):.2f} s of processor (bound {bound} s)", flush=True)


def bench_start(build, resnet, files, rounds):
    program = f"{build}/bin/quantscope"
    timed("inspect resnet18", 1.0, [program, "inspect", resnet, "--json"], rounds)
    large = decoder(files)
    done = subprocess.run([program, "inspect", large, "--json"], check=True, capture_output=True)
    operators = sum(node["op"] not in ("input", "parameter", "constant") for node in json.loads(done.stdout)["nodes"])
    timed(f"inspect a decoder of {operators} operators", 2.5, [program, "inspect", large, "--json"], rounds)
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    with tempfile.TemporaryDirectory() as folder:
        timed("window with resnet18", 1.5, [f"{build}/bin/quantscope-ui", resnet, "--screenshot", f"{folder}/w.png", "--size", "1280x800"], rounds)


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
        bench_start(options.build, resnet, options.files, options.rounds)
    if options.only != "start":
        bench_memory(options.build, resnet, data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
