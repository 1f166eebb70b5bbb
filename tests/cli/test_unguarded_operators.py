# SPDX-License-Identifier: Apache-2.0
"""Operators whose kernels trust their arguments and crash on others: as an edit in a recipe, and in a model's own code."""

import json
import warnings

import numpy as np
import torch
from torch import nn

from harness import export_model, main, run, run_good, run_json, sqnr
from test_hostile_files import refused

EDITS = {
    "reflection_pad1d_backward": {"grad_output": {"value": "this"}, "self": {"value": {"stored": "table"}}, "padding": []},
    "align_tensors": {"tensors": []},
    "_dyn_quant_matmul_4bit": {"inp": {"value": "this"}, "packed_weights": {"value": {"stored": "cube"}}, "block_size": 0, "in_features": 2, "out_features": 1},
    "_weight_norm_interface": {"v": {"value": {"stored": "none"}}, "g": {"value": {"stored": "cube"}}},
    "slow_conv3d_forward": {"self": {"value": {"stored": "numbers"}}, "weight": {"value": {"stored": "table"}}, "kernel_size": [1, -1],
                            "bias": {"value": "this"}, "stride": [], "padding": [3, 65536]},
    "_gather_sparse_backward": {"self": {"value": {"stored": "table"}}, "dim": 0, "index": {"value": {"stored": "numbers"}}, "grad": {"value": "this"}},
}


class Stored(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        for name, value in (("table", torch.randn(4, 4)), ("cube", torch.randn(1, 2, 3, 3, 3)), ("none", torch.zeros(0)), ("numbers", torch.arange(16).reshape(4, 4))):
            self.register_buffer(name, value)

    def forward(self, x):
        return self.fc(x) + self.table.sum() + self.cube.sum() + self.none.sum() + self.numbers.sum()


def test_edits_with_such_operators_are_left_out(folder):
    model = folder / "model.pt2"
    export_model(Stored(), (torch.randn(2, 4),), model)
    for name, arguments in EDITS.items():
        recipe = folder / f"{name}.json"
        edit = {"do": "insert", "op": f"aten.{name}.default", "at": {"input": "x"}, "name": "added", "args": arguments, "readers": []}
        recipe.write_text(json.dumps({"format": "quantscope.recipe", "version": 1, "edits": [edit]}))
        done = run("plan", model, "--recipe", recipe)
        assert done.returncode in (0, 1) and len(done.stderr.splitlines()) <= 1, (name, done.returncode, done.stderr[-400:])
        assert "c10" not in done.stderr, done.stderr
        strict = run("edit", model, "--recipe", recipe, "--out", folder / "out.pt2", "--strict")
        assert strict.returncode == 1 or name == "_gather_sparse_backward", (name, strict.returncode, strict.stderr)


class Calls(nn.Module):
    def __init__(self, which):
        super().__init__()
        self.fc, self.which = nn.Linear(4, 4), which

    def forward(self, x):
        x = torch.relu(self.fc(x))
        if self.which == 0:
            return x + torch.ops.aten.reflection_pad1d_backward(x, x, []).sum()
        if self.which == 1:
            return x + torch.ops.aten.slow_conv3d_forward(x, x, [1, -1], x, [], [3, 65536]).sum()
        if self.which == 2:
            return x + torch.ops.aten.quantized_lstm_cell(x, [x], x, x, x, x, x, x, x, x, 1.0, 1.0, 0, 0)[0].sum()
        return x + torch._weight_norm_interface(torch.zeros([0]), torch.zeros([1, 2, 3, 3, 3]))[0].sum()


def test_models_that_call_them_are_told_by_node(folder):
    data = folder / "rows.npz"
    np.savez(data, x=np.random.default_rng(0).normal(size=(16, 4)).astype(np.float32))
    for which, name in enumerate(("reflection_pad1d_backward", "slow_conv3d_forward", "quantized_lstm_cell", "_weight_norm_interface")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.jit.script(Calls(which).eval()).save(str(folder / "model.pt"))
        line = refused("quantize", folder / "model.pt", "--data", data, "--device", "cpu", "--export", "none", "--out", folder / "out")
        told = ["already quantized"] if name.startswith("quantized_") else [f"aten.{name}", "crashes on these arguments"]
        assert all(word in line for word in (*told, "model.pt")), line


class Normed(nn.Module):
    """What such an operator is for still runs: a weight in two parts, normed by PyTorch's own call."""

    def __init__(self):
        super().__init__()
        self.v, self.g, self.fc = nn.Parameter(torch.randn(6, 4)), nn.Parameter(torch.rand(6, 1) + 0.5), nn.Linear(6, 3)

    def forward(self, x):
        return self.fc(torch.relu(nn.functional.linear(x, torch._weight_norm_interface(self.v, self.g, 0)[0])))


def test_sound_calls_run_as_before(folder):
    model, x = Normed().eval(), torch.randn(16, 4)
    export_model(model, (x[:2],), folder / "model.pt2")
    np.savez(folder / "rows.npz", x=x.numpy())
    told = run_json("quantize", folder / "model.pt2", "--data", folder / "rows.npz", "--device", "cpu", "--export", "torchscript", "--out", folder / "out")
    assert told["outputs"][0]["cumulative"]["sqnr_db"] > 20
    assert sqnr(model(x[:2]), torch.jit.load(folder / "out" / "model.int8.ts.pt")(x[:2])) > 20
    run_good("inspect", folder / "model.pt2")


if __name__ == "__main__":
    main(__name__)
