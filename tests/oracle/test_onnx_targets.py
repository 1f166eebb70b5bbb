# SPDX-License-Identifier: Apache-2.0
"""`--target` of `--export onnx`: ONNX Runtime, its optimizations on, makes of every node what the plan says; a file for TensorRT keeps its rules.

    python test_onnx_targets.py [--all | NAME ...]      --all: the networks of torchvision as well
"""
import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import traceback

import numpy as np
import onnx
import torch
from torch import nn

import families
from onnx_parting import fed, optimised, session, sqnr

QUANTSCOPE = os.environ["QUANTSCOPE"]
SAMPLES = pathlib.Path(__file__).parents[2] / "resources" / "samples"
# A kernel that loses this much against the reference form would not be the one that was promised; a bias in int32 and requantizing cost steps, not sense.
FLOOR = 20.0


class Encoder(nn.Module):
    """Two layers of attention with projections of their own, an open batch."""

    def __init__(self, width=32, heads=4, layers=2):
        super().__init__()
        self.words, self.places, self.heads = nn.Embedding(100, width), nn.Parameter(torch.randn(12, width) * 0.1), heads
        self.layers = nn.ModuleList(nn.ModuleDict({"qkv": nn.Linear(width, 3 * width), "out": nn.Linear(width, width), "up": nn.Linear(width, 4 * width),
                                                   "down": nn.Linear(4 * width, width), "a": nn.LayerNorm(width), "b": nn.LayerNorm(width)}) for _ in range(layers))
        self.head = nn.Linear(width, 10)

    def forward(self, ids):
        x = self.words(ids) + self.places
        for layer in self.layers:
            q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in layer["qkv"](x).chunk(3, dim=-1))
            weights = torch.softmax(q @ k.transpose(-1, -2) / 3.0, dim=-1)
            x = layer["a"](x + layer["out"]((weights @ v).transpose(1, 2).flatten(-2)))
            x = layer["b"](x + layer["down"](torch.relu(layer["up"](x))))
        return self.head(x.mean(1))


class Joined(nn.Module):
    """What moves integers, what joins them, what multiplies without a weight."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.Conv2d(16, 4, 1, bias=False)
        self.act, self.head = nn.ReLU6(), nn.Linear(4, 5)

    def forward(self, x):
        x = torch.max_pool2d(self.act(self.a(x)), 2)
        x = torch.cat([x, torch.sigmoid(self.b(x))], dim=1)
        x = torch.nn.functional.avg_pool2d(self.c(x), 2)
        return self.head(x.permute(0, 2, 3, 1)) * 0.5


def quantized(folder, model, inputs, options=(), recipe=None, is_open=False):
    """(the result's folder, the model's path)"""
    path = folder / "model.pt2"
    shapes = tuple({0: torch.export.Dim("batch", min=2, max=64)} for _ in inputs) if is_open else None
    with torch.no_grad():
        torch.export.save(torch.export.export(model.eval(), inputs, dynamic_shapes=shapes), path)
    torch.save([inputs], folder / "calls.pt")
    return run(folder, path, folder / "calls.pt", options, recipe), path


def run(folder, path, data, options, recipe=None):
    words = [QUANTSCOPE, "quantize", path, "--data", data, "--out", folder / "out", "--export", "pt2-reference,onnx", *options]
    if recipe:
        (folder / "recipe.json").write_text(json.dumps({"format": "quantscope.recipe", "version": 1, **recipe}))
        words += ["--recipe", folder / "recipe.json"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "out"


def planned(*words):
    done = subprocess.run([QUANTSCOPE, "plan", *words, "--export", "onnx", "--json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def kept_promises(name, folder, out, model, inputs):
    """Every kernel that the plan names is there, under the node's name, and there are no others."""
    plan = planned(model, "--target", "ort-cpu", "--result", out)
    assert plan["calibrated"] and plan["target"] == "ort-cpu", plan
    nodes = optimised(out / "model.int8.onnx", folder)
    made = {re.sub(r"_token_\d+$", "", node.name): node.op_type for node in nodes}
    fused = {kernel: count for kernel, count in plan["kernels"].items() if "(" not in kernel}
    broken = [f"{row['name']}: {row['kernel']} was expected, it became {made.get(row['name'])}" for row in plan["nodes"]
              if row["kernel"] and "(" not in row["kernel"] and made.get(row["name"]) != row["kernel"]]
    assert not broken, "; ".join(broken)
    found = collections.Counter(node.op_type for node in nodes if node.op_type.startswith("QLinear") or node.op_type in ("QGemm", "MatMulIntegerToFloat"))
    assert found == fused, f"{dict(found)} instead of {fused}"
    for row in plan["nodes"]:
        assert bool(row["kernel"]) != bool(row["reason"]), row
        assert row["bias"] != "float" or not row["kernel"], f"{row['name']} has a float bias and an integer kernel"
    reference = torch.export.load(out / "model.reference.pt2").module()
    with torch.no_grad():
        wanted = reference(*inputs)
    wanted = wanted if isinstance(wanted, (tuple, list)) else (wanted,)
    far = {mode: min(sqnr(w, torch.from_numpy(np.asarray(g))) for w, g in zip(wanted, fed(session(out / "model.int8.onnx", mode), inputs).values())) for mode in (False, True)}
    print(f"{name}: {sum(fused.values())} integer kernels as planned {fused}, {sum(bool(r['kernel']) for r in plan['nodes'])} of {len(plan['nodes'])} rows; "
          f"outputs {far[False]:.1f} dB, optimised {far[True]:.1f} dB of the reference form", flush=True)
    assert min(far.values()) >= FLOOR, far
    return plan


