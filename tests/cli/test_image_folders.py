# SPDX-License-Identifier: Apache-2.0
"""A folder of images as data, prepared as the recipe says: quantize, compare with a result and with a quantized file."""

import json

import numpy as np
import torch
from harness import expect_bad, export_model, main, run, run_good, run_json, write_recipe
from PIL import Image
from torch import nn
from torchvision.transforms import functional as F

SIDE = 24
BLOCK = {"resize": 28, "crop": SIDE, "interpolation": "bilinear", "mean": [0.5, 0.4, 0.3], "std": [0.2, 0.3, 0.4]}


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.fc = nn.Conv2d(3, 8, 3, stride=2), nn.BatchNorm2d(8), nn.Linear(8, 2)

    def forward(self, x):
        return self.fc(torch.relu(self.norm(self.conv(x))).mean([2, 3]))


def prepared(path):
    image = F.center_crop(F.resize(Image.open(path), BLOCK["resize"]), BLOCK["crop"])
    return F.normalize(F.to_tensor(image), BLOCK["mean"], BLOCK["std"])


def made(folder):
    """A model, twelve images of two classes and several sizes, and what torchvision makes of them."""
    torch.manual_seed(7)
    rng = np.random.default_rng(7)
    export_model(Small(), (torch.randn(2, 3, SIDE, SIDE),), folder / "small.pt2")
    for number in range(12):
        path = folder / "images" / ("cat", "dog")[number % 2] / f"{number:02}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 256, (30 + number, 50 - 2 * number, 3), dtype=np.uint8)).save(path)
    files = sorted((folder / "images").rglob("*.png"))
    np.savez(folder / "same.npz", x=torch.stack([prepared(path) for path in files]).numpy(),
             labels=np.array([path.parent.name == "dog" for path in files], dtype="i8"))
    return folder / "small.pt2", write_recipe(folder, calibration={"batch_size": 5, "preprocess": BLOCK})


def test_quantize_reads_what_torchvision_would(folder):
    model, recipe = made(folder)
    documents = []
    for data in ("images", "same.npz"):
        documents.append(run_json("quantize", model, "--recipe", recipe, "--data", folder / data, "--out", folder / data[:4]))
    seen = [next(n for n in document["nodes"] if n["op"] == "input")["output"] for document in documents]
    assert abs(seen[0]["scale"][0] / seen[1]["scale"][0] - 1) < 1e-5 and seen[0]["zero_point"] == seen[1]["zero_point"], seen
    assert documents[0]["labels"] == documents[1]["labels"] and documents[0]["labels"] is not None, documents[0]["labels"]
    again = run_json("compare", model, "--result", folder / "imag", "--data", folder / "images")
    assert again["outputs"][0]["cumulative"] == documents[0]["outputs"][0]["cumulative"]
    assert json.loads((folder / "imag" / "recipe.json").read_text())["calibration"]["preprocess"]["crop"], "it is kept"


def test_the_model_size_alone_needs_no_block(folder):
    model, _ = made(folder)
    expect_bad("quantize", model, "--data", folder / "images", "--out", folder / "out",
               contains=["images", f"the model takes {SIDE}", "no preprocess block", '"resize"'], out=folder / "out")


def test_labels_are_numbers(folder):
    model, recipe = made(folder)
    flat = folder / "flat"
    flat.mkdir()
    for path in [*(folder / "images").rglob("*.png")][:2]:
        path.rename(flat / path.name)
    for text, words in (("name,class\n", ["holds no label below its heading", "whole number"]),
                        ("00.png,cat\n01.png,dog\n", ["line 2 does not end with a whole number"])):
        (flat / "labels.csv").write_text(text)
        expect_bad("quantize", model, "--recipe", recipe, "--data", flat, "--out", folder / "out",
                   contains=["labels.csv", *words], out=folder / "out")


def test_compare_with_a_quantized_file(folder):
    """The recipe says how images are read; a result holds its own recipe."""
    model, recipe = made(folder)
    run_good("quantize", model, "--recipe", recipe, "--data", folder / "images", "--export", "pt2-reference", "--out", folder / "out")
    file = folder / "out" / "model.reference.pt2"
    told = [run_json("compare", model, "--result", file, "--recipe", recipe, "--data", folder / data)["outputs"][0]
            for data in ("images", "same.npz")]
    figures = [output["cumulative"]["sqnr_db"] for output in told]
    assert 15 < figures[0] < 80 and abs(figures[0] - figures[1]) < 0.1, figures
    expect_bad("compare", model, "--result", file, "--data", folder / "images", contains=["no preprocess block"])
    done = run("compare", model, "--result", folder / "out", "--recipe", recipe, "--data", folder / "images")
    assert done.returncode == 2 and "a result has its own" in done.stderr, done.stderr


if __name__ == "__main__":
    main(__name__)
