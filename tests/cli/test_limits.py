# SPDX-License-Identifier: Apache-2.0
"""What a run may take: time, memory, and sizes that nobody can give."""

import importlib.util
import json
import os
import resource
import subprocess
import time

import numpy as np
import torch
from torch import nn

from harness import ALL, PROGRAM, expect_bad, export_model, interrupted, main, run, run_good, run_json, write_recipe
from models import residual

WORDS_OF_LIBRARIES = ("c10::", "DefaultCPUAllocator", "INTERNAL ASSERT", "report a bug", "std::", "/pytorch/", "bad_alloc", "ZeroDivisionError")


class Forever(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        y = self.fc(x)
        while bool(y.abs().sum() >= 0):
            y = torch.relu(y) + 0.5
        return y


def rows(folder):
    """32 rows of four."""
    np.savez(folder / "rows.npz", x=np.random.default_rng(0).normal(size=(32, 4)).astype(np.float32))
    return folder / "rows.npz"


def scripted(folder, model):
    torch.jit.save(torch.jit.script(model.eval()), folder / "model.pt")
    return folder / "model.pt"


def test_a_loop_without_end(folder):
    """--timeout and Ctrl-C end it; nothing is half written."""
    model, data, out = scripted(folder, Forever()), rows(folder), folder / "out"
    words = ("quantize", model, "--data", data, "--device", "cpu", "--out", out)
    started = time.monotonic()
    expect_bad(*words, "--timeout", "2", contains=["model.pt", "node '", "2 s of --timeout"], out=out)
    assert time.monotonic() - started < 30
    expect_bad(*words, "--timeout", "0.05m", contains=["3 s of --timeout"], out=out)
    code, line = interrupted(words, "plan: element types", within=3)
    assert code == 1 and "cancelled" in line and not out.exists(), (code, line)


def test_words_that_are_no_limits(folder):
    for option, words in (("--timeout", ("x", "-1", "0", "nan", "5d", "1e30")), ("--memory", ("x", "0", "-4G", "4X", "nan", "1e40"))):
        for word in words:
            expect_bad("inspect", folder / "none.pt2", f"{option}={word}", contains=[option, word], code=2)


ABSURD = {
    "pad": "torch.nn.functional.pad(x, [0, 100000000000])",
    "repeat": "x.repeat([100000, 100000])",
    "expand": "x.unsqueeze(0).expand(10000000000, -1, -1).clone()",
    "interpolate": "torch.nn.functional.interpolate(x.reshape(1, 1, -1, 4), size=[1000000, 1000000])",
    "upsample": "torch.nn.functional.interpolate(x.reshape(1, 1, -1, 4), scale_factor=[300000.0, 300000.0], mode='bilinear')",
    "zeros": "x + torch.zeros([10000000000, 32, 4]).sum()",
    "full": "x + torch.full([100000000000], 1.0).sum()",
    "arange": "x + torch.arange(100000000000).sum()",
    "one_hot": "x + torch.nn.functional.one_hot(torch.zeros([1000000], dtype=torch.int64), 1000000).sum()",
    "tile": "x.tile([1000000, 100000])",
    "eye": "x + torch.eye(1000000).sum()",
    "linspace": "x + torch.linspace(0.0, 1.0, 100000000000).sum()",
}


def absurd_model(folder, name, expression):
    """A script that ends in the expression of x; scripting wants the class in a file."""
    source = folder / f"{name}_source.py"
    source.write_text("import torch\nfrom torch import nn\n\n\nclass Model(nn.Module):\n"
                      "    def __init__(self):\n        super().__init__()\n        self.fc = nn.Linear(4, 4)\n\n"
                      f"    def forward(self, x):\n        x = torch.relu(self.fc(x))\n        return {expression}\n")
    spec = importlib.util.spec_from_file_location(f"{name}_source", source)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    torch.jit.save(torch.jit.script(module.Model().eval()), folder / f"{name}.pt")
    return folder / f"{name}.pt"


def test_absurd_sizes(folder):
    """Within 4 GB and 20 s: refused at the node with both figures, opened or run."""
    data = rows(folder)

    def little():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    for name, expression in ABSURD.items():
        model = absurd_model(folder, name, expression)
        opens = (("inspect", model),) if ALL or name in ("pad", "zeros") else ()  # to run it, it is opened as well
        for words in (*opens, ("quantize", model, "--data", data, "--device", "cpu", "--out", folder / "out")):
            started = time.monotonic()
            done = subprocess.run([PROGRAM, *map(str, words), "--memory", "4G"], capture_output=True, text=True, timeout=120, check=False, preexec_fn=little)
            took = time.monotonic() - started
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
            lines = done.stderr.splitlines()
            assert done.returncode in (0, 1) and (words[0] == "inspect" or done.returncode == 1), (name, words[0], done.returncode, done.stderr[-300:])
            assert peak < 4 << 20 and took < 60, (name, words[0], peak, took)  # kilobytes; alone it takes seconds
            if done.returncode == 1:
                assert len(lines) == 1 and not [word for word in WORDS_OF_LIBRARIES if word in lines[0]], (name, lines)
                print(name, words[0], lines[0][:200])
            if words[0] == "quantize":
                assert "node '" in lines[0], (name, lines[0])


def test_memory_limit(folder):
    """A run within its limit gives the same, to the bit; another is refused with what to do."""
    _, path, npz, _ = residual(folder)
    words = ("quantize", path, "--data", npz, "--device", "cpu", "--export", "pt2-reference")
    told = run_json("plan", path)["memory"]
    assert told["peak"] == max(told["stages"].values()) and told["batch_size"] == 8
    twice = run_json("plan", path, "--recipe", write_recipe(folder, calibration={"batch_size": 16}))["memory"]
    weights = sum(value.numel() * value.element_size() for value in torch.export.load(path).state_dict.values())
    live = (twice["device"] - told["device"]) // 2  # of a batch of 8: a device needs weights, twice these and 300 MiB
    assert live > 0 and abs(told["device"] - weights - 2 * live - (300 << 20)) < 1 << 16, (told, weights, live)
    assert "of memory for batches of 8" in run_good("plan", path)
    run_good(*words, "--out", folder / "free")
    run_good(*words, "--out", folder / "held", "--memory", str(told["peak"] + (64 << 20)))
    one, other = (json.loads((folder / name / "result.json").read_text()) for name in ("free", "held"))
    for document in (one, other):
        for key in ("timing_s", "peak_rss_bytes", "exports_sha256"):
            document.pop(key)
        for node in document["nodes"]:
            for key in [key for key in node if "time" in key or "seconds" in key]:
                node.pop(key)
    assert one["outputs"] == other["outputs"] and [n.get("error") for n in one["nodes"]] == [n.get("error") for n in other["nodes"]]
    assert (folder / "free" / "observations.npz").read_bytes() == (folder / "held" / "observations.npz").read_bytes()
    expect_bad(*words, "--out", folder / "none", "--memory", "100M", contains=["--memory gives 100 MB", "more with --memory"], out=folder / "none")


def test_batches_that_fit(folder):
    """Where the recipe's batches need more than --memory gives, smaller ones take their place, and more of them: as if the recipe
    said so, with one line. Calls that a list fixes cannot be cut."""
    model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 8, 3, padding=1)).eval()
    export_model(model, (torch.randn(2, 3, 96, 96),), folder / "wide.pt2")
    x = np.random.default_rng(3).normal(size=(16, 3, 96, 96)).astype(np.float32)
    np.savez(folder / "wide.npz", x=x)
    peaks = {size: run_json("plan", folder / "wide.pt2", "--recipe", write_recipe(folder, calibration={"batch_size": size}))["memory"]["peak"] for size in (2, 4, 8)}
    assert peaks[2] < peaks[4] < peaks[8], peaks
    words = ("quantize", folder / "wide.pt2", "--device", "cpu", "--export", "pt2-reference")
    by_hand = write_recipe(folder, calibration={"batch_size": 4, "batches": 4}).rename(folder / "by_hand.json")
    run_good(*words, "--data", folder / "wide.npz", "--recipe", by_hand, "--out", folder / "wanted")
    recipe = write_recipe(folder, calibration={"batch_size": 8, "batches": 2})
    limit = ("--memory", str(peaks[4] + (peaks[8] - peaks[4]) // 2))
    done = run(*words, "--data", folder / "wide.npz", "--recipe", recipe, "--out", folder / "held", *limit)
    told = [line for line in done.stderr.splitlines() if "batches of 4 instead of 8" in line]
    assert done.returncode == 0 and len(told) == 1 and "--memory gives" in told[0], done.stderr
    one, other = (json.loads((folder / name / "result.json").read_text()) for name in ("wanted", "held"))
    assert one["nodes"] == other["nodes"] and one["outputs"] == other["outputs"]
    assert other["peak_rss_bytes"] < peaks[8], (other["peak_rss_bytes"], peaks)
    kept = json.loads((folder / "held" / "recipe.json").read_text())["calibration"]
    assert (kept["batch_size"], kept["batches"]) == (4, 4), kept
    torch.save([torch.from_numpy(x[:8]), torch.from_numpy(x[8:])], folder / "calls.pt")
    expect_bad(*words, "--data", folder / "calls.pt", "--recipe", recipe, "--out", folder / "calls", *limit, contains=["--memory gives"], out=folder / "calls")


def test_a_refused_allocation(folder):
    """Where the system refuses memory the node is named, and the program goes on to say so."""
    class Wide(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 4)

        def forward(self, x):
            return self.fc(x).repeat(20_000, 20_000).sum()

    model, data = scripted(folder, Wide()), rows(folder)

    def limited():
        resource.setrlimit(resource.RLIMIT_DATA, (6 << 30, 6 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    done = subprocess.run([PROGRAM, "quantize", str(model), "--data", str(data), "--device", "cpu", "--out", str(folder / "out")],
                          capture_output=True, text=True, timeout=120, check=False, preexec_fn=limited)
    lines = done.stderr.splitlines()
    assert done.returncode == 1 and len(lines) == 1, (done.returncode, done.stderr[-500:])
    assert "node 'repeat'" in lines[0] and "out of memory" in lines[0] and "GB" in lines[0], lines[0]
    assert not [word for word in WORDS_OF_LIBRARIES if word in lines[0]], lines[0]
    assert not os.path.exists(folder / "out")


def test_whole_numbers(folder):
    """Division by zero and of the least integer, shifts and remainders: numbers or one line, never a signal."""
    data = rows(folder)
    least = "(-9223372036854775807 - 1)"
    for name, expression in {"floordiv": "x + (x.size(0) // (x.size(1) - 4))", "modulo": "x + (x.size(0) % (x.size(1) - 4))",
                             "least": f"x + ({least} // (x.size(1) - 5))", "least_modulo": f"x + ({least} % (x.size(1) - 5))",
                             "tensor_div": "x + (torch.ones([4], dtype=torch.int64) // torch.zeros([4], dtype=torch.int64))",
                             "tensor_least": f"x + torch.floor_divide(torch.full([4], {least}, dtype=torch.int64), torch.full([4], -1, dtype=torch.int64))",
                             "tensor_remainder": "x + torch.remainder(torch.ones([4], dtype=torch.int64), torch.zeros([4], dtype=torch.int64))",
                             "tensor_fmod": f"x + torch.fmod(torch.full([4], {least}, dtype=torch.int64), torch.full([4], -1, dtype=torch.int64))",
                             "tensor_gcd": f"x + torch.gcd(torch.full([4], {least}, dtype=torch.int64), torch.full([4], -1, dtype=torch.int64))",
                             "tensor_lcm": f"x + torch.lcm(torch.full([4], {least}, dtype=torch.int64), torch.full([4], 0, dtype=torch.int64))",
                             "tensor_shift": "x + torch.bitwise_left_shift(torch.ones([4], dtype=torch.int64), torch.full([4], 70, dtype=torch.int64))"}.items():
        model = absurd_model(folder, name, expression)
        done = run("quantize", model, "--data", data, "--device", "cpu", "--export", "none", "--out", folder / name)
        lines = done.stderr.splitlines()
        assert done.returncode in (0, 1), (name, done.returncode, done.stderr[-300:])
        assert done.returncode == 0 or len(lines) == 1 and not [word for word in WORDS_OF_LIBRARIES if word in lines[0]], (name, lines)


if __name__ == "__main__":
    main(__name__)
