# SPDX-License-Identifier: Apache-2.0
"""One network written as training IR and as core ATen, with a fixed and with an open batch: one and the same plan, and the outputs of
PyTorch to the bit. The functions here are those that core ATen spells as several operators. Without --all: the first of each kind, with an
open batch."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest
import warnings

import torch
import torch.nn.functional as F
from torch import nn

from oracle_run import ALL, check_model, equal, main, run_tool, units

torch.set_num_threads(1)
QUANTSCOPE = os.environ["QUANTSCOPE"]


class Call(nn.Module):
    """A layer and a function of its result."""

    def __init__(self, layer, function):
        super().__init__()
        self.layer, self.function = layer, function

    def forward(self, x):
        return self.function(self.layer(x))


def behind(layer, module):
    return nn.Sequential(layer, module)


def conv1():
    return nn.Conv1d(4, 8, 3)


def conv2():
    return nn.Conv2d(4, 8, 3)


def trained(norm):
    with torch.no_grad():
        for scale in (norm.weight, norm.running_var):
            if scale is not None:
                scale.uniform_(0.5, 1.5)
        for shift in (norm.bias, norm.running_mean):
            if shift is not None:
                shift.uniform_(-0.5, 0.5)
    return norm


def added(y):
    y = y * 1
    y[:, :2] += y[:, 2:4]
    return y


def shifted(y):
    y = y * 1
    y[:, :, 1:5, 5:] = y[:, :, 5:9, :-5]
    return y + 1


def selected(y):
    y = y * 1
    y[..., 0] = y[..., 1] + 1
    z = y + 1
    y[:, 1, 2:4].mul_(3)
    return y + z


def seen(y):
    y = y * 1
    part = y[:, :2]
    part.add_(1)
    part[:, 0].sigmoid_()
    return y * 2, part + 1


def returned(y):
    """What an operator returns that changed a part shows what becomes of the whole."""
    y = y * 1
    part = y[:, 0].add_(1)
    y.mul_(3)
    return y * 2, part + 1


def without_gradients(y):
    with torch.no_grad():
        y = (y + 1).relu()
    return y * 2


def without_autocast(y):
    """As attention of EfficientViT; the views of its products are no calls."""
    z = y.flatten(2)
    turned = z.transpose(1, 2)
    with torch.autocast("cpu", enabled=False):
        z = (z @ turned) @ z
        z = z + 1
    return z * 2


LINE, PLANE, VOLUME = (4, 20), (4, 12, 12), (4, 8, 8, 8)
CASES = {
    "prelu": (lambda: behind(conv2(), nn.PReLU()), PLANE),
    "prelu of channels": (lambda: behind(conv1(), nn.PReLU(8)), LINE),
    "instance norm": (lambda: behind(conv1(), trained(nn.InstanceNorm1d(8, affine=True))), LINE),
    "instance norm, 2d": (lambda: behind(conv2(), trained(nn.InstanceNorm2d(8, affine=True, eps=1e-3))), PLANE),
    "instance norm, plain": (lambda: behind(conv2(), nn.InstanceNorm2d(8)), PLANE),
    "instance norm, 3d": (lambda: behind(nn.Conv3d(4, 8, 3), trained(nn.InstanceNorm3d(8, affine=True))), VOLUME),
    "instance norms, running, that share a size": (
        lambda: nn.Sequential(conv2(), *(trained(nn.InstanceNorm2d(8, affine=True, track_running_stats=True)) for _ in "ab")), PLANE),
    "instance norm, 1d, running": (lambda: behind(conv1(), trained(nn.InstanceNorm1d(8, track_running_stats=True, eps=1e-3))), LINE),
    "instance norm, 3d, running": (
        lambda: behind(nn.Conv3d(4, 8, 3), trained(nn.InstanceNorm3d(8, affine=True, track_running_stats=True))), VOLUME),
    "pixel shuffle": (lambda: behind(conv2(), nn.PixelShuffle(2)), PLANE),
    "pixel unshuffle": (lambda: behind(conv2(), nn.PixelUnshuffle(5)), PLANE),
    "adaptive pool, 1d": (lambda: behind(conv1(), nn.AdaptiveAvgPool1d(4)), LINE),
    "average pool, 1d": (lambda: behind(conv1(), nn.AvgPool1d(3, 2, padding=1, count_include_pad=False)), LINE),
    "average pool, 1d, its kernel as stride": (lambda: behind(conv1(), nn.AvgPool1d(2)), LINE),
    "max pool, 1d": (lambda: behind(conv1(), nn.MaxPool1d(3, 2, padding=1)), LINE),
    "max pool, 1d, dilated": (lambda: behind(conv1(), nn.MaxPool1d(2, 1, dilation=3, ceil_mode=True)), LINE),
    # Untrained: core ATen takes layers apart as if no weight asked for gradients, which shows in the last bits here.
    "linear of turned rows": (
        lambda: behind(Call(nn.Linear(8, 6), lambda y: y.transpose(1, 2)), nn.Linear(5, 7, bias=False)).requires_grad_(False), (5, 8)),
    "product, then of sizes": (lambda: Call(conv2(), lambda y: torch.mul(y, 0.5).reshape(y.shape[0] * 8, -1)), PLANE),
    "repeat_interleave": (lambda: Call(conv2(), lambda y: y.repeat_interleave(2, 1)), PLANE),
    "repeat_interleave of the last": (lambda: Call(conv2(), lambda y: y.repeat_interleave(3, -1)), PLANE),
    "stack": (lambda: Call(conv2(), lambda y: torch.stack([y, y], 1)), PLANE),
    "stack of the last": (lambda: Call(conv2(), lambda y: torch.stack([y, y * 2], -1)), PLANE),
    "linear of a batch, relu": (lambda: behind(nn.Linear(12, 6), nn.ReLU()), PLANE),
    "linear of a sequence": (lambda: behind(nn.Linear(20, 6, bias=False), nn.ReLU()), LINE),
    "linear of a row": (lambda: nn.Sequential(nn.Flatten(), nn.Linear(80, 6), nn.ReLU()), LINE),
    "hardswish": (lambda: behind(conv2(), nn.Hardswish()), PLANE),
    "narrow": (lambda: Call(conv2(), lambda y: torch.narrow(y, 1, 2, 3)), PLANE),
    "contiguous": (lambda: Call(conv2(), lambda y: y.permute(0, 2, 3, 1).contiguous()), PLANE),
    "resized to the nearest middle": (lambda: Call(conv2(), lambda y: F.interpolate(y, scale_factor=2.0, mode="nearest-exact")), PLANE),
    "resized to the nearest middle, 1d": (lambda: Call(conv1(), lambda y: F.interpolate(y, size=23, mode="nearest-exact")), LINE),
    "resized to the nearest middle, 3d": (lambda: Call(nn.Conv3d(4, 8, 3), nn.Upsample(scale_factor=(1.5, 2, 1.3), mode="nearest-exact")), VOLUME),
    "mirrored borders": (lambda: behind(conv2(), nn.ReflectionPad2d((1, 2, 3, 0))), PLANE),
    "repeated borders": (lambda: behind(conv1(), nn.ReplicationPad1d((2, 1))), LINE),
    "convolution with mirrored borders": (lambda: behind(conv2(), nn.Conv2d(8, 4, 3, padding=1, padding_mode="reflect")), PLANE),
    "dropout": (lambda: behind(conv2(), nn.Dropout(0.3)), PLANE),
    "dropout, a function": (lambda: Call(conv1(), lambda y: F.dropout(y, 0.2, False)), LINE),
    "detach": (lambda: Call(conv2(), lambda y: y.detach()), PLANE),
    "arithmetic without gradients": (lambda: Call(conv2(), without_gradients), PLANE),
    "arithmetic without autocast": (lambda: Call(conv2(), without_autocast), PLANE),
    "hardsigmoid": (lambda: behind(conv2(), nn.Hardsigmoid()), PLANE),
}
# What core ATen spells without an operator that changes its argument, the importer makes of the other spelling.
CHANGING = {
    "slice, added to": (lambda: Call(conv2(), added), PLANE),
    "slice, set": (lambda: Call(conv2(), shifted), PLANE),
    "places, set": (lambda: Call(conv2(), selected), PLANE),
    "slice of a slice, both read": (lambda: Call(conv2(), seen), PLANE),
}


def cases():
    """What stands before the comma of a name is its kind."""
    return CASES if ALL else {name: case for name, case in CASES.items() if name == next(n for n in CASES if n.split(",")[0] == name.split(",")[0])}


def plan(path):
    done = subprocess.run([QUANTSCOPE, "plan", str(path), "--json"], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


class Spellings(unittest.TestCase):
    def test_one_plan_and_the_same_bits(self):
        for name, (make, shape) in {**cases(), **CHANGING}.items():
            torch.manual_seed(1)
            model = make().eval()
            example = torch.randn(2, *shape)
            batch = torch.export.Dim("batch", min=2, max=64)
            plans = {}
            for way, shapes in (("open", ({0: batch},)),) + (("fixed", None),) * ALL:
                with self.subTest(name=name, way=way), tempfile.TemporaryDirectory() as place, torch.no_grad():
                    folder = pathlib.Path(place)
                    program = torch.export.export(model, (example,), dynamic_shapes=shapes)
                    torch.export.save(program, folder / "training.pt2")
                    plans[way] = units(folder / "training.pt2")
                    core = program.run_decompositions()
                    calls = [(example,)] if shapes is None else [(example,), (torch.randn(5, *shape),)]
                    if name in CHANGING:
                        check_model(program, model, calls, folder)
                    check_model(core, model, calls, folder)
                    plans[way + ", core ATen"] = units(folder / "model.pt2")
            with self.subTest(name=name):
                self.assertTrue(plans["open"])
                for way, decided in plans.items():
                    self.assertEqual(decided, plans["open"], way)


    def test_a_change_of_a_part_follows_the_whole(self):
        torch.manual_seed(1)
        model, example = Call(conv2(), returned).eval(), torch.randn(2, *PLANE)
        with tempfile.TemporaryDirectory() as place, torch.no_grad():
            for program in (torch.export.export(model, (example,)), torch.export.export(model, (example,)).run_decompositions()):
                check_model(program, model, [(example,)], pathlib.Path(place))

    def test_borders_are_one_operator_again(self):
        """No shipped backend has a pattern for them, a user's own may."""
        with tempfile.TemporaryDirectory() as place:
            path = pathlib.Path(place) / "model.pt2"
            for mode in ("reflect", "replicate"):
                model = Call(conv2(), lambda y: F.pad(y, (1, 0, 2, 3), mode=mode)).eval()
                torch.export.save(torch.export.export(model, (torch.randn(2, *PLANE),)).run_decompositions(), path)
                code = subprocess.run([QUANTSCOPE, "inspect", "--code", str(path)], capture_output=True, text=True, check=True).stdout
                self.assertIn(f'pad = [1, 0, 2, 3], mode = "{mode}"', code)
                self.assertNotIn("index", code)

    def test_layers_taken_apart_say_so(self):
        """LibTorch's LSTM adds up otherwise than its steps, so they stay steps."""
        model = nn.Sequential(nn.Linear(4, 4), nn.LSTM(4, 5, batch_first=True)).eval()
        with tempfile.TemporaryDirectory() as place:
            for whole in (True, False):
                path = pathlib.Path(place) / "model.pt2"
                program = torch.export.export(model, (torch.randn(2, 3, 4),))
                torch.export.save(program if whole else program.run_decompositions(), path)
                told = plan(path)
                apart = [w for w in told["warnings"] if "run_decompositions" in w]
                steps = [n for n in told["nodes"] if n["module"] == "1" and "decomposed it" in (n["reason"] or "")]
                self.assertEqual(len(apart), 0 if whole else 1, told["warnings"])
                self.assertEqual(any(n["op"].startswith("aten.addmm") for n in steps), not whole)
                self.assertEqual(whole, any(n["quantized"] for n in told["nodes"] if n["module"] == "1"))
        self.assertEqual(apart, ["'1' stays float: run_decompositions() decomposed torch.nn.LSTM; export without it to have it quantized"])

    def test_parameters_ask_for_gradients_where_the_model_s_do(self):
        """PyTorch's matmul adds up otherwise where a weight asks for gradients, even when none are made."""
        torch.manual_seed(0)
        example = torch.randn(4, 4, 4, 7)
        bits = []
        for trained in (True, False):
            torch.manual_seed(1)
            model = nn.Sequential(Call(nn.Conv2d(4, 6, 3), lambda y: y.permute(0, 2, 1, 3)), nn.Linear(5, 7)).eval().requires_grad_(trained)
            with self.subTest(trained=trained), tempfile.TemporaryDirectory() as place, torch.no_grad():
                folder = pathlib.Path(place)
                torch.save([(example,)], folder / "data.pt")
                program = torch.export.export(model, (example,))
                core = program.run_decompositions()  # taken apart as if no weight asked for gradients
                torch.export.save(program, folder / "model.pt2")
                torch.export.save(program.run_decompositions({}), folder / "functional.pt2")
                torch.export.save(core, folder / "core.pt2")
                torch.jit.save(torch.jit.trace(model, example), folder / "model.pt")
                for file, wanted in (("model.pt2", model), ("functional.pt2", model), ("core.pt2", core.module()), ("model.pt", model)):
                    done = run_tool(folder / file, folder / "data.pt", folder)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    (_, outputs), = torch.load(folder / "float.expected.pt", weights_only=False)
                    equal(outputs, wanted(example), file)
                    equal(torch.jit.load(folder / "again.ts.pt")(example), wanted(example), file + ", written as TorchScript")
                bits.append(model(example))
        self.assertFalse(torch.equal(bits[0], bits[1]), "a network in which it makes no difference proves nothing")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
