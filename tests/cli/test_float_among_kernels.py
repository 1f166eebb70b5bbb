# SPDX-License-Identifier: Apache-2.0
"""What stays float beside quantized kernels computes what it did: the exports load, keep shapes and types, and lose what is told."""

import json

import numpy as np
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  (its operators stand in model.reference.pt2)
from harness import by_name, export_model, main, pairs, run, run_good, run_json, sqnr, write_recipe
from torch import nn
from torch.nn import functional as F

from models import residual

ROWS = 8


class Front(nn.Module):
    """A convolution, a function of its result that stays float, and a layer of what that gives."""

    def __init__(self, function, width, dimensions=2):
        super().__init__()
        convolution = nn.Conv3d if dimensions == 3 else nn.Conv2d
        self.conv, self.function, self.last = convolution(2, 8, 3, padding=1), function, nn.Linear(width, 3)

    def forward(self, x):
        return self.last(self.function(self.conv(x)))


class Written(nn.Module):
    """Written to in place through a view of another shape: the layer behind it reads the first shape."""

    def __init__(self):
        super().__init__()
        self.front, self.last = nn.Linear(8, 8), nn.Linear(8, 2)

    def forward(self, x):
        y = self.front(x)
        y.view(-1, 48).mul_(0.5)
        return self.last(y)


class Numbers(nn.Module):
    """Numbers on the left, where TorchScript has no overload that takes one."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 8, 3)

    def forward(self, x):
        y = torch.relu(self.conv(x))
        mask = 1 - (y > 0.5).float()
        steps = 7 // (y.to(torch.int64) + 2)
        return 3 - y * mask, 1.5 - steps, 2.0 ** y.flatten(1), torch.sub(5, steps, alpha=2), torch.sub(300, steps.to(torch.uint8))


class Truths(nn.Module):
    """Truth values where the operator's schema says number."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 8, 3)

    def forward(self, x):
        y = torch.relu(self.conv(x))
        keep = torch.ones(4, 4, dtype=torch.bool).tril()
        return y.masked_fill(~keep, 0.5), torch.full((4,), True) & (y > -1), torch.full_like(y, True)


class Shares(nn.Module):
    def __init__(self):
        super().__init__()
        self.front, self.last = nn.Linear(8, 8), nn.Linear(8, 4)

    def forward(self, x):
        return self.last(F.softmax(self.front(x), dim=-1))


class Unread(nn.Module):
    """A layer that only training reads, beside a convolution whose norm is folded."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.aside, self.last = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.Conv2d(3, 8, 3), nn.Conv2d(8, 4, 1)

    def forward(self, x):
        y, _ = self.norm(self.conv(x)), torch.relu_(self.aside(x))
        return self.last(F.relu(y))


class Attended(nn.Module):
    """Traced, attention is one operator, whose second result is no tensor where the weights are not asked for."""

    def __init__(self):
        super().__init__()
        self.front, self.attention, self.last = nn.Linear(16, 16), nn.MultiheadAttention(16, 4, batch_first=True), nn.Linear(16, 3)

    def forward(self, x):
        y = self.front(x)
        return self.last(y + self.attention(y, y, y, need_weights=False)[0])


class Placed(nn.Module):
    """A parameter that is spread over the samples stands on the left."""

    def __init__(self):
        super().__init__()
        self.last, self.place = nn.Linear(16, 3), nn.Parameter(torch.randn(6, 3))

    def forward(self, x):
        return self.place + self.place * self.last(x)


class Several(nn.Module):
    """Operators that return lists and tuples."""

    def __init__(self):
        super().__init__()
        self.conv, self.left, self.right = nn.Conv2d(2, 8, 3, padding=1), nn.Conv2d(4, 4, 1), nn.Conv2d(4, 4, 1)

    def forward(self, x):
        a, b = torch.relu(self.conv(x)).chunk(2, 1)
        c = torch.cat([self.left(a), self.right(b)], 1).flatten(1)
        values, _ = torch.topk(c, 5, dim=1)
        whole, = torch.split(c, c.shape[1], 1)
        return values, whole


def listed(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def check(folder, model, shape, decomposed=False, traced=False):
    """Quantizes a model by its default command; both exports give, in PyTorch, the model's shapes and types and the told loss."""
    torch.manual_seed(0)
    path, data = folder / ("model.pt" if traced else "model.pt2"), folder / "data.npz"
    x = torch.randn(ROWS, *shape)
    np.savez(data, x=x.numpy())
    with torch.no_grad():
        wanted = listed(model.eval()(x.clone()))
        if traced:
            torch.jit.trace(model, x).save(str(path))
        else:
            export_model(model, (x,), path, dynamic=False)
        if decomposed:
            torch.export.save(torch.export.load(path).run_decompositions(), path)
        recipe = write_recipe(folder, calibration={"batch_size": ROWS})
        result = run_json("quantize", path, "--data", data, "--recipe", recipe, "--export", "torchscript,pt2-reference", "--out", folder / "out")
        assert sum(node["quantized"] for node in result["nodes"]) >= 1, result["coverage"]
        exports = {"torchscript": torch.jit.load(str(folder / "out" / "model.int8.ts.pt")),
                   "pt2-reference": torch.export.load(folder / "out" / "model.reference.pt2").module()}
        for form, export in exports.items():
            got = listed(export(x.clone()))
            for place, (want, have) in enumerate(zip(wanted, got, strict=True)):
                assert (want.shape, want.dtype) == (have.shape, have.dtype), (form, place, have.shape, have.dtype)
                told = result["outputs"][place]["lowered" if form == "torchscript" else "cumulative"]
                if want.is_floating_point() and told:
                    assert abs(told["sqnr_db"] - sqnr(want, have)) < 0.5, (form, place, told, sqnr(want, have))
    return result


