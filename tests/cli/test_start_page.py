# SPDX-License-Identifier: Apache-2.0
"""The start page's Python is right: each snippet is run as a reader would, with a model of its own, and what it writes is opened."""

import os
import shutil
import subprocess
import sys

import numpy
from harness import SOURCE, main, run_good, run_json

RESOURCES = SOURCE / "resources"
SNIPPETS = RESOURCES / "export" / "snippets"
IMAGES = """
import torch
class MyModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.head = torch.nn.Conv2d(3, 8, 3, stride=4), torch.nn.Linear(8, 10)
    def forward(self, image):
        return self.head(torch.relu(self.conv(image)).mean((2, 3)))
"""
TOKENS = """
import torch
class MyModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.head = torch.nn.Embedding(1000, 8), torch.nn.Linear(8, 4)
    def forward(self, tokens, mask=None):
        return self.head((self.token(tokens) * mask.unsqueeze(-1)).mean(1))
"""
MODELS = {"one_input": IMAGES, "several_inputs": TOKENS, "dynamic_batch": IMAGES, "export_helper": IMAGES}


def made(folder, name):
    """The opened model that a snippet wrote."""
    place = folder / name
    place.mkdir()
    (place / "my_model.py").write_text(MODELS[name])
    shutil.copy(RESOURCES / "export" / "quantscope_export.py", place)
    done = subprocess.run([sys.executable, SNIPPETS / f"{name}.py"], cwd=place, capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(place)})
    assert done.returncode == 0, done.stderr
    return run_json("inspect", place / "model.pt2")


def test_every_snippet_has_its_model(folder):
    assert sorted(path.stem for path in SNIPPETS.glob("*.py")) == sorted(MODELS)


def test_one_input(folder):
    (image,) = made(folder, "one_input")["inputs"]
    assert image["shape"] == [1, 3, 224, 224], image


def test_several_inputs(folder):
    tokens, mask = made(folder, "several_inputs")["inputs"]
    assert tokens["name"] == "tokens" and mask["name"] == "mask", (tokens, mask)


def test_dynamic_batch(folder):
    (image,) = made(folder, "dynamic_batch")["inputs"]
    assert not isinstance(image["shape"][0], int) and image["shape"][1:] == [3, 224, 224], image
    # As many samples at once as one likes.
    place = folder / "dynamic_batch"
    numpy.savez(place / "model.calib.npz", image=numpy.random.default_rng(0).standard_normal((5, 3, 224, 224), numpy.float32))
    run_good("quantize", place / "model.pt2", "--data", place / "model.calib.npz", "--out", folder / "out", "--device", "cpu")


def test_export_helper(folder):
    made(folder, "export_helper")
    assert (folder / "export_helper" / "model.pt2.trace.json").is_file()


main(__name__)
