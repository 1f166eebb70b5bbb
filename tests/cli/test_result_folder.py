# SPDX-License-Identifier: Apache-2.0
"""What lies in a result folder: files that load, and what a run that was killed leaves hidden, and who removes it."""

import fcntl
import json
import os
import subprocess
import sys
import time

import numpy as np
import torch
from torch import nn

from harness import PROGRAM, main, run, run_good, sqnr
from models import residual


def test_leavings_of_killed_runs_are_removed(folder):
    """Hidden folders whose process is gone go at the next run, however young (a run makes and locks its own in one step);
    one that is held, or the user's, stays."""
    _, path, npz, _ = residual(folder)
    out, elsewhere = folder / "out", folder / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "mine.txt").write_text("kept")
    words = ["quantize", path, "--data", npz, "--device", "cpu", "--export", "none", "--out", out]
    process = subprocess.Popen([PROGRAM, *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not list(out.glob(".quantscope-??????")) and process.poll() is None:
        time.sleep(0.005)
    process.kill()
    process.wait()
    killed = list(out.glob(".quantscope-??????"))
    assert len(killed) == 1, killed
    names = [".quantscope-held00", ".quantscope-notes", "quantscope-abcdef"]
    for name in names:
        (out / name).mkdir()
        (out / name / "model.int8.ts.pt").write_text("half")
    (out / ".quantscope-young0").mkdir()
    (killed[0] / "deep").mkdir()
    (killed[0] / "deep" / "link").symlink_to(elsewhere)
    (out / ".quantscope-linked").symlink_to(elsewhere)
    for place in (killed[0], *(out / name for name in names)):
        os.utime(place, (time.time() - 3600,) * 2)
    os.utime(out / ".quantscope-young0", (time.time() + 3600,) * 2)  # however slow this machine is
    held = os.open(out / ".quantscope-held00", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    run_good(*words)
    assert not killed[0].exists() and not (out / ".quantscope-young0").exists(), "what killed runs left is still there"
    assert all((out / name / "model.int8.ts.pt").exists() for name in names), sorted(out.iterdir())
    assert (elsewhere / "mine.txt").exists() and (out / ".quantscope-linked").is_symlink()
    os.close(held)
    run_good(*words)
    assert not (out / ".quantscope-held00").exists()


def test_only_exports_of_the_previous_result_are_removed(folder):
    """Whatever a result.json in the folder lists: no file of another name goes, no link, and not the data in use."""
    _, path, npz, _ = residual(folder)
    out = folder / "out"
    out.mkdir()
    data = out / "model.int8.ts.pt"
    torch.save(tuple(torch.from_numpy(array) for array in np.load(npz).values()), data)
    (out / "thesis.txt").write_text("mine")
    (out / "model.reference.pt2").symlink_to(path)
    (out / "model.int8.pt2").write_text("of the previous result")
    exports = {"pt2": "model.int8.pt2", "torchscript": "model.int8.ts.pt", "pt2-reference": "model.reference.pt2", "onnx": "thesis.txt"}
    result = {"format": "quantscope.result", "version": 1, "exports": exports}
    words = ["quantize", path, "--device", "cpu", "--export", "none", "--out", out]
    for listed in (exports, {"pt2": "thesis.txt", "other": "data.npz"}):
        (out / "result.json").write_text(json.dumps({**result, "exports": listed}))
        run_good(*words, "--data", data)
        assert (out / "thesis.txt").read_text() == "mine" and path.exists() and data.exists(), sorted(out.iterdir())
        assert (out / "model.reference.pt2").is_symlink()
    assert not (out / "model.int8.pt2").exists()


def test_scales_beyond_ten_digits(folder):
    """A model that blows its values up: LibTorch's own text of so large a number reads as an integer."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4)).eval()
    with torch.no_grad():
        model[0].weight *= 1e12
        model[2].weight *= 1e2
    x = torch.randn(32, 8)
    torch.export.save(torch.export.export(model, (x[:4],)), folder / "model.pt2")
    np.savez(folder / "data.npz", x=x.numpy())
    run_good("quantize", folder / "model.pt2", "--data", folder / "data.npz", "--device", "cpu", "--out", folder / "out")
    loaded = torch.jit.load(str(folder / "out" / "model.int8.ts.pt"))
    assert sqnr(model(x[:4]), loaded(x[:4])) > 25


class Odd(nn.Module):
    """A tensor returned twice, and outputs of other lengths from call to call."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        y = self.linear(x)
        return y, y, y.mean((0, 2)), torch.relu(y).transpose(0, 1)


@torch.no_grad()
def test_own_metric_of_odd_outputs(folder):
    length = torch.export.Dim("length", min=2, max=64)
    torch.export.save(torch.export.export(Odd().eval(), (torch.randn(2, 5, 4),), dynamic_shapes=({1: length},)), folder / "odd.pt2")
    torch.save([(torch.randn(2, 3 + call, 4),) for call in range(20)], folder / "calls.pt")
    script = folder / "metric.py"
    script.write_text("import sys, numpy as np\na = np.load(sys.argv[1])\nnames = set(a)\n"
                      "assert {'linear.0', 'linear.15', 'linear_1.0', 'mean', 'transpose'} <= names, names\n"
                      "assert 'linear.16' not in names and (a['linear.3'] == a['linear_1.3']).all()\n"
                      "assert a['linear.3'].shape == (2, 6, 4) and a['transpose'].shape == (168, 2, 4)\n"
                      "print(len(names))\n")
    words = ("--data", folder / "calls.pt", "--device", "cpu", "--export", "none", "--out", folder / "out")
    done = run("quantize", folder / "odd.pt2", *words, "--eval", f"{sys.executable} {script}")
    assert done.returncode == 0, done.stderr
    assert "of 20 calls the first 16 are used" in done.stderr, done.stderr
    document = json.loads((folder / "out" / "result.json").read_text())
    assert document["evaluation"] == {"float": 34, "int8": 34}, document["evaluation"]
    assert [output["name"] for output in document["outputs"]] == ["linear", "linear_1", "mean", "transpose"]


def test_what_kernels_were_off_is_told_as_it_is(folder):
    """The certificate never says less than the largest difference."""
    _, path, npz, _ = residual(folder)
    run_good("quantize", path, "--data", npz, "--device", "cpu", "--export", "none", "--out", folder / "out")
    file = folder / "out" / "result.json"
    result = json.loads(file.read_text())
    kernels = [node["kernel"] for node in result["nodes"] if node.get("kernel")]
    for apart, text in ((0.4999, "stayed within 0.4999 steps of"), (0.00001, "stayed within 0.0001 steps of"),
                        (1, "stayed within 1 step of"), (0, "gave exactly the expected results")):
        for kernel in kernels:
            kernel["max_lsb"] = min(apart, 0)
        kernels[0]["max_lsb"] = apart
        file.write_text(json.dumps(result))
        run_good("report", folder / "out", "--html", folder / "report.html")
        assert text in (folder / "report.html").read_text(), text


if __name__ == "__main__":
    main(__name__)
