# SPDX-License-Identifier: Apache-2.0
"""What searches and trainings leave in a gate and among kept runs: `check` takes every kind of cure, and `--strict` fails on one that no longer
fits; a kept run has the name of its trial, and its trained model."""

import json
import shutil

import numpy
import torch
from torch import nn

from edits import op
from harness import export_model, main, run, run_good, run_json
from test_runs import project_of
from test_train import CPU
from tune_searches import best, tuned

TAKING = {"wide": {"activation": {"observer": "minmax", "dtype": "quint8", "reduce_range": True},
                   "weight": {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric"}}}


class Every(nn.Module):
    """Attention with a stored mask, and two linears in a row: a place for each kind of cure."""

    def __init__(self, width=16):
        super().__init__()
        self.norm, self.left, self.right, self.value = nn.LayerNorm(16), nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)
        self.body, self.relu, self.tail = nn.Linear(16, width), nn.ReLU(), nn.Linear(width, 4)
        self.register_buffer("mask", torch.triu(torch.full((6, 6), -1e9), 1))

    def forward(self, x):
        y = self.norm(x)
        scores = torch.matmul(self.left(y), self.right(y).transpose(1, 2)) / 4 + self.mask
        return self.tail(self.relu(self.body(torch.matmul(torch.softmax(scores, -1), self.value(y)))))


LEFT, RIGHT, BODY, TAIL = (op(name, "linear.default") for name in ("left", "right", "body", "tail"))
CURES = [
    {"cure": "range", "at": BODY, "qconfig": "wide"},
    {"cure": "float", "at": BODY},
    {"cure": "float_result", "at": TAIL},
    {"cure": "bound", "at": {"stored": "mask"}, "bound": 200.0},
    {"cure": "dynamic", "at": TAIL, "qconfig": "default_dynamic"},
    {"cure": "split", "at": LEFT, "nodes": [RIGHT], "channels": [5]},
    {"cure": "equalize", "at": BODY},
    {"cure": "smooth", "at": op("norm", "layer_norm.default"), "scales": [1.0] * 8 + [2.0] * 8},
]


def given(folder, network=None):
    folder.mkdir()
    torch.manual_seed(7)
    network, x = (network or Every()).eval(), torch.randn(64, 6, 16)
    export_model(network, (x[:2],), folder / "model.pt2", dynamic=True)
    numpy.savez(folder / "data.npz", x=x.numpy())
    return [folder / "model.pt2", "--data", folder / "data.npz", *CPU]


def cured(path, cures):
    path.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "backend": "x86", "mapping": {"global": "x86"}, "qconfigs": TAKING, "cures": cures}))
    return path


def lowered(out):
    return json.loads((out / "result.json").read_text())["outputs"][0]["lowered"]["sqnr_db"]


def kinds():
    """Those that the program knows, from its own suggestion."""
    text = " ".join(run_good("tune", "--help").split())
    return set(text.split("kinds of cures: ")[1].split(", or all")[0].split(", "))


def test_the_gate_takes_every_cure(folder):
    words = given(folder / "every")
    run_good("train", *words, "--steps", 5, "--out", folder / "trained")
    training = json.loads((folder / "trained" / "recipe.json").read_text())["cures"][0]
    tuned(words, folder / "rounded.json", "--goal", "sqnr 90", "--keep-int8", 100, "--allow", "round,bias", code=1)
    rounded = json.loads((folder / "rounded.json").read_text())["cures"]
    cures = [*CURES, *rounded, {**training, "file": str(folder / "trained" / "model.pt2")}]
    assert {cure["cure"] for cure in cures} >= kinds(), kinds()
    for cure in cures:
        name = cure["cure"]
        recipe, out = cured(folder / f"{name}.json", [cure]), folder / name
        run_good("quantize", *words, "--recipe", recipe, "--export", "none", "--strict", "--out", out)
        db = lowered(out)
        for subject in ([out], [*words, "--recipe", recipe]):
            assert "ok" in run_good("check", *subject, "--strict", "--min-sqnr", db - 0.01), name
            missed = run("check", *subject, "--strict", "--min-sqnr", db + 0.01)
            assert missed.returncode == 1 and "MISSED" in missed.stdout, (name, missed)