def test_views_of_what_kernels_give(folder):
    """A kernel's image lies channels last, where a view that stayed float is impossible."""
    views = (("silu", lambda y: F.silu(y).flatten(1), 2), ("sigmoid", lambda y: torch.sigmoid(y).flatten(1), 2),
             ("abs", lambda y: y.abs().flatten(1), 2),
             ("gelu, 3d", lambda y: F.gelu(y).flatten(1), 3), ("pooled, 3d", lambda y: F.adaptive_avg_pool3d(F.silu(y), 6).flatten(1), 3))
    for (name, function, dimensions), decomposed in pairs(views, (False, True)):
        place = folder / f"{name} {decomposed}"
        place.mkdir()
        width = 8 * 6 ** dimensions
        check(place, Front(function, width, dimensions), (2,) + (6,) * dimensions, decomposed)


def test_operators_that_read_strides(folder):
    """What they are given lies in memory as it did in the float model."""
    for name, function in (("as_strided", lambda y: torch.as_strided(y.abs(), (ROWS, 20), (288, 3))),
                           ("as_strided of what was permuted", lambda y: torch.as_strided(y.permute(0, 2, 3, 1).transpose(1, 2), (ROWS, 20), (288, 3))),
                           ("complex", lambda y: torch.view_as_complex(y.view(ROWS, 8, 18, 2)).real.flatten(1)[:, :20])):
        place = folder / name
        place.mkdir()
        check(place, Front(function, 20), (2, 6, 6))


def test_numbers_on_the_left(folder):
    for decomposed in (False, True):
        place = folder / str(decomposed)
        place.mkdir()
        check(place, Numbers(), (2, 6, 6), decomposed)


def test_truth_values_as_numbers(folder):
    for decomposed in (False, True):
        place = folder / str(decomposed)
        place.mkdir()
        check(place, Truths(), (2, 6, 6), decomposed)


def test_operators_of_several_results(folder):
    """Their members do not take the name of the call itself, which torch.export.load refuses."""
    for traced in (False, True):
        place = folder / str(traced)
        place.mkdir()
        check(place, Several(), (2, 6, 6), traced=traced)


def test_attention_without_weights(folder):
    for traced in (False, True):
        place = folder / str(traced)
        place.mkdir()
        check(place, Attended(), (6, 16), traced=traced)


def test_operands_that_are_spread(folder):
    """Kernels make their result as large as the first operand and PyTorch warns where that does not do."""
    check(folder, Placed(), (6, 16))
    done = run("quantize", folder / "model.pt2", "--data", folder / "data.npz", "--out", folder / "again",
               "--recipe", folder / "recipe.json")
    assert done.returncode == 0 and "resized" not in done.stderr, done.stderr


