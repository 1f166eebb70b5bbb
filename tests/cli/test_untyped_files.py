# SPDX-License-Identifier: Apache-2.0
"""Files that do not tell the element types of their values: the first batch does."""
import json

import numpy as np
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  (its operators stand in model.reference.pt2)
from harness import by_name, expect_bad, main, run, run_good, run_json, sqnr, write_recipe
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class Masked(nn.Module):
    """A mask is reshaped and repeated as if it were an activation; indices are added to each other."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 4)

    def forward(self, x):
        mask = (x > 0).reshape(-1, 8)
        y = self.first(x).masked_fill(mask.flatten(1), 0.5)
        order = y.argmax(1, keepdim=True) + y.argmin(1, keepdim=True)
        return self.second(torch.relu(y)), order.reshape(-1)


class Grid(nn.Module):
    """Positions made of a picture's sizes."""

    def __init__(self):
        super().__init__()
        self.conv, self.table, self.last = nn.Conv2d(3, 8, 3, padding=1), nn.Embedding(64, 8), nn.Linear(8, 4)

    def forward(self, x):
        y = torch.relu(self.conv(x))
        h, w = y.shape[2], y.shape[3]
        places = torch.arange(h * w).view(h, w)
        places = places.reshape(-1) + places.flatten()
        y = y.flatten(2).transpose(1, 2) + self.table(places // 2)
        return self.last(y)


class Sizes(nn.Module):
    """Takes a part of the list of all sizes."""

    def __init__(self):
        super().__init__()
        self.conv, self.last = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 4, 1)

    def forward(self, x):
        y = self.conv(x)
        return self.last(F.avg_pool2d(y, y.shape[2:]))


class Ranks(nn.Module):
    """Takes a part of the list of all sizes from where the number of dimensions tells."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)

    def forward(self, x):
        y, front = self.first(x), x.dim() - 2
        return y.reshape(x.shape) + y.sum(0).reshape(x.shape[front + 1:])


class Packed(nn.Module):
    """Sequences of several lengths; `lengths` may be a tensor or a list, and is a tensor."""

    def __init__(self):
        super().__init__()
        self.first, self.lstm, self.last = nn.Linear(6, 8), nn.LSTM(8, 8, batch_first=True), nn.Linear(8, 3)

    def forward(self, x: Tensor, lengths: Tensor):
        packed = pack_padded_sequence(torch.relu(self.first(x)), lengths, batch_first=True, enforce_sorted=False)
        padded, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.last(padded)


# What holds truth values, indices or positions.
NO_FLOATS = {Masked: ("gt", "reshape", "flatten", "argmax", "argmin", "add", "reshape_1"),
             Grid: ("arange", "view", "reshape", "flatten", "add", "floor_divide")}


def prepared(net, shape, folder, how):
    """The saved model, itself, its data and a recipe."""
    torch.manual_seed(0)
    model = net().eval()
    x = torch.randn(32, *shape)
    made = torch.jit.script(model) if how == "script" else torch.jit.trace(model, x[:4])
    path, data = folder / f"{how}.pt", folder / "data.npz"
    made.save(str(path))
    np.savez(data, x=x.numpy())
    return path, model, x, data, write_recipe(folder, calibration={"batch_size": 4, "batches": 8})


def quantized(path, data, recipe, out):
    """The document of a job and what it said meanwhile."""
    done = run("quantize", path, "--recipe", recipe, "--data", data, "--out", out, "--export", "torchscript", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


def test_what_is_no_float_stays_as_it_is(folder):
    for net, shape, how in ((Masked, (8,), "script"), (Masked, (8,), "trace"), (Grid, (3, 8, 8), "trace"), (Grid, (3, 8, 8), "script")):
        path, model, x, data, recipe = prepared(net, shape, folder, how)
        result, said = quantized(path, data, recipe, folder / "out")
        nodes = by_name(result)
        assert all(node["quantized"] for node in nodes.values() if node["op"].startswith(("aten.linear", "aten.conv2d")))
        for name in NO_FLOATS[net]:
            assert not nodes[name]["quantized"], (net, how, name)
        loaded = torch.jit.load(str(folder / "out" / "model.int8.ts.pt"))
        with torch.no_grad():
            want, have = model(x[:4]), loaded(x[:4])
        if isinstance(want, tuple):
            assert torch.equal(want[1], have[1]), (net, how)
            want, have = want[0], have[0]
        assert float((want - have).abs().max()) < 0.1 * float(want.abs().max()), (net, how)
        again = run_json("compare", path, "--result", folder / "out", "--data", data)
        assert again["outputs"][0]["lowered"] == result["outputs"][0]["lowered"], (net, how)
        if how == "script":
            assert "the file does not record the element types of" in said and "first batch" in said, said


def test_a_packed_sequence_in_a_script(folder):
    torch.manual_seed(0)
    model = Packed().eval()
    x, lengths = torch.randn(32, 5, 6), torch.randint(1, 6, (32,))
    lengths[::4] = 5
    path, data = folder / "packed.pt", folder / "data.npz"
    torch.jit.script(model).save(str(path))
    np.savez(data, x=x.numpy(), lengths=lengths.numpy())
    recipe = write_recipe(folder, calibration={"batch_size": 4, "batches": 8})
    result, said = quantized(path, data, recipe, folder / "out")
    assert sum(node["quantized"] for node in result["nodes"] if node["op"].startswith("aten.linear")) == 2
    assert "packed sequence" in said and "ComplexHalf" not in said, said
    with torch.no_grad():
        want, have = model(x, lengths), torch.jit.load(str(folder / "out" / "model.int8.ts.pt"))(x, lengths)
    assert float((want - have).abs().max()) < 0.05 * float(want.abs().max())


def test_a_list_of_sizes_in_a_pt2(folder):
    for net, shape in ((Sizes, (3, 8, 8)), (Ranks, (8,))):
        path, model, x, data, recipe = prepared(net, shape, folder, "script")
        run_good("quantize", path, "--recipe", recipe, "--data", data, "--out", folder / "out", "--export", "pt2,pt2-reference")
        for name in ("model.int8.pt2", "model.reference.pt2"):
            loaded = torch.export.load(folder / "out" / name).module()
            assert sqnr(model(x[:4]), loaded(x[:4])) > 25, (net, name)


def test_data_of_a_type_that_the_model_does_not_take(folder):
    path, _, x, _, _ = prepared(Masked, (8,), folder, "script")
    np.savez(folder / "wide.npz", x=x.numpy().astype(np.float64))
    expect_bad("quantize", path, "--data", folder / "wide.npz", "--device", "cpu", "--out", folder / "wide",
               contains=["script.pt", "'first · linear' (linear)", "input 'x' is given float64", "convert the data to float32"], out=folder / "wide")


main(__name__)
