# SPDX-License-Identifier: Apache-2.0
"""On a GPU the host hands work over and does not wait: calls of the CUDA runtime for a batch of calibration and of comparison."""

import json
import subprocess
import sys

import numpy as np
import torch
from harness import PROGRAM, SOURCE, export_model, main, run_json, write_recipe
from torch import nn

sys.path.insert(0, str(SOURCE / "tests" / "bench" / "gpu"))
import count_cuda  # noqa: E402

BATCH, FEW, MANY = 4, 4, 20
OF_AN_OPERATOR, OF_AN_OBSERVER, OF_AN_OUTPUT = 6, 4, 6  # launches


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return self.fc(self.body(x))


def calls(folder, library, model, recipe, calibrated, compared):
    """(result document, calls of the whole run)"""
    for name, batches in (("data", calibrated), ("test", compared)):
        np.savez(folder / f"{name}.npz", x=np.random.default_rng(batches).standard_normal((BATCH * batches, 3, 32, 32)).astype("f4"))
    counts = folder / "calls"
    counts.unlink(missing_ok=True)
    words = ["quantize", model, "--recipe", recipe, "--data", folder / "data.npz", "--compare-on", folder / "test.npz", "--device", "cuda", "--export", "none", "--out", folder / "out"]
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, env=count_cuda.counting(library, counts), check=False)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "out" / "result.json").read_text()), count_cuda.counted(counts)


def test_calls_of_a_batch(folder):
    library = count_cuda.built(folder)
    assert library, "no C compiler"
    torch.manual_seed(1)
    model, recipe = folder / "net.pt2", write_recipe(folder, calibration={"batch_size": BATCH, "batches": 0})
    export_model(Net(), (torch.randn(2, 3, 32, 32),), model)
    operators = sum(node["op"] not in ("input", "output", "parameter", "buffer") for node in run_json("inspect", model)["nodes"])
    document, base = calls(folder, library, model, recipe, FEW, FEW)
    assert document["device"].startswith("cuda") and base["launches"] > 0, (document["device"], base)
    observers = sum(1 for node in document["nodes"] if node.get("output"))
    for what, amounts in (("calibration", (MANY, FEW)), ("comparison", (FEW, MANY))):
        counts = calls(folder, library, model, recipe, *amounts)[1]
        each = {name: (counts[name] - base[name]) / (MANY - FEW) for name in base}
        print(f"a batch of {what}: {({name: round(number, 2) for name, number in each.items()})}")
        forwards = 1 if what == "calibration" else 4  # float, reference form, and what the error terms run again
        assert each["launches"] <= forwards * (OF_AN_OPERATOR * operators + OF_AN_OBSERVER * observers + OF_AN_OUTPUT), each
        assert each["device_waits"] == 0 and each["host_allocations"] <= 1 and each["device_allocations"] <= 1, each
        if what == "calibration":  # one copy of the input; results are collected for many batches at once
            assert each["copies_to_device"] <= 1.5 and each["copies_to_host"] <= 0.5 and each["stream_waits"] <= 0.5, each


if __name__ == "__main__":
    if not torch.cuda.is_available():
        print("no GPU")
        sys.exit(77)
    main(__name__)