def test_number_of_elements(folder):
    for traced in (False, True):
        place = folder / str(traced)
        place.mkdir()
        check(place, Front(lambda y: y.reshape(y.numel() // 288, 288), 288), (2, 6, 6), traced=traced)


def test_written_through_a_view(folder):
    for decomposed in (False, True):
        place = folder / str(decomposed)
        place.mkdir()
        result = check(place, Written(), (6, 8), decomposed)
        linear = [node for node in result["nodes"] if node["pattern"] == ["torch.nn.Linear"]]
        assert [node["quantized"] for node in linear] == [True, True], linear


def test_float_convolution_with_its_norm_folded(folder):
    """The convolution's value is the norm's then: it is judged there, against the norm's float value."""
    torch.manual_seed(0)
    norm = nn.BatchNorm2d(8)
    with torch.no_grad():
        norm.running_mean.uniform_(-1, 1)
        norm.running_var.uniform_(2, 3)
    model = nn.Sequential(nn.Conv2d(2, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3), norm, nn.ReLU())
    x = torch.randn(ROWS, 2, 8, 8)
    export_model(model, (x,), folder / "model.pt2")
    np.savez(folder / "data.npz", x=x.numpy())
    recipe = write_recipe(folder, mapping={"global": "x86", "module_name": [["2", None]]})
    run_good("quantize", folder / "model.pt2", "--data", folder / "data.npz", "--recipe", recipe, "--out", folder / "out")
    nodes = by_name(run_json("compare", folder / "model.pt2", "--result", folder / "out", "--data", folder / "data.npz"))
    assert not nodes["conv2d_1"]["quantized"]
    assert nodes["conv2d_1"]["error"] is None and nodes["batch_norm"]["error"] is None, nodes["conv2d_1"]["error"]
    assert nodes["relu_1"]["error"]["cumulative"]["sqnr_db"] > 25, nodes["relu_1"]["error"]
    assert nodes["relu_1"]["error"]["born_here"]["sqnr_db"] > 100, nodes["relu_1"]["error"]


def test_a_row_of_ones_own_takes_functions(folder):
    """The table's own softmax is of the module alone, as in torch.ao; who adds a row of the function means it."""
    torch.manual_seed(0)
    model = Shares().eval()
    path, data = folder / "model.pt2", folder / "data.npz"
    x = torch.randn(32, 8)
    export_model(model, (x[:4],), path)
    np.savez(data, x=x.numpy())
    for row in ([], [{"pattern": ["torch.nn.functional.softmax"], "to": "quantized::softmax"}]):
        recipe = write_recipe(folder, convert={"lowering": {"add": row, "remove": []}})
        run_good("quantize", path, "--recipe", recipe, "--data", data, "--out", folder / "out")
        loaded = torch.jit.load(str(folder / "out" / "model.int8.ts.pt"))
        assert ("quantized.softmax" in loaded.code) == bool(row), loaded.code
        assert float((loaded(x) - model(x)).abs().max()) < 0.05


def test_a_layer_that_nobody_reads(folder):
    """It is left out, as PyTorch's own decompositions do: one plan in every spelling."""
    torch.manual_seed(0)
    model, x = Unread().eval(), torch.randn(16, 3, 8, 8)
    program = torch.export.export(model, (x[:4],), dynamic_shapes=({0: torch.export.Dim("b", min=2, max=64)},))
    torch.export.save(program, folder / "model.pt2")
    torch.export.save(program.run_decompositions(), folder / "core.pt2")
    torch.jit.trace(model, x[:4]).save(str(folder / "model.pt"))
    np.savez(folder / "data.npz", x=x.numpy())
    for name in ("model.pt2", "core.pt2", "model.pt"):
        run_good("quantize", folder / name, "--data", folder / "data.npz", "--export", "pt2-reference", "--out", folder / "out")
        loaded = torch.export.load(folder / "out" / "model.reference.pt2").module()
        assert sqnr(model(x[:8]), loaded(x[:8])) > 25, name
        plan = run_json("plan", folder / name)
        assert [n["module"] for n in plan["nodes"] if n["quantized"]] == ["conv", "norm", "", "last"], (name, plan["nodes"])


def test_memory_that_nothing_was_written_to(folder):
    """Core ATen pads in a circle by filling the places of an empty tensor one after the other."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Conv2d(8, 4, 3, padding=1, padding_mode="circular")).eval()
    x = torch.randn(16, 3, 8, 8)
    torch.export.save(torch.export.export(model, (x[:8],)).run_decompositions(), folder / "model.pt2")
    np.savez(folder / "data.npz", x=x.numpy())
    results = []
    for _ in range(2):
        done = run("quantize", folder / "model.pt2", "--data", folder / "data.npz", "--out", folder / "out", "--json")
        assert done.returncode == 0 and "NaN" not in done.stderr, done.stderr
        results.append(by_name(json.loads(done.stdout)))
    assert results[0]["empty"]["output"] == results[1]["empty"]["output"]
    for node in results[0].values():
        assert not node.get("error") or node["error"]["cumulative"]["max_abs"] < 1, node


def test_what_an_operator_kept_in_float_moves(folder):
    """An open batch counts as one sample: 3 x 8 x 8 values go in, 8 x 4 x 4 pass through the middle, 5 come out."""
    _, path, _, _ = residual(folder)
    inside, middle, outside = 4 * 3 * 8 * 8, 4 * 8 * 4 * 4, 4 * 5
    plain = run_json("plan", path)
    assert plain["crossings"] == {"values": 2, "bytes": inside + outside}, plain["crossings"]
    assert by_name(plain)["cos"]["crossings"] == {"values": 1, "bytes": outside}
    recipe = write_recipe(folder, mapping={"global": "x86", "object_type": [["operator.add", None]]})
    kept = run_json("plan", path, "--recipe", recipe)
    assert by_name(kept)["add"]["verdict"] == "float by rule"
    assert by_name(kept)["add"]["crossings"] == {"values": 3, "bytes": 3 * middle}, by_name(kept)["add"]
    assert kept["crossings"] == {"values": 5, "bytes": inside + 3 * middle + outside}
    text = run_good("plan", path, "--recipe", recipe)
    assert "between int8 and float pass 5 values, 2.3 kB a sample" in text, text
    assert "for add, which a rule keeps float: 3 values, 1.5 kB" in text, text


if __name__ == "__main__":
    main(__name__)