def test_the_gate_after_a_search(folder):
    """It passes with what the search reached; with a model in which a cure has no place any more `--strict` fails, and names the cure."""
    words, recipe = given(folder / "every"), folder / "tuned.json"
    search = tuned(words, recipe, "--goal", "sqnr 90", "--keep-int8", 100, "--allow", ",".join(kinds() - {"round", "bias"}), code=1)
    least = min(best(search)["guard"]["sqnr_db"], best(search)["search"]["sqnr_db"]) - 1
    assert {"train"} < {cure["cure"] for cure in search["cures"]}, search["cures"]
    run_good("check", *words, "--recipe", recipe, "--strict", "--min-sqnr", f"{least:.2f}")
    run_good("quantize", *words, "--recipe", recipe, "--export", "none", "--strict", "--out", folder / "out")
    run_good("check", folder / "out", "--strict", "--min-sqnr", f"{least:.2f}")

    def fails(problem, *subject):
        plain, strict = (run("check", *subject, *more, "--min-sqnr", 1) for more in ((), ("--strict",)))
        assert plain.returncode == 0, plain.stderr
        assert strict.returncode == 1 and strict.stdout == "" and "--strict: " in strict.stderr and problem in strict.stderr, strict.stderr

    other = given(folder / "other", Every(width=24))
    fails("'body.weight' has another shape", *other, "--recipe", recipe)
    kept = folder / "tuned.trained.pt2"
    kept.rename(folder / "elsewhere.pt2")
    fails("tuned.trained.pt2", *words, "--recipe", recipe)
    run_good("quantize", *words, "--recipe", recipe, "--export", "none", "--out", folder / "without")
    fails("tuned.trained.pt2", folder / "without")


def test_a_kept_run_has_the_name_of_its_trial(folder):
    words, recipe = given(folder / "every"), folder / "tuned.json"
    search = tuned(words, recipe, "--goal", "sqnr 90", "--keep-int8", 100, "--allow", "all", code=1)
    name = json.loads(recipe.read_text())["cures"][-1]["by"]
    assert name.startswith("tune ") and name.endswith(f", trial {search['best'] + 1}"), name
    run_good("quantize", *words, "--recipe", recipe, "--export", "none", "--out", folder / "out")
    project = project_of(folder, folder / "out")
    run_good("runs", project, "keep")
    run_good("runs", project, "keep")
    run_good("runs", project, "keep", "mine")
    runs = {one["name"]: one for one in run_json("runs", project)["runs"]}
    assert set(runs) == {name, f"{name} 2", "mine"}, set(runs)
    assert all(f" cures ({name})" in one["decisions"] for one in runs.values()), runs
    assert name in run_good("runs", project)
    # Its recipe is whole without the result that it was kept from.
    shutil.rmtree(folder / "out")
    held = folder / "work.project.runs" / name
    assert {path.name for path in held.iterdir()} == {"recipe.json", "result.json", "run.json", "trained.pt2"}, list(held.iterdir())
    run_good("plan", words[0], "--recipe", held / "recipe.json", "--strict")
    (copied,) = [one for one in json.loads((held / "recipe.json").read_text())["cures"] if one["cure"] == "train"]
    assert copied["file"] == "trained.pt2", copied
    # A recipe without a search is named by its result.
    run_good("quantize", *words, "--export", "none", "--out", folder / "plain")
    run_good("runs", project, "keep", "--from", folder / "plain")
    assert "plain" in {one["name"] for one in run_json("runs", project)["runs"]}


if __name__ == "__main__":
    main(__name__)
