# SPDX-License-Identifier: Apache-2.0
"""Models to search cures for, and searches, for the tests of `tune`."""

import json

import cure_models
import numpy
import torch
from harness import export_model, run

LIMITS = ("--samples", 64)
UNSCALED = ("--allow", "range,float,float_result,bound,split,round,bias")  # without cures that scale channels


def sick(folder):
    """The words that name a network of 64 samples, one channel of which is far larger than the others."""
    return cure_models.outlier_channel().sick.write(folder / "sick")


def tuned(words, out, *more, code=0):
    """The document of a search, as it is printed and as it is kept; it ends with this code, if one is given."""
    done = run("tune", *words, "--out", out, *LIMITS, *more, "--json")
    assert code is None or done.returncode == code, f"exit {done.returncode} instead of {code}: {done.stderr}"
    assert done.stdout.encode() == out.with_suffix(".tune.json").read_bytes()
    return json.loads(done.stdout)


def best(search):
    return search["trials"][search["best"]]


def given(folder, network, data, dynamic=True):
    folder.mkdir()
    torch.manual_seed(4)
    export_model(network.eval(), (data[:2],), folder / "model.pt2", dynamic)
    numpy.savez(folder / "data.npz", x=data.numpy())
    return [folder / "model.pt2", "--data", folder / "data.npz", "--device", "cpu"]
