# SPDX-License-Identifier: Apache-2.0
"""The same recipe on a model's .pt2 and on its TorchScript, traced and scripted: same plan, same parameters."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import torch
from torch import nn

QUANTSCOPE = os.environ["QUANTSCOPE"]
SLOW = "slow" in sys.argv


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.front = nn.Linear(8, 8)
        self.lstm = nn.LSTM(8, 12, num_layers=2, batch_first=True)
        self.fc = nn.Linear(12, 4)

    def forward(self, x):
        y, _ = self.lstm(self.front(x))
        return self.fc(y)


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2, bias=False)
        self.bn = nn.BatchNorm2d(8)
        self.act = nn.ReLU6(inplace=True)
        self.body = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.ReLU())
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc = nn.Linear(4, 5)

    def forward(self, x):
        y = self.act(self.bn(self.stem(x)))
        y = self.up(self.body(y) + y)
        y = torch.cat([self.pool(y), self.pool(torch.nn.functional.hardswish(y))], 2)
        return self.fc(torch.flatten(torch.mean(y, 2, keepdim=True), 1))


def models():
    torch.manual_seed(0)
    if SLOW:
        import torchvision

        for name in ("resnet18", "mobilenet_v2"):
            net = getattr(torchvision.models, name)(weights=None)
            net.train()
            with torch.no_grad():
                net(torch.randn(4, 3, 64, 64))
            yield name, net.eval(), (4, 3, 64, 64)
        return
    yield "small", Small().eval(), (4, 3, 16, 16)
    yield "lstm", Lstm().eval(), (4, 6, 8)


def run(*args):
    done = subprocess.run([QUANTSCOPE, *args], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"{args}: {done.stderr}")
    return done.stdout


def decisions(document):
    """What the plan says of every operator that a pattern knows, or that is quantized."""
    keys = ("op", "module", "module_class", "call_index", "quantized", "pattern", "qconfig")
    # TorchScript does not tell the main script's name.
    return [tuple(str(n.get(k)).replace("__main__.", "") for k in keys) for n in document["nodes"]
            if n["op"] not in ("input", "parameter", "constant") and (n["pattern"] or n["quantized"])]


def traced(plan):
    """A trace does not tell `torch.mean(y)` from `y.mean()`, which people write more often."""
    return [tuple(part.replace("torch.mean", "mean") for part in row) for row in plan]


def parameters(document):
    rows = []
    for n in document["nodes"]:
        if n["op"] in ("parameter", "constant") or not (n["output"] or n["weight"]):
            continue
        for part in (n["output"], n["weight"]):
            rows.append((n["op"], n["module"], part and (part["dtype"], part["scale"], part["zero_point"])))
    return rows


class Parity(unittest.TestCase):
    def test_plan_and_parameters(self):
        for name, net, shape in models():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder, torch.no_grad():
                x = torch.randn(*shape)
                paths = {way: os.path.join(folder, f"{name}.{way}") for way in ("pt2", "traced.pt", "scripted.pt")}
                torch.export.save(torch.export.export(net, (x,)), paths["pt2"])
                torch.jit.trace(net, x).save(paths["traced.pt"])
                torch.jit.script(net).save(paths["scripted.pt"])
                data = os.path.join(folder, "data.npz")
                np.savez(data, x=torch.randn(16, *shape[1:]).numpy())
                # A .pt2 without dynamic shapes fixes the batch size; the others take it from the recipe.
                recipe = os.path.join(folder, "recipe.json")
                with open(recipe, "w") as f:
                    json.dump({"format": "quantscope.recipe", "version": 1, "backend": "x86",
                               "calibration": {"batch_size": shape[0], "batches": 16}}, f)
                plans, values = {}, {}
                for way, path in paths.items():
                    plans[way] = decisions(json.loads(run("plan", path, "--recipe", recipe, "--json")))
                    out = os.path.join(folder, "out-" + way)
                    run("quantize", path, "--recipe", recipe, "--data", data, "--out", out, "--export",
                        "torchscript,pt2-reference")
                    with open(os.path.join(out, "result.json")) as f:
                        values[way] = parameters(json.load(f))
                self.assertGreaterEqual(len(plans["pt2"]), 3)
                self.assertGreaterEqual(len(values["pt2"]), 3)
                for way in ("traced.pt", "scripted.pt"):
                    wanted = traced(plans["pt2"]) if way == "traced.pt" else plans["pt2"]
                    self.assertEqual(wanted, plans[way], way)
                    self.assertEqual(values["pt2"], values[way], way)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
