# SPDX-License-Identifier: Apache-2.0
"""`--as-float32`: a model of bfloat16 or float16 is quantized as PyTorch's own `model.float()` is, and the result says so."""

import copy
import json
import sys

import torch
from harness import expect_bad, main, run, run_good, run_json, sqnr, write_recipe
from torch import nn

HALVES = (torch.bfloat16, torch.float16)


class Casts(nn.Module):
    """Casts there and back, a mask of the type's least number, a scale in a buffer, an empty tensor of the type."""

    def __init__(self, dtype):
        super().__init__()
        self.dtype = dtype
        self.a, self.norm, self.b = nn.Linear(8, 16), nn.LayerNorm(16), nn.Linear(16, 4)
        self.register_buffer("scale", torch.rand(16) + 0.5)
        self.register_buffer("mask", torch.tensor([0, 0, 0, 1], dtype=torch.bool))

    def forward(self, x):
        y = torch.relu(self.a(x)).float()
        y = torch.nn.functional.layer_norm(y, (16,), self.norm.weight.float(), self.norm.bias.float()).to(self.dtype) * self.scale
        y = self.b(y + torch.zeros(16, dtype=self.dtype, device=x.device))
        return torch.softmax(y.masked_fill(self.mask, torch.finfo(self.dtype).min), -1)


class Image(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.bn, self.fc = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Linear(8, 5)

    def forward(self, x):
        return self.fc(torch.relu(self.bn(self.conv(x))).mean((2, 3)))


class Mixed(nn.Module):
    """Mixed precision chosen as it runs."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(8, 16), nn.Linear(16, 4)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = torch.relu(self.a(x))
        return self.b(y.float())


def exported(model, x, path):
    with torch.no_grad():
        torch.export.save(torch.export.export(model, (x,)), path)


def quantized(folder, name, data, *words):
    out = folder / f"{name}.out"
    done = run("quantize", folder / f"{name}.pt2", "--data", data, "--device", "cpu", "--out", out, "--json", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr, out


def test_numbers_are_those_of_model_float(folder):
    for dtype in HALVES:
        for make, shape in ((lambda: Casts(dtype), (4, 8)), (Image, (4, 3, 8, 8))):
            torch.manual_seed(1)
            half = make().eval().to(dtype)
            floating = copy.deepcopy(half).float()
            if hasattr(floating, "dtype"):
                floating.dtype = torch.float32
            x = torch.randn(shape)
            exported(half, x.to(dtype), folder / "half.pt2")
            exported(floating, x, folder / "float.pt2")
            data = folder / "d.pt"
            torch.save([(torch.randn(shape),) for _ in range(4)], data)
            expect_bad("quantize", folder / "half.pt2", "--data", data, "--device", "cpu", "--out", folder / "none", contains=["--as-float32"], out=folder / "none") \
                if make is Image else None
            ours, said, out = quantized(folder, "half", data, "--as-float32")
            theirs, _, _ = quantized(folder, "float", data)
            assert said.count("are converted to float32") == 1, said
            assert ours["coverage"]["quantized"] >= theirs["coverage"]["quantized"] > 0, (ours["coverage"], theirs["coverage"])
            for mine, yours in zip(ours["outputs"], theirs["outputs"]):
                assert abs(mine["lowered"]["sqnr_db"] - yours["lowered"]["sqnr_db"]) < 0.5, (dtype, mine, yours)
            calls = torch.load(data)
            loaded = torch.jit.load(out / "model.int8.ts.pt")
            with torch.no_grad():
                measured = sqnr(torch.cat([floating(*c) for c in calls]), torch.cat([loaded(*c) for c in calls]))
            assert abs(measured - ours["outputs"][0]["lowered"]["sqnr_db"]) < 0.1, (dtype, measured, ours["outputs"])
            recipe = json.loads((out / "recipe.json").read_text())
            assert recipe["edits"] == [{"do": "as_float32"}], recipe  # so that the result can be made again
            run_good("compare", folder / "half.pt2", "--result", out, "--data", data)
    done = run("verify", out, "--data", data, "--python", sys.executable, "--runtime", "torch.jit,torch.export,onnxruntime")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_float_model_computes_what_pytorch_does(folder):
    for dtype in HALVES:
        torch.manual_seed(2)
        half = Casts(dtype).eval().to(dtype)
        floating = copy.deepcopy(half).float()
        floating.dtype = torch.float32
        x = torch.randn(4, 8)
        exported(half, x.to(dtype), folder / "half.pt2")
        told = run_json("edit", folder / "half.pt2", "--recipe", write_recipe(folder, edits=[{"do": "as_float32"}]), "--out", folder / "float.pt2")
        assert told["edits"][0]["problem"] is None, told
        program = torch.export.load(folder / "float.pt2")
        assert not [str(v.dtype) for v in program.state_dict.values() if v.dtype in HALVES]
        with torch.no_grad():
            # The type's own least number stays the file's: both are far below every score.
            assert sqnr(floating(x), program.module()(x)) > 100
        nodes = run_json("inspect", folder / "half.pt2", "--as-float32")["nodes"]
        types = {output.get("dtype") for node in nodes for output in node["outputs"]}
        assert "float32" in types and not types & {"bfloat16", "float16"}, types
        assert not [node["name"] for node in nodes if node["op"] == "aten.to.dtype"], "a cast from float32 to float32"


def test_mixed_precision_is_switched_off(folder):
    torch.manual_seed(3)
    model, x = Mixed().eval(), torch.randn(4, 8)
    exported(model, x, folder / "mixed.pt2")
    run_good("edit", folder / "mixed.pt2", "--recipe", write_recipe(folder, edits=[{"do": "as_float32"}]), "--out", folder / "float.pt2")
    with torch.no_grad():
        wanted = model.b(torch.relu(model.a(x)))
        assert sqnr(wanted, torch.export.load(folder / "float.pt2").module()(x)) > 100


def test_a_model_of_float32_needs_none(folder):
    exported(Image().eval(), torch.randn(4, 3, 8, 8), folder / "m.pt2")
    done = run("plan", folder / "m.pt2", "--as-float32", "--json")
    assert done.returncode == 0 and "nothing in the model is float16 or bfloat16" in done.stderr, done.stderr


if __name__ == "__main__":
    main(__name__)