def digits():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = SAMPLES / "digits.pt2"
        out = run(folder, model, SAMPLES / "calib.npz", ("--target", "ort-cpu"))
        with np.load(SAMPLES / "calib.npz") as data:
            inputs = (torch.from_numpy(data[data.files[0]][:4]),)
        plan = kept_promises("digits", folder, out, model, inputs)
        assert plan["kernels"]["QLinearConv"] == 6 and plan["kernels"]["QGemm"] == 1 and plan["kernels"]["QLinearAdd"] == 2, plan["kernels"]
        before = planned(model, "--target", "ort-cpu")
        assert not before["calibrated"] and before["kernels"] == plan["kernels"], "the plan before calibrating is another"
        text = subprocess.run([QUANTSCOPE, "plan", model, "--export", "onnx", "--target", "ort-cpu", "--result", out], capture_output=True, text=True).stdout
        for word in ("target: ort-cpu", "QLinearConv", "int32", f"{sum(plan['kernels'].values())} integer kernels expected"):
            assert word in text, f"'{word}' is not in the text"
        done = subprocess.run([QUANTSCOPE, "verify", out, "--data", SAMPLES / "test.npz", "--python", sys.executable, "--runtime", "onnxruntime,onnxruntime-optimized"],
                              capture_output=True, text=True)
        assert done.returncode == 0 and "fed our integers" in done.stdout, done.stdout + done.stderr
        file = onnx.load(out / "model.int8.onnx")
        told = {entry.key: entry.value for entry in file.metadata_props}
        assert told["quantscope.target"] == "ort-cpu", told
        stored = {tensor.name: tensor for tensor in file.graph.initializer}
        made = {node.output[0]: node for node in file.graph.node}
        for node in file.graph.node:
            if node.op_type in ("Conv", "Gemm"):
                bias, x, w = (made[node.input[i]] for i in (2, 0, 1))
                assert stored[bias.input[0]].data_type == onnx.TensorProto.INT32, node.name
                scale, of_x, of_w = (onnx.numpy_helper.to_array(stored[step.input[1]]) for step in (bias, x, w))
                assert np.array_equal(scale, of_x * of_w), f"{node.name}: the bias has another step than the sum"


def network(name):
    def one():
        model, example = families.make(name)
        with tempfile.TemporaryDirectory() as folder:
            out, path = quantized(pathlib.Path(folder), model, (example,), ("--target", "ort-cpu"))
            kept_promises(name, pathlib.Path(folder), out, path, (example,))
    return one


def made(model, inputs, recipe=None, wants=(), is_open=False):
    def one():
        torch.manual_seed(3)
        with tempfile.TemporaryDirectory() as folder:
            out, path = quantized(pathlib.Path(folder), model(), inputs(), ("--target", "ort-cpu"), recipe, is_open)
            plan = kept_promises(model.__name__, pathlib.Path(folder), out, path, inputs())
            for kernel in wants:
                assert plan["kernels"].get(kernel), f"no {kernel}: {plan['kernels']}"
    return one


def image():
    return (torch.randn(2, 3, 16, 16, generator=torch.Generator().manual_seed(2)),)


def words():
    return (torch.randint(0, 100, (4, 12), generator=torch.Generator().manual_seed(2)),)


