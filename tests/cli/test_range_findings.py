# SPDX-License-Identifier: Apache-2.0
"""Ranges that cost precision though nothing is wrong: results beyond a fixed range that they share (1 + tanh(x)), and values that
share one observer with a much wider one. Each finding names its cure, and the cure cures."""
import json

import torch
from harness import by_name, export_model, main, run, run_json, write_recipe
from torch import nn


class Gelu(nn.Module):
    """GELU's tanh form, as GPT-2 and Phi write it."""

    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(16, 32), nn.Linear(32, 8)

    def forward(self, x):
        x = 3 * self.up(x)
        return self.down(0.5 * x * (1.0 + torch.tanh(0.7978845608 * (x + 0.044715 * torch.pow(x, 3.0)))))


class Number(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.layer, self.last, self.function = nn.Linear(16, 16), nn.Linear(16, 8), function

    def forward(self, x):
        return self.last(self.function(3 * self.layer(x)))


class Masked(nn.Module):
    """What is masked out holds the smallest number, and stands beside the scores."""

    def __init__(self):
        super().__init__()
        self.scores, self.values = nn.Linear(16, 6), nn.Linear(10, 4)
        self.register_buffer("mask", torch.full((1, 4), torch.finfo(torch.float32).min))

    def forward(self, x):
        return self.values(torch.softmax(torch.cat([4 * self.scores(x), self.mask.expand(x.shape[0], 4)], -1), -1))


class Joined(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.last = nn.Linear(16, 8), nn.Linear(16, 8), nn.Linear(16, 4)

    def forward(self, x):
        return self.last(torch.cat([self.a(x), 50 * self.b(x)], -1))


class Clipped(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.last = nn.Linear(16, 16), nn.Linear(16, 4)
        self.a.weight.data *= 20

    def forward(self, x):
        return self.last(nn.functional.relu6(self.a(x)))


def saved(folder, model, value):
    torch.save({"x": value}, folder / "d.pt")
    export_model(model.eval(), (value,), folder / "m.pt2", dynamic=False)


def quantized(folder, mapping=None):
    recipe = write_recipe(folder, backend="x86", mapping={"global": "x86", **(mapping or {})})
    return run_json("quantize", folder / "m.pt2", "--data", folder / "d.pt", "--recipe", recipe, "--device", "cpu", "--export", "none", "--out",
                    folder / "q")


def findings(document, kind):
    return [finding for finding in document["findings"] if finding["kind"] == kind]


def loss(result):
    return result["outputs"][0]["cumulative"]["sqnr_db"]


def test_one_plus_tanh(folder):
    """The finding names the addition; its rule brings the reference form to what the lowered one computes."""
    torch.manual_seed(2)
    saved(folder, Gelu(), torch.randn(64, 16))
    before = quantized(folder)
    found = findings(before, "cut_range")
    assert len(found) == 1 and by_name(before)[found[0]["node"]]["op"].startswith("aten.add"), found
    name = found[0]["node"]
    assert f'"node": [["{name}", null]]' in found[0]["text"] and "'tanh'" in found[0]["text"] and "0…1.99" in found[0]["text"], found
    plan = run("plan", folder / "m.pt2", "--json")
    assert findings(json.loads(plan.stdout), "cut_range") == found and found[0]["text"] in plan.stderr
    assert "keep" in by_name(json.loads(plan.stdout))[name]["suggestion"]
    after = quantized(folder, {"node": [[name, None]]})
    assert not findings(after, "cut_range") and loss(after) > loss(before) + 3, (loss(before), loss(after))
    # Not an error: parity with torch.ao is the default.
    done = run("quantize", folder / "m.pt2", "--data", folder / "d.pt", "--device", "cpu", "--export", "none", "--strict", "--out", folder / "s")
    assert done.returncode == 0, done.stderr


def test_sums_and_products_with_a_number(folder):
    """Values beyond the range are reported, values within are not."""
    cases = {"sigmoid + 1": (lambda x: torch.sigmoid(x) + 1, True), "tanh * 0.5": (lambda x: torch.tanh(x) * 0.5, False),
             "tanh * 2": (lambda x: 2 * torch.tanh(x), True), "0.5 * sigmoid": (lambda x: 0.5 * torch.sigmoid(x), False),
             "sigmoid * 4": (lambda x: torch.sigmoid(x) * 4, True)}
    for name, (function, cut) in cases.items():
        saved(folder, Number(function), torch.randn(8, 16))
        found = findings(run_json("plan", folder / "m.pt2"), "cut_range")
        assert len(found) == int(cut), (name, found)


def test_shared_ranges(folder):
    """Who loses, by whom, and the rule that separates them."""
    torch.manual_seed(2)
    for model, value, worst, widest, separate, gain in (
            (Masked(), torch.randn(32, 16), "linear", "expand", "cat", 20),
            (Joined(), torch.randn(64, 16), "linear", "mul", "cat", None)):
        saved(folder, model, value)
        before = quantized(folder)
        found = findings(before, "shared_range")
        assert found and found[0]["node"] == worst and found[0]["widest"] == widest and found[0]["separate"] == separate, (worst, found)
        values = {entry["node"]: entry for entry in found[0]["values"]}
        reach = {name: max(abs(entry["min"]), abs(entry["max"])) for name, entry in values.items()}
        assert values[worst]["cost_db"] > 6 and reach[widest] == max(reach.values()) > 2 * reach[worst], values
        text = run("quantize", folder / "m.pt2", "--data", folder / "d.pt", "--device", "cpu", "--export", "none", "--out", folder / "t").stdout
        assert f"shared range: '{worst}'" in text and found[0]["text"] in text, text
        after = quantized(folder, {"node": [[separate, None]]})
        assert separate not in {entry["separate"] for entry in findings(after, "shared_range")}, findings(after, "shared_range")
        assert gain is None or loss(after) > loss(before) + gain, (worst, loss(before), loss(after))


def test_nothing_to_tell(folder):
    """Values of one range; what is cut off from a wide one lay on its grid before."""
    torch.manual_seed(2)
    for model, value in ((nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 4)), torch.randn(16, 3, 8, 8)),
                         (Clipped(), torch.randn(64, 16))):
        saved(folder, model, value)
        assert quantized(folder)["findings"] == []


if __name__ == "__main__":
    main(__name__)
