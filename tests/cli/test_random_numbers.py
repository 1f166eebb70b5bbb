# SPDX-License-Identifier: Apache-2.0
"""Models that draw random numbers: every form draws the same, and nothing is said to compute something else."""

import json
import sys

import numpy as np
import torch
from harness import export_model, main, run, run_good, run_json
from torch import nn


class Branch(nn.Module):
    """Noise inside of a branch, in one alone."""

    def __init__(self):
        super().__init__()
        self.fc, self.out = nn.Linear(6, 8), nn.Linear(8, 4)

    def forward(self, x):
        h = self.fc(x)
        h = torch.cond(h.sum() > 1e6, lambda v: v - 1, lambda v: v + torch.rand_like(v), (h,))
        return self.out(h)


class Vae(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.mu, self.sigma, self.decode = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 4, 1), nn.Conv2d(8, 4, 1), nn.Conv2d(4, 3, 3, padding=1)

    def forward(self, x):
        h = torch.relu(self.encode(x))
        mu = self.mu(h)
        return self.decode(mu + torch.randn_like(mu) * torch.exp(0.5 * self.sigma(h)))


def files_of(folder, model, shape, train=False):
    torch.manual_seed(1)
    data = torch.randn(32, *shape)
    np.savez(folder / "data.npz", x=data.numpy())
    export_model(model, (data[:2],), folder / "model.pt2", train=train)
    return folder / "model.pt2", folder / "data.npz"


def outputs(document):
    return [(one["cumulative"]["sqnr_db"], one["lowered"]["sqnr_db"]) for one in document["outputs"]]


def test_every_form_draws_the_same(folder):
    model, data = files_of(folder, Vae(), (3, 8, 8))
    words = ["quantize", model, "--data", data, "--device", "cpu", "--out"]
    done = run(*words, folder / "out")
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if "random numbers" in line]
    assert line.startswith("warning: 'randn_like' draws random numbers") and "an input of the model" in line, line
    assert "reading it back" not in done.stderr, done.stderr  # the names are kept in the files: they compute the same here
    run_good(*words, folder / "again")
    results = [json.loads((folder / name / "result.json").read_text()) for name in ("out", "again")]
    told = run_json("compare", model, "--result", folder / "out", "--data", data)
    assert outputs(results[0]) == outputs(results[1]) == outputs(told), (outputs(results[0]), outputs(told))
    reference, lowered = outputs(told)[0]
    assert reference > 25 and abs(reference - lowered) < 1, (reference, lowered)


def test_noise_in_a_branch(folder):
    """TorchScript runs branches in its own way: the file is written, and not compared."""
    model, data = files_of(folder, Branch(), (6,))
    done = run("quantize", model, "--data", data, "--device", "cpu", "--export", "torchscript", "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if "reading it back" in line]
    assert line.startswith("warning: model.int8.ts.pt was written") and "rand_like' draws random numbers" in line, line
    result = json.loads((folder / "out" / "result.json").read_text())
    assert outputs(result)[0][0] > 25, outputs(result)


def test_files_that_draw_are_not_compared(folder):
    """Each runtime has a stream of its own."""
    for name, network, shape, node in (("vae", Vae(), (3, 8, 8), "randn_like"),
                                       ("train", nn.Sequential(nn.Linear(6, 8), nn.Dropout(0.3), nn.Linear(8, 4)), (6,), "dropout")):
        place = folder / name
        place.mkdir()
        model, data = files_of(place, network, shape, train=name == "train")
        done = run("quantize", model, "--data", data, "--device", "cpu", "--out", place / "out")
        assert done.returncode == 0, done.stderr
        assert sum(line.startswith("warning:") for line in done.stderr.splitlines()) == 1, done.stderr
        done = run("verify", place / "out", "--data", data, "--python", sys.executable, "--runtime", "torch.jit,torch.export", "--json")
        assert done.returncode == 0, done.stderr
        verdicts = [v for v in json.loads(done.stdout)["verdicts"] if v["runtime"]]
        assert len(verdicts) == 2 and all(v["outcome"] == "not compared" and f"'{node}' draws random numbers" in v["reason"] for v in verdicts), verdicts
        assert all("model.eval()" in v["reason"] for v in verdicts), verdicts


if __name__ == "__main__":
    main(__name__)