SEVEN = {"backend": "x86", "qconfigs": {"seven": {
    "activation": {"observer": "minmax", "dtype": "quint8", "qscheme": "per_tensor_affine", "quant_min": 0, "quant_max": 127},
    "weight": {"observer": "per_channel_minmax", "dtype": "qint8", "qscheme": "per_channel_symmetric", "ch_axis": 0}}}, "mapping": {"global": "seven"}}


def tensorrt():
    """Signed bytes without zero points, float biases, one scale a channel on the output channels alone; and a refusal before anything is calibrated."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        model = SAMPLES / "digits.pt2"
        words = [QUANTSCOPE, "quantize", model, "--data", SAMPLES / "calib.npz", "--out", folder / "no", "--export", "onnx", "--target", "tensorrt"]
        done = subprocess.run(words, capture_output=True, text=True)
        lines = done.stderr.strip().splitlines()
        assert done.returncode == 1 and len(lines) == 1, done.stderr
        for word in ("int8 without zero points", "quint8" if "quint8" in lines[0] else "uint8", "(relu)", '"backend": "tensorrt"'):
            assert word in lines[0], f"'{word}' is not in: {lines[0]}"
        assert not (folder / "no").exists(), "something was written"
        affine = {"backend": "native", "qconfigs": {"signed": {"activation": {"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_affine"},
                                                              "weight": {"observer": "minmax", "dtype": "qint8", "qscheme": "per_tensor_symmetric"}}},
                  "mapping": {"global": "signed"}}
        (folder / "affine.json").write_text(json.dumps({"format": "quantscope.recipe", "version": 1, **affine}))
        out = run(folder, model, SAMPLES / "calib.npz", ("--target", "tensorrt"), {"backend": "tensorrt", "mapping": {"global": "tensorrt"}})
        plan = planned(model, "--target", "tensorrt", "--result", out)
        assert plan["kernels"].get("Conv (int8)") == 6, plan["kernels"]
        file = onnx.load(out / "model.int8.onnx")
        stored = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in file.graph.initializer}
        steps = [node for node in file.graph.node if node.op_type in ("QuantizeLinear", "DequantizeLinear")]
        assert steps
        for node in steps:
            assert stored[node.input[2]].dtype == np.int8 and not stored[node.input[2]].any(), f"{node.name} has a zero point"
            assert (stored[node.input[1]] > 0).all(), node.name
            if stored[node.input[1]].ndim:
                assert node.op_type == "DequantizeLinear" and node.input[0] in stored, f"{node.name}: one scale a channel of an activation"
        for node in file.graph.node:
            if node.op_type in ("Conv", "Gemm") and len(node.input) > 2:
                assert stored[node.input[2]].dtype == np.float32, f"{node.name}: its bias is quantized"
        print(f"tensorrt: {len(steps)} steps, all int8 around zero; plan {plan['kernels']}")


def usage():
    """What does not go together is said, exit code 2."""
    for words, about in ((("plan", SAMPLES / "digits.pt2", "--target", "ort-cpu"), "--export onnx"),
                         (("plan", SAMPLES / "digits.pt2", "--export", "onnx", "--diff", "native"), "--diff"),
                         (("plan", SAMPLES / "digits.pt2", "--export", "onnx", "--target", "abacus"), "abacus")):
        done = subprocess.run([QUANTSCOPE, *map(str, words)], capture_output=True, text=True)
        assert done.returncode == 2 and about in done.stderr, (done.returncode, done.stderr)


TESTS = {
    "digits": digits,
    "tensorrt": tensorrt,
    "usage": usage,
    "joined": made(Joined, image, wants=("QLinearConv", "QLinearConcat")),
    "joined, seven bits": made(Joined, image, SEVEN, wants=("QLinearConv", "QGemm")),
    "encoder": made(Encoder, words, wants=("QGemm",), is_open=True),
    "torchvision.resnet18": network("torchvision.resnet18"),
    "torchvision.mobilenet_v2": network("torchvision.mobilenet_v2"),
}

LARGE = ("torchvision.resnet18", "torchvision.mobilenet_v2")


def main():
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", torch.get_num_threads())))
    failures = []
    words = sys.argv[1:]
    for name in TESTS if "--all" in words else words or [name for name in TESTS if name not in LARGE]:
        try:
            TESTS[name]()
        except Exception as error:  # every one is tried
            print(f"FAIL {name}: {type(error).__name__}: {str(error)[:1500]}", flush=True)
            if not isinstance(error, AssertionError):
                traceback.print_exc()
            failures.append(name)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
