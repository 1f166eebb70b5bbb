# SPDX-License-Identifier: Apache-2.0
"""NaN and Inf: an observed value that holds them stays float, with a finding that names it; an output that holds them, and
observed inputs with NaN or +Inf, stop the run."""

import json
import math

import numpy as np
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
from harness import by_name, expect_bad, main, run, run_good, sqnr, write_recipe
from torch import nn


class Attention(nn.Module):
    """T5's: a bias by the logarithm of distances, of which the first is 0, and a mask of -Inf that is added."""

    def __init__(self, masked):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(8, 8, bias=False) for _ in range(3))
        self.bias, self.masked = nn.Embedding(8, 1), masked

    def buckets(self, count):
        steps = torch.arange(count)
        apart = (steps[None, :] - steps[:, None]).abs()
        far = 2 + (torch.log(apart.float() / 2) / math.log(8) * 2).to(torch.long)
        return torch.where(apart < 2, apart, torch.min(far, torch.full_like(far, 3)))

    def forward(self, x):
        count = x.shape[1]
        scores = self.q(x) @ self.k(x).transpose(1, 2) + self.bias(self.buckets(count)).squeeze(-1)
        if self.masked:
            scores = scores + torch.full((count, count), float("-inf")).triu(1)
        return torch.softmax(scores, -1) @ self.v(x)


class Layers(nn.Module):
    def __init__(self, masked):
        super().__init__()
        self.attention, self.last = Attention(masked), nn.Linear(8, 4)

    def forward(self, x):
        return self.last(self.attention(x))


class Masked(nn.Module):
    """A mask of the caller's."""

    def __init__(self):
        super().__init__()
        self.attention, self.last = nn.MultiheadAttention(16, 4, batch_first=True), nn.Linear(16, 16)

    def forward(self, x, m):
        return self.last(self.attention(x, x, x, attn_mask=m, need_weights=False)[0])


class Filled(nn.Module):
    """NaN of the caller's that becomes 0 before anything is quantized, or is added as it is."""

    def __init__(self, fills):
        super().__init__()
        self.first, self.last, self.fills = nn.Linear(8, 8), nn.Linear(8, 4), fills

    def forward(self, x, m):
        return self.last(self.first(x) + (torch.nan_to_num(m) if self.fills else m * 2))


def save(folder, model, calls):
    """(path of the .pt2, path of the calls)."""
    model.eval()
    torch.export.save(torch.export.export(model, calls[0]), folder / "model.pt2")
    torch.save(calls, folder / "calls.pt")
    return folder / "model.pt2", folder / "calls.pt"


def refused(model, calls, out, *more):
    """What stops the run: one line."""
    done = run("quantize", model, "--data", calls, "--device", "cpu", "--export", "none", "--out", out, *more)
    assert done.returncode == 1, done.stderr
    return done.stderr.splitlines()[-1]


def findings(result):
    return {finding["node"]: finding["text"] for finding in result["findings"] if finding["kind"] == "not_finite"}


