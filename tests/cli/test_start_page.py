# SPDX-License-Identifier: Apache-2.0
"""What the start page offers is right: each snippet is run as a reader would, with a model of its own, and what it writes is opened."""

import os
import subprocess
import sys
from pathlib import Path

import numpy
from harness import PROGRAM, SOURCE, main, run_good, run_json

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
LOADED = IMAGES + """
def load():
    return MyModel()
def images():
    for number in range(700):
        yield torch.randn(3, 64, 64), number % 10
"""
MODELS = {"one_command.sh": LOADED, "one_input.py": IMAGES, "several_inputs.py": TOKENS, "dynamic_batch.py": IMAGES}


def made(folder, name):
    """The opened model that a snippet wrote."""
    place = folder / name.partition(".")[0]
    place.mkdir()
    (place / "my_model.py").write_text(MODELS[name])
    (place / "quantscope").symlink_to(Path(PROGRAM).resolve())
    words = ["bash", "-e"] if name.endswith(".sh") else [sys.executable]
    done = subprocess.run([*words, SNIPPETS / name], cwd=place, capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(place), "PATH": f"{place}:{os.environ['PATH']}"})
    assert done.returncode == 0, done.stderr
    return run_json("inspect", place / "model.pt2")


def test_every_snippet_has_its_model(folder):
    assert sorted(path.name for path in SNIPPETS.iterdir()) == sorted(MODELS)


def test_one_command(folder):
    """The second line's model and data: the samples to measure on are others than those to calibrate on."""
    (image,) = made(folder, "one_command.sh")["inputs"]
    assert image["shape"][1:] == [3, 64, 64] and not isinstance(image["shape"][0], int), image
    calib, test = (numpy.load(folder / "one_command" / f"model.{name}.npz") for name in ("calib", "test"))
    assert calib["image"].shape == (128, 3, 64, 64) and test["image"].shape == (500, 3, 64, 64)
    assert test["labels"].tolist() == [number % 10 for number in range(128, 628)]


def test_one_input(folder):
    (image,) = made(folder, "one_input.py")["inputs"]
    assert image["shape"] == [1, 3, 224, 224], image


def test_several_inputs(folder):
    tokens, mask = made(folder, "several_inputs.py")["inputs"]
    assert tokens["name"] == "tokens" and mask["name"] == "mask", (tokens, mask)


def test_dynamic_batch(folder):
    (image,) = made(folder, "dynamic_batch.py")["inputs"]
    assert not isinstance(image["shape"][0], int) and image["shape"][1:] == [3, 224, 224], image
    # As many samples at once as one likes.
    place = folder / "dynamic_batch"
    numpy.savez(place / "model.calib.npz", image=numpy.random.default_rng(0).standard_normal((5, 3, 224, 224), numpy.float32))
    run_good("quantize", place / "model.pt2", "--data", place / "model.calib.npz", "--out", folder / "out", "--device", "cpu")


main(__name__)