@torch.no_grad()
def test_what_is_not_finite_stays_float(folder):
    """The run goes on; one finding a value; --strict refuses; the result opens again; a rule decides as well."""
    torch.manual_seed(0)
    net = Layers(masked=True)
    model, calls = save(folder, net, [(torch.randn(2, 6, 8),) for _ in range(3)])
    words = ("--data", calls, "--device", "cpu")
    plan = by_name(json.loads(run_good("plan", model, "--json")))
    log = [name for name, node in plan.items() if node["op"] == "aten.mul.Tensor" and node["quantized"]][0]
    mask = [name for name, node in plan.items() if node["op"] == "aten.add.Tensor" and node["quantized"]][-1]
    done = run("quantize", model, *words, "--export", "pt2-reference", "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    result = json.loads((folder / "out" / "result.json").read_text())
    found = findings(result)
    wanted = {"div_1": (log, "first in 'log' (aten.log.default of module 'attention')"),
              "triu": (mask, "first in 'full'")}
    assert wanted.keys() <= found.keys(), found
    for value, (kept, first) in wanted.items():
        for word in (f"'{value}' (aten.", "of module 'attention'", "-Inf in batch 1", first, f"'{kept}'", "float"):
            assert word in found[value], (word, found[value])
        assert f"'{plan[value]['title']}' ({value}) (aten." in done.stderr, done.stderr
    nodes = by_name(result)
    assert not nodes[log]["quantized"] and nodes[log]["reason_code"] == "value_not_finite", nodes[log]
    assert nodes["linear"]["quantized"] and nodes["linear_3"]["quantized"]
    stored = json.loads((folder / "out" / "recipe.json").read_text())
    assert stored["prepare"]["not_finite"].keys() >= found.keys(), stored["prepare"]
    reference = torch.export.load(folder / "out" / "model.reference.pt2").module()
    data = torch.load(calls)
    y, other = (torch.cat([f(*call) for call in data]) for f in (net, reference))
    assert abs(result["outputs"][0]["cumulative"]["sqnr_db"] - sqnr(y, other)) < 0.1, result["outputs"]
    run_good("compare", model, "--result", folder / "out", "--data", calls)

    line = refused(model, calls, folder / "bad", "--strict")
    assert "--strict" in line and "is not finite on the calibration data (-Inf in batch 1" in line, line
    again = run("quantize", model, *words, "--export", "none", "--out", folder / "again", "--strict", "--recipe",
                folder / "out" / "recipe.json")
    assert again.returncode == 0 and "warning: 'attention · div 2'" not in again.stderr, again.stderr
    same = json.loads((folder / "again" / "result.json").read_text())
    assert same["outputs"][0]["cumulative"] == result["outputs"][0]["cumulative"]

    rules = write_recipe(folder, mapping={"global": "x86", "node": [[name, None] for name in (log, mask)]})
    done = run("quantize", model, *words, "--export", "none", "--out", folder / "ruled", "--recipe", rules)
    assert done.returncode == 0 and "(div_1)" not in done.stderr, done.stderr


@torch.no_grad()
def test_a_mask_of_the_callers_that_is_read(folder):
    """-Inf in an observed input stays float; +Inf and NaN are refused as damaged data."""

    class Added(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Linear(8, 6), nn.Linear(6, 4)

        def forward(self, x, m):
            return self.last(torch.softmax(self.first(x) + m, -1))

    torch.manual_seed(0)
    mask = torch.zeros(4, 6)
    mask[:, 4:] = -torch.inf
    model, calls = save(folder, Added(), [(torch.randn(4, 8), mask) for _ in range(2)])
    run_good("quantize", model, "--data", calls, "--device", "cpu", "--export", "none", "--out", folder / "out")
    result = json.loads((folder / "out" / "result.json").read_text())
    assert "'m' (a model input)" in findings(result)["m"], result["findings"]
    assert not by_name(result)["add"]["quantized"] and by_name(result)["linear_1"]["quantized"]
    model, calls = save(folder, Added(), [(torch.randn(4, 8), -mask) for _ in range(2)])
    assert "holds" in refused(model, calls, folder / "bad")


@torch.no_grad()
def test_an_input_that_nothing_observes_may_be_infinite(folder):
    torch.manual_seed(0)
    mask = nn.Transformer.generate_square_subsequent_mask(6)
    data = [(torch.randn(2, 6, 16), mask) for _ in range(3)]
    net = Masked()
    model, calls = save(folder, net, data)
    run_good("quantize", model, "--data", calls, "--device", "cpu", "--export", "pt2-reference", "--out", folder / "out")
    result = json.loads((folder / "out" / "result.json").read_text())
    reference = torch.export.load(folder / "out" / "model.reference.pt2").module()
    y, other = (torch.cat([f(*call) for call in data]) for f in (net, reference))
    assert abs(result["outputs"][0]["cumulative"]["sqnr_db"] - sqnr(y, other)) < 0.1, result["outputs"]
    assert result["outputs"][0]["lowered"]["sqnr_db"] > 20
    run_good("compare", model, "--result", folder / "out", "--data", calls)


@torch.no_grad()
def test_nan_that_is_not_observed(folder):
    torch.manual_seed(0)
    spoiled = torch.randn(4, 8)
    spoiled[2, 3] = torch.nan
    data = [(torch.randn(4, 8), torch.randn(4, 8)), (torch.randn(4, 8), spoiled)]
    model, calls = save(folder, Filled(fills=True), data)
    run_good("quantize", model, "--data", calls, "--device", "cpu", "--export", "none", "--out", folder / "out")
    model, calls = save(folder, Filled(fills=False), data)
    # The multiplication reads it: as an observed input it is refused before anything runs.
    expect_bad("quantize", model, "--data", calls, "--device", "cpu", "--export", "none", "--out", folder / "bad",
               contains=["calls.pt", "tensor 1 of call 1 holds NaN at index [2, 3]"], out=folder / "bad")
    # With that kept float, its result is left out too, and the output that it spoils is refused, with the data.
    recipe = write_recipe(folder, mapping={"global": "x86", "node": [["mul", None]]})
    line = refused(model, calls, folder / "bad", "--recipe", recipe)
    for word in ("NaN appears in batch 2", "an output of the model", "tensor 1 of call 1 holds NaN"):
        assert word in line, line


@torch.no_grad()
def test_outputs_must_be_finite(folder):
    class Logs(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(8, 8)

        def forward(self, x):
            return torch.log(self.first(x))

    model, calls = save(folder, Logs(), [(torch.randn(4, 8),)])
    line = refused(model, calls, folder / "out")
    assert "node 'log': NaN appears in batch 1 in an output of the model" in line, line


@torch.no_grad()
def test_samples_of_an_observed_input(folder):
    """An .npz is refused with array and index, also where only the comparison reaches the sample."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 8), nn.ReLU()).eval()
    batch = torch.export.Dim("batch", min=1, max=64)
    torch.export.save(torch.export.export(net, (torch.randn(2, 8),), dynamic_shapes=({0: batch},)), folder / "model.pt2")
    x = np.random.default_rng(0).normal(size=(32, 8)).astype(np.float32)
    np.savez(folder / "good.npz", input=x)
    x[20, 5] = np.inf
    np.savez(folder / "bad.npz", input=x)
    words = ("--device", "cpu")
    expect_bad("quantize", folder / "model.pt2", "--data", folder / "bad.npz", *words, "--out", folder / "out",
               contains=["bad.npz", "array 'input' holds Inf at index [20, 5]"], out=folder / "out")
    run_good("quantize", folder / "model.pt2", "--data", folder / "good.npz", *words, "--out", folder / "out")
    expect_bad("compare", folder / "model.pt2", "--result", folder / "out", "--data", folder / "bad.npz", *words,
               contains=["bad.npz", "array 'input' holds Inf at index [20, 5]"])


main(__name__)
